/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/passed_nodes.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/objects.h"

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
    pod->pass = (struct pass){.at = core->now, .to = to, .as_of = core->marks.clock};
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
    pod->pass = (struct pass){
        .at = core->now, .to = PASS_ONE, .node = node->id, .as_of = core->marks.clock};
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

bool has_passed(const struct gang_core *core, const struct pod *pod, const struct node *node)
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
