/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/ledger.h"

#include "base/must.h"
#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reach.h"
#include "gang/cluster/resources.h"
#include "gang/node_predicates.h"

/* ---- does it fit? ---- */

bool node_counts(const struct node *node, uint32_t resource)
{
    return resource < RES_FIRST_OTHER || amount_of(&node->allocatable, resource) != 0;
}

/* The amount that `reach` frees by displacing slots. */
static int64_t displaced(const struct node *node, uint32_t r, const struct reach *reach)
{
    int64_t sum = 0;
    list_for_each (slot, &node->slots, struct slot, in_node)
        sum += slot_yields(slot, reach) ? signature_need(slot->signature, r) : 0;
    return sum;
}

int64_t node_room(const struct node *node, uint32_t r, const struct reach *reach)
{
    int64_t left = node_free(node, r);
    if (reach->respects_earmark)
        left -= amount_of(&node->earmarked, r);
    if (reach->respects_nominated)
        left -= nominated_amount(node, r, reach);
    if (node->n_preempted_room)
        left -= preempted_amount(node, r, reach);
    if (reach->displace != DISPLACE_NONE)
        left += displaced(node, r, reach);
    return left;
}

int node_short(const struct node *node, const struct signature *signature,
               const struct reach *reach)
{
    for (size_t i = 0; i < signature->n_needs; i++)
        if (signature->needs[i].amount > node_room(node, signature->needs[i].resource, reach))
            return (int)signature->needs[i].resource;
    return -1;
}

bool ports_charged(const struct node *node, const struct signature *signature)
{
    const struct gang_pod_facts *want = signature->ports ? signature_sample(signature) : NULL;
    if (!want)
        return false;
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (pod->signature->ports && gang_pods_conflict(want, pod->facts))
            return true;
    return false;
}

static bool ports_reserved(const struct node *node, const struct signature *signature,
                           const struct reach *reach)
{
    const struct gang_pod_facts *want = signature->ports ? signature_sample(signature) : NULL;
    if (!want)
        return false;
    list_for_each (slot, &node->slots, struct slot, in_node) {
        const struct gang_pod_facts *have =
            slot->signature->ports ? signature_sample(slot->signature) : NULL;
        if (have && gang_pods_conflict(want, have) && !slot_yields(slot, reach))
            return true;
    }
    return false;
}

/* The signature of a pod in no gang does not contain its labels. node_takes() checks such pods. */
static bool kept_from_members(const struct node *node, const struct signature *signature,
                              const struct reach *reach)
{
    const struct gang_pod_facts *who =
        node->n_preempted_room || node->n_slots ? signature_sample(signature) : NULL;
    return who && who->group.api_group && preempted_rules_conflict(node, who, reach);
}

int node_misfit(const struct node *node, const struct signature *signature,
                const struct reach *reach)
{
    int r = node_short(node, signature, reach);
    return r == -1 && (ports_charged(node, signature) || ports_reserved(node, signature, reach) ||
                       nominated_ports_conflict(node, signature, reach) ||
                       kept_from_members(node, signature, reach))
               ? -2
               : r;
}

bool node_has_room(const struct node *node, const struct signature *signature, int others,
                   const struct reach *reach)
{
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = signature->needs[i].resource;
        if (signature->needs[i].amount > node_room(node, r, reach) / (others + 1) &&
            amount_of(&node->allocatable, r) != 0)
            return false;
    }
    return !ports_reserved(node, signature, reach);
}

bool node_takes(const struct node *node, const struct pod *pod, const struct reach *reach)
{
    return node_has_room(node, pod->signature, 0, reach) &&
           !preempted_rules_conflict(node, pod->facts, reach);
}

uint64_t node_lacks(const struct node *node, const struct signature *signature)
{
    uint64_t lacks = 0;
    for (size_t i = 0; i < signature->n_needs && i < 64; i++)
        lacks |= (uint64_t)!amount_of(&node->allocatable, signature->needs[i].resource) << i;
    return lacks;
}

bool slot_in_way(const struct slot *slot, const struct signature *signature)
{
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = signature->needs[i].resource;
        if (signature->needs[i].amount > node_free(slot->node, r) &&
            signature_need(slot->signature, r))
            return true;
    }
    const struct gang_pod_facts *want = signature->ports ? signature_sample(signature) : NULL;
    const struct gang_pod_facts *have =
        slot->signature->ports ? signature_sample(slot->signature) : NULL;
    return want && have && gang_pods_conflict(want, have);
}

bool slot_in_excess(const struct slot *slot)
{
    const struct node *node = slot->node;
    for (size_t i = 0; i < slot->signature->n_needs; i++)
        if (node_free(node, slot->signature->needs[i].resource) < 0)
            return true;
    return ports_charged(node, slot->signature) || slot_has_anti_affinity_conflict(slot);
}

bool charge_in_excess(const struct pod *pod)
{
    for (size_t i = 0; i < pod->signature->n_needs; i++) {
        uint32_t r = pod->signature->needs[i].resource;
        if (!node_counts(pod->node, r) || node_free(pod->node, r) < 0)
            return true;
    }
    list_for_each (other, &pod->node->pods, struct pod, in_node)
        if (other != pod && gang_pods_conflict(pod->facts, other->facts))
            return true;
    return false;
}

/* ---- charges ---- */

static void use(struct gang_core *core, struct node *node, const struct signature *signature,
                int sign)
{
    for (size_t i = 0; i < signature->n_needs; i++) {
        const struct need *need = &signature->needs[i];
        if (node_counts(node, need->resource))
            amounts_change(core, &node->used, need->resource, sign * need->amount);
    }
}

void node_recount(struct gang_core *core, struct node *node)
{
    amounts_clear(core, &node->used);
    list_for_each (pod, &node->pods, struct pod, in_node)
        use(core, node, pod->signature, 1);
}

void node_joined(struct gang_core *core, struct node *node, const struct signature *signature,
                 int sign)
{
    if (signature->anti_affinity) {
        node->n_anti_affinity += (size_t)sign;
        core->n_anti_affinity += (size_t)sign;
    }
    node_pods_changed(core, node);
}

void lowest_priority_seen(struct gang_core *core, int32_t priority)
{
    if (priority >= core->lowest_priority)
        return;
    core->lowest_priority = priority;
    core->lower_priority_came = true;
}

void lowest_priority_is(struct gang_core *core, int32_t priority)
{
    core->lowest_priority = priority;
}

bool lower_priority_came(struct gang_core *core)
{
    bool came = core->lower_priority_came;
    core->lower_priority_came = false;
    return came;
}

void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how)
{
    MUST(!pod->node || how == CHARGE_ASSIGNED); /* a Binding does not move a charged pod */
    if (pod->node != node) {
        uncharge(core, pod);
        use(core, node, pod->signature, 1);
        pod->node = node;
        list_push(&node->pods, &pod->in_node);
        node->n_pods++;
        queue_count_pod(core, pod);
        node_joined(core, node, pod->signature, 1);
        wide_anti_affinity_begin(core, pod);
        lowest_priority_seen(core, pod->facts->priority);
    }
    filter_result_end(core, pod); /* only bind calls for this node can follow */
    pod->charge = how;
    pod_recount(pod);
    nomination_update(core, pod);
}

void uncharge(struct gang_core *core, struct pod *pod)
{
    struct node *node = pod->node;
    if (!node)
        return;
    eviction_leaves(core, pod);
    queue_uncount_pod(core, pod);
    use(core, node, pod->signature, -1);
    list_remove(&pod->in_node);
    wide_anti_affinity_end(pod);
    node->n_pods--;
    node_joined(core, node, pod->signature, -1);
    pod->node = NULL;
    pod->charge = CHARGE_NONE;
    pod_recount(pod);
    nomination_update(core, pod);
    node->left = core->now;
    node_changed(core, node);
    node_may_be_unused(core, node);
}

void charge_back(struct gang_core *core, struct pod *pod, struct node *node, enum charge how,
                 usec_t left)
{
    node->left = left;
    charge(core, pod, node, how);
}

struct charge_position charge_position_on(struct node *node)
{
    return (struct charge_position){node, CHARGE_ASSIGNED, &node->pods, node->marks.changed};
}

struct charge_position charge_lift(struct gang_core *core, struct pod *pod)
{
    struct charge_position was = {pod->node, pod->charge, pod->in_node.next,
                                  pod->node->marks.changed};
    node_changed_at(pod->node, core->marks.clock + 1);
    queue_uncount_pod(core, pod);
    use(core, pod->node, pod->signature, -1);
    list_remove(&pod->in_node);
    pod->node->n_pods--;
    node_joined(core, pod->node, pod->signature, -1);
    pod->node = NULL;
    pod->charge = CHARGE_NONE;
    pod_recount(pod);
    return was;
}

void charge_lower(struct gang_core *core, struct pod *pod, const struct charge_position *was)
{
    pod->node = was->node;
    pod->charge = was->how;
    pod_recount(pod);
    use(core, pod->node, pod->signature, 1);
    queue_count_pod(core, pod);
    list_push(was->before, &pod->in_node);
    pod->node->n_pods++;
    node_joined(core, pod->node, pod->signature, 1);
    node_changed_at(pod->node, was->changed);
}

void charge_confirm(struct pod *pod)
{
    MUST(pod->node && pod->charge == CHARGE_BINDING);
    pod->charge = CHARGE_ASSIGNED;
    pod_recount(pod);
}
