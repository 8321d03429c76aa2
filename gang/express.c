/* SPDX-License-Identifier: Apache-2.0 */
/*
 * express.c - gangs of which the first member at bind is enough (config.express).
 *
 * kube-scheduler places members one after the other, each with a cycle of its own, though the plan
 * has a place for all of them. Where all that can be in the way of a member is in the facts, the
 * plan is as good as its answer: when one member has come through to bind, the Bindings of all are
 * sent, and kube-scheduler learns of the others as of any pod that is assigned. Whatever is in
 * doubt goes the normal way, member by member.
 *
 * The licence is the model check (model_check.c): the first difference that stands a second look
 * closes the lane for its namespace, and differences in several namespaces for all, until muster is
 * started again.
 *
 * What may be on its way at that moment: a pod of no gang that kube-scheduler has let through to a
 * node and that is not at bind yet. Its bind call comes here and is held against the ledger, and
 * against host ports and anti-affinity of those that were bound unasked: it is refused, and placed
 * elsewhere.
 */
#include "gang/core.h"
#include "gang/rules.h"

/* On a node, at bind, or on its way. */
static bool is_somewhere(const struct gang_core *core, const struct pod *pod)
{
    return pod->node || pod->call || is_passing(core, pod);
}

static const char shunned[] = "anti-affinity of another pod that is not over hosts";

static const char unlooked[] = "anti-affinity that is not over hosts, of too many pods to look at";

/* Selectors are looked at for so long at once: 10,000 requirements and values take 0.3 ms. */
#define SHUNS_AT_ONCE 10000

static int64_t shuns_cost(const struct gang_pod_facts *f)
{
    size_t n = 1;
    for (size_t i = 0; i < f->n_shuns; i++) {
        n += 1 + f->shuns[i].n_namespaces;
        for (size_t k = 0; k < f->shuns[i].term.n; k++)
            n += 1 + f->shuns[i].term.items[k].n_values;
    }
    return (int64_t)n;
}

/* Of those that came to core->shunning after the first `*since`, which goes up to who shuns it, or
 * to where `*left` is used up. */
static bool is_shunned(const struct gang_core *core, const struct pod *pod, uint64_t *since,
                       int64_t *left)
{
    struct list *l = core->shunning.prev;
    while (l != &core->shunning && CONTAINER_OF(l, struct pod, in_shunning)->shuns_as > *since)
        l = l->prev;
    l = l->next;
    for (; l != &core->shunning && *left > 0; l = l->next) {
        const struct pod *other = CONTAINER_OF(l, struct pod, in_shunning);
        *left -= shuns_cost(other->facts);
        if (other != pod && is_somewhere(core, other) && gang_shuns(other->facts, pod->facts))
            return true;
        *since = other->shuns_as;
    }
    if (l == &core->shunning)
        *since = core->shunnings;
    return false;
}

/* Each of them is looked at once for a pod, and who shuns it first again. */
static const char *shun_doubt(const struct gang_core *core, struct pod *pod, int64_t *left)
{
    if (is_shunned(core, pod, &pod->unshunned, left))
        return shunned;
    return pod->unshunned < core->shunnings ? unlooked : NULL;
}

static const char twins[] = "two nodes with one " GANG_HOSTNAME ", which are two hosts here";

/* One host to kube-scheduler, and some rule about hosts that may concern the pod. */
static bool meets_twins(const struct gang_core *core, const struct pod *pod)
{
    return core->n_twins && (pod->facts->n_apart || pod->facts->n_spreads || core->n_apart);
}

static const char *own_doubt(const struct gang_core *core, const struct pod *pod)
{
    const char *inexact = pod->facts->inexact;
    return inexact || !meets_twins(core, pod) ? inexact : twins;
}

bool model_covers(const struct gang_core *core, struct pod *pod, int64_t *cost)
{
    int64_t left = SHUNS_AT_ONCE;
    bool covers = !own_doubt(core, pod) && !shun_doubt(core, pod, &left);
    *cost = SHUNS_AT_ONCE - left;
    return covers;
}

const char *pod_beyond_model(const struct gang_core *core, const struct pod *pod)
{
    uint64_t since = pod->unshunned;
    int64_t left = SHUNS_AT_ONCE;
    const char *own = own_doubt(core, pod);
    return own || !is_shunned(core, pod, &since, &left) ? own : shunned;
}

/* Somebody whom kube-scheduler keeps room for there, and who has none reserved here. */
static bool is_promised(const struct slot *slot)
{
    list_for_each (pod, &slot->node->nominated, struct pod, in_nominated)
        if (pod->gang != slot->gang && !(pod->slot && pod->slot->node == slot->node))
            return true;
    return false;
}

/* What is in doubt for now, until all members are there. */
static const char *early_doubt(const struct gang_core *core, const struct slot *slot)
{
    struct pod *pod = slot->pod;
    if (!pod || !pod_plannable(core, pod))
        return "a member is still expected";
    if (pod->facts->gated)
        return "the watch still shows a member's scheduling gate";
    if (pod_timer(pod, TIMER_UNSEEN)->node.pos)
        return "the watch has not shown a member yet";
    return NULL;
}

/* Somebody runs there whose rules are not all known. */
static bool holds_invalid(const struct gang_core *core, const struct node *node)
{
    if (!core->n_invalid)
        return false;
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (pod->facts->invalid)
            return true;
    return false;
}

static const char *slot_doubt(const struct gang_core *core, const struct slot *slot)
{
    const struct pod *pod = slot->pod;
    const char *wrong = model_doubt(core, pod);
    if (wrong)
        return wrong;
    if (pod->pinned || pod->refused_on)
        return "a member has been to bind before";
    if (meets_twins(core, pod))
        return twins;
    if (pod->facts->inexact)
        return pod->facts->inexact;
    if (pod->facts->n_spreads)
        return "topology spread, which pods that come meanwhile may change";
    if ((slot->unoffered && !pod->held) ||
        evidence_refuses(core, slot->gang, slot->shape, slot->node))
        return "kube-scheduler did not offer a planned node";
    if (is_promised(slot))
        return "another pod is nominated to a planned node";
    if (holds_invalid(core, slot->node))
        return "a pod on a planned node has rules that muster does not read";
    if (slot_is_kept_away(slot) || shape_refusal(slot->shape, slot->node))
        return "a planned node has changed";
    return NULL;
}

const char *gang_model_doubt(const struct gang_core *core, const struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        return model_doubt(core, pod); /* of members of other namespaces each is asked, see below */
    return NULL;
}

static const char *gang_doubt(const struct gang_core *core, const struct gang *gang)
{
    const char *wrong = gang_model_doubt(core, gang);
    if (wrong)
        return wrong;
    return gang->state == GANG_PLANNED ? NULL : "a part of it is bound, or it has no plan";
}

/* What speaks against the lane whoever is still to come. */
static const char *members_doubt(const struct gang_core *core, const struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        const char *doubt = slot->pod ? slot_doubt(core, slot) : NULL;
        if (doubt)
            return doubt;
    }
    /* Last: this may look at many pods, and is asked each time a member comes to bind. */
    int64_t left = SHUNS_AT_ONCE;
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        const char *doubt = slot->pod ? shun_doubt(core, slot->pod, &left) : NULL;
        if (doubt)
            return doubt;
    }
    return NULL;
}

bool goes_express(const struct gang_core *core, const struct gang *gang)
{
    return core->config.express && !gang_doubt(core, gang) && !members_doubt(core, gang);
}

const char *express_doubt(const struct gang_core *core, const struct gang *gang)
{
    const char *doubt = gang_doubt(core, gang);
    if (!doubt)
        doubt = picture_doubt(core);
    if (doubt)
        return doubt;
    if (gang->hoping || gang_lacks(core, gang, STAGE_PLANNED) > 0)
        return "a member is still expected";
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        doubt = early_doubt(core, slot);
        if (doubt)
            return doubt;
    }
    return members_doubt(core, gang);
}

/* Where the rules here have turned out not to be kube-scheduler's, they refuse nothing any longer
 * than need be: it may not have heard of a Binding that nobody asked for, or have let the pod
 * through before it did. */
static bool may_be_unheard(const struct gang_core *core, const struct node *node,
                           const struct pod *pod)
{
    usec_t doubted = model_doubted_at(core, pod), busy = pod_busy_time(pod);
    return core->config.express && (!doubted || core->now - doubted < busy ||
                                    (node->unasked && core->now - node->unasked < busy));
}

bool express_collides(const struct gang_core *core, const struct node *node, const struct pod *pod)
{
    return may_be_unheard(core, node, pod) &&
           (ports_charged(node, pod->shape) || charged_foe(node, pod->facts));
}
