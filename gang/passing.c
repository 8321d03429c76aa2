/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passing.c - where filter let pods through to, and which binds that allows.
 *
 * The verbs ask nobody who they are, so a bind call is no proof that kube-scheduler has chosen the
 * node. It is carried out where filter let that very pod through to that node a short time ago, and
 * where the node passes the pod's own rules in muster's picture. kube-scheduler always asks filter
 * first, and asks again after a refusal.
 *
 * What filter answered is kept for each pod until its bind call or for pod_busy_time(): one node,
 * or a bit for each. All bits together are at most PASS_WORDS_MAX; beyond it the oldest answer is
 * forgotten, and its pod is asked about again. An earlier life of muster may have let through
 * whoever is there at the start: those pass to any node, once, for that time after the sync.
 */
#include "gang/core.h"
#include "gang/predicates.h"

#define WORD_BITS 64

/* ---- what is remembered ---- */

static void forget(struct gang_core *core, struct pod *pod)
{
    core->pass_words -= pod->pass.n_words;
    free(pod->pass.bits);
    pod->pass = (struct pass){.to = PASS_NOWHERE};
}

static bool in_time(const struct gang_core *core, const struct pod *pod)
{
    return core->now - pod->pass.at < pod_busy_time(pod);
}

/* The oldest are first; those with volumes may keep others behind them. */
static void forget_old(struct gang_core *core)
{
    list_for_each_safe (pod, &core->passing, struct pod, in_passing) {
        if (in_time(core, pod) && core->pass_words <= PASS_WORDS_MAX)
            return;
        passing_end(core, pod);
    }
}

static void begin(struct gang_core *core, struct pod *pod, enum pass_to to)
{
    passing_end(core, pod);
    list_push(&core->passing, &pod->in_passing);
    pod->pass = (struct pass){.at = core->now, .to = to, .as_of = core->clock};
    shunning_begin(core, pod);
}

void passing_inherited(struct gang_core *core, struct pod *pod)
{
    begin(core, pod, PASS_ANY);
}

void passing_synced(struct gang_core *core)
{
    list_for_each (pod, &core->passing, struct pod, in_passing)
        pod->pass.at = core->now;
}

void passing_to(struct gang_core *core, struct pod *pod, const struct node *node)
{
    begin(core, pod, PASS_ONE);
    pod->pass.node = node->id;
}

void passing_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                     const uint32_t *passed, size_t n)
{
    begin(core, pod, PASS_SOME);
    struct pass *pass = &pod->pass;
    pass->n_words = (core->n_ids + WORD_BITS - 1) / WORD_BITS;
    pass->bits = xcalloc(pass->n_words, sizeof *pass->bits);
    core->pass_words += pass->n_words;
    for (size_t i = 0; i < n; i++) {
        const struct node *node = node_by_name(core, ev->names[passed ? passed[i] : i]);
        if (node)
            pass->bits[node->id / WORD_BITS] |= UINT64_C(1) << node->id % WORD_BITS;
    }
    forget_old(core);
}

void passing_narrow(struct gang_core *core, struct pod *pod, const struct node *node)
{
    passing_end(core, pod);
    pod->pass =
        (struct pass){.at = core->now, .to = PASS_ONE, .node = node->id, .as_of = core->clock};
}

void passing_end(struct gang_core *core, struct pod *pod)
{
    list_remove(&pod->in_passing);
    forget(core, pod);
}

bool is_passing(const struct gang_core *core, const struct pod *pod)
{
    return !list_empty(&pod->in_passing) && in_time(core, pod);
}

/* ---- which binds that allows ---- */

static bool has_passed(const struct gang_core *core, const struct pod *pod, const struct node *node)
{
    const struct pass *pass = &pod->pass;
    if (pass->to == PASS_NOWHERE || !in_time(core, pod))
        return false;
    if (pass->to == PASS_ANY)
        return true;
    if (node->born > pass->as_of) /* it has the number of one that is gone */
        return false;
    if (pass->to == PASS_ONE)
        return pass->node == node->id;
    size_t word = node->id / WORD_BITS;
    return word < pass->n_words && pass->bits[word] >> node->id % WORD_BITS & 1;
}

/* The pod's own rules, but for those that kube-scheduler runs without. Where the facts do not hold
 * all of them, or all of the node, kube-scheduler alone can tell. */
static const char *unfit(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (pod->facts->invalid || node->facts->invalid)
        return NULL;
    const char *words = shape_refusal(pod->shape, node);
    enum gang_predicate rule = PREDICATE_NONE;
    if (words && words != shape_volume_refusal)
        words = gang_node_refusal_but(pod->facts, node->facts, core->config.rules_off, &rule);
    return words ? reason_rule(core, pod->facts, node->name, rule, words) : NULL;
}

/* Whether kube-scheduler can be asking for it at all. */
static enum gang_reason_code out_of_reach(const struct gang_core *core, const struct pod *pod)
{
    if (!pod_counts(pod) || pod_is_finished(pod))
        return REASON_POD_DELETED;
    if (pod_unlinked(pod->facts))
        return pod_unlinked(pod->facts);
    if (gate_is_closed(pod) && !pod->lifts)
        return REASON_MEMBERS_GATED;
    return pod_is_ours(core, pod) ? REASON_NONE : REASON_FOREIGN_SCHEDULER;
}

const char *bind_refusal(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (pod->node == node)
        return NULL;
    if (pod->node)
        return reason_call(core, REASON_POD_BOUND, pod->gang, pod->facts, pod->node->name);
    enum gang_reason_code why = out_of_reach(core, pod);
    if (why)
        return reason_call(core, why, pod->gang, pod->facts, NULL);
    if (pod->gang)
        happened(core, pod->gang, HAPPENING_AT_BIND);
    if (!node->facts)
        return reason_call(core, REASON_NODE_UNKNOWN, NULL, NULL, node->name);
    bool again = pod->held && pod->held_node == node->id;
    if (!again && !has_passed(core, pod, node)) {
        core->stats.binds_not_passed++;
        return reason_call(core, REASON_NOT_PASSED, pod->gang, pod->facts, node->name);
    }
    const char *no = unfit(core, pod, node);
    core->stats.binds_unfit += no != NULL;
    return no;
}
