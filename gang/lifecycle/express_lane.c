/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/express_lane.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/watch_lag.h"
#include "gang/inter_pod_rules.h"
#include "gang/lifecycle/predicate_coverage.h"
#include "gang/lifecycle/predicate_parity.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/quorum.h"

/* Whether kube-scheduler counts room on the node for a nominated pod that has no slot there. */
static bool has_nominated_room(const struct slot *slot)
{
    list_for_each (pod, &slot->node->nominated, struct pod, in_nominated)
        if (pod->gang != slot->gang && !(pod->slot && pod->slot->node == slot->node))
            return true;
    return false;
}

/* Doubts that end when the watch shows all members, without muster's gate. */
static const char *early_doubt(const struct gang_core *core, const struct slot *slot)
{
    struct pod *pod = slot->pod;
    if (!pod || !pod_plannable(core, pod))
        return "a member is still expected";
    if (pod->facts->gated)
        return "the watch still shows a member's scheduling gate";
    if (pod_timer_is_set(pod, TIMER_UNSEEN))
        return "the watch has not shown a member yet";
    return NULL;
}

/* Whether a pod on the node has rules that muster cannot read. */
static bool holds_invalid(const struct gang_core *core, const struct node *node)
{
    if (!core->n_invalid)
        return false;
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (pod->facts->invalid)
            return true;
    return false;
}

/* Doubts about the slot of an existing member. */
static const char *slot_doubt(const struct gang_core *core, const struct slot *slot)
{
    const struct pod *pod = slot->pod;
    const char *wrong = parity_doubt(core, pod);
    if (wrong)
        return wrong;
    if (pod->pinned || pod->binding.refused_on)
        return "a member was at bind before";
    const char *shared_hostname = shared_hostname_doubt(core, pod);
    if (shared_hostname)
        return shared_hostname;
    if (pod->facts->inexact)
        return pod->facts->inexact;
    if (pod->facts->n_spreads)
        return "topology spread, which other pods may change until the members are bound";
    if ((slot->unoffered && !pod->held) ||
        node_is_infeasible(core, slot->gang, slot->signature, slot->node))
        return "kube-scheduler did not offer a planned node";
    if (has_nominated_room(slot))
        return "another pod is nominated to a planned node";
    if (holds_invalid(core, slot->node))
        return "a pod on a planned node has rules that muster does not read";
    if (slot_has_anti_affinity_conflict(slot) || signature_refusal(slot->signature, slot->node))
        return "a planned node has changed since the plan was made";
    return NULL;
}

const char *gang_parity_doubt(const struct gang_core *core, const struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        return parity_doubt(core, pod); /* slot_doubt() checks the other members */
    return NULL;
}

static const char *gang_doubt(const struct gang_core *core, const struct gang *gang)
{
    const char *wrong = gang_parity_doubt(core, gang);
    if (wrong)
        return wrong;
    return gang->state == GANG_PLANNED ? NULL : "the gang is partly bound or has no plan";
}

/* Doubts about the members that exist. */
static const char *members_doubt(const struct gang_core *core, const struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        const char *doubt = slot->pod ? slot_doubt(core, slot) : NULL;
        if (doubt)
            return doubt;
    }
    /* This comes last, because it may check many pods whenever a member comes to bind. */
    int64_t left = COVERAGE_COST_MAX;
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        const char *doubt = slot->pod ? wide_anti_affinity_doubt(core, slot->pod, &left) : NULL;
        if (doubt)
            return doubt;
    }
    return NULL;
}

bool goes_express(const struct gang_core *core, const struct gang *gang)
{
    return core->config.express_lane && !gang_doubt(core, gang) && !members_doubt(core, gang);
}

const char *express_doubt(const struct gang_core *core, const struct gang *gang)
{
    const char *doubt = gang_doubt(core, gang);
    if (!doubt)
        doubt = watch_lag_doubt(core);
    if (doubt)
        return doubt;
    if (gang->expecting || gang_lacks(core, gang, STAGE_PLANNED) > 0)
        return "a member is still expected";
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        doubt = early_doubt(core, slot);
        if (doubt)
            return doubt;
    }
    return members_doubt(core, gang);
}

/* Whether kube-scheduler may have filtered the pod before it saw a Binding that muster sent to the
 * node without a bind call. After a difference has closed the lane, muster's predicates may be
 * wrong, so they refuse pods only while this is possible. */
static bool may_be_unseen(const struct gang_core *core, const struct node *node,
                          const struct pod *pod)
{
    usec_t doubted = parity_doubt_since(core, pod), busy = pod_busy_time(pod);
    return core->config.express_lane && (!doubted || core->now - doubted < busy ||
                                         (node->unasked && core->now - node->unasked < busy));
}

bool express_collides(const struct gang_core *core, const struct node *node, const struct pod *pod)
{
    return may_be_unseen(core, node, pod) && (ports_charged(node, pod->signature) ||
                                              charged_anti_affinity_conflict(node, pod->facts));
}
