/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/ledger.h"

#include "base/must.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/inter_pod.h"
#include "gang/cluster/nominate.h"
#include "gang/cluster/nominated_pods.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/passed_nodes.h"
#include "gang/cluster/resources.h"
#include "gang/predicates.h"

/* ---- does it fit ---- */

bool node_counts(const struct node *node, uint32_t resource)
{
    return resource < RES_FIRST_OTHER || amount_of(&node->allocatable, resource) != 0;
}

/* What leaves with the slots that are displaced. */
static int64_t displaced(const struct node *node, uint32_t r, const struct reach *reach)
{
    int64_t sum = 0;
    list_for_each (slot, &node->slots, struct slot, in_node)
        sum += slot_yields(slot, reach) ? shape_need(slot->shape, r) : 0;
    return sum;
}

int64_t node_room(const struct node *node, uint32_t r, const struct reach *reach)
{
    int64_t left = node_free(node, r);
    if (reach->heeds)
        left -= amount_of(&node->kept, r);
    if (reach->yields)
        left -= promised_to(node, r, reach);
    if (reach->displace != DISPLACE_NONE)
        left += displaced(node, r, reach);
    return left;
}

int node_short(const struct node *node, const struct shape *shape, const struct reach *reach)
{
    for (size_t i = 0; i < shape->n_needs; i++)
        if (shape->needs[i].amount > node_room(node, shape->needs[i].resource, reach))
            return (int)shape->needs[i].resource;
    return -1;
}

bool ports_charged(const struct node *node, const struct shape *shape)
{
    const struct gang_pod_facts *want = shape->ports ? shape_sample(shape) : NULL;
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (want && pod->shape->ports && gang_pods_conflict(want, pod->facts))
            return true;
    return false;
}

static bool ports_reserved(const struct node *node, const struct shape *shape,
                           const struct reach *reach)
{
    const struct gang_pod_facts *want = shape->ports ? shape_sample(shape) : NULL;
    list_for_each (slot, &node->slots, struct slot, in_node) {
        const struct gang_pod_facts *have = slot->shape->ports ? shape_sample(slot->shape) : NULL;
        if (want && have && gang_pods_conflict(want, have) && !slot_yields(slot, reach))
            return true;
    }
    return false;
}

int node_misfit(const struct node *node, const struct shape *shape, const struct reach *reach)
{
    int r = node_short(node, shape, reach);
    return r == -1 && (ports_charged(node, shape) || ports_reserved(node, shape, reach) ||
                       ports_promised(node, shape, reach))
               ? -2
               : r;
}

bool node_takes(const struct node *node, const struct shape *shape, int others,
                const struct reach *reach)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        uint32_t r = shape->needs[i].resource;
        if (shape->needs[i].amount > node_room(node, r, reach) / (others + 1) &&
            amount_of(&node->allocatable, r) != 0)
            return false;
    }
    return !ports_reserved(node, shape, reach);
}

bool slot_in_way(const struct slot *slot, const struct shape *shape)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        uint32_t r = shape->needs[i].resource;
        if (shape->needs[i].amount > node_free(slot->node, r) && shape_need(slot->shape, r))
            return true;
    }
    const struct gang_pod_facts *want = shape->ports ? shape_sample(shape) : NULL;
    const struct gang_pod_facts *have = slot->shape->ports ? shape_sample(slot->shape) : NULL;
    return want && have && gang_pods_conflict(want, have);
}

bool slot_in_excess(const struct slot *slot)
{
    const struct node *node = slot->node;
    for (size_t i = 0; i < slot->shape->n_needs; i++)
        if (node_free(node, slot->shape->needs[i].resource) < 0)
            return true;
    return ports_charged(node, slot->shape) || slot_is_kept_away(slot);
}

bool charge_in_excess(const struct pod *pod)
{
    for (size_t i = 0; i < pod->shape->n_needs; i++) {
        uint32_t r = pod->shape->needs[i].resource;
        if (!node_counts(pod->node, r) || node_free(pod->node, r) < 0)
            return true;
    }
    list_for_each (other, &pod->node->pods, struct pod, in_node)
        if (other != pod && gang_pods_conflict(pod->facts, other->facts))
            return true;
    return false;
}

/* ---- charges ---- */

static void use(struct gang_core *core, struct node *node, const struct shape *shape, int sign)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        if (node_counts(node, need->resource))
            amounts_change(core, &node->used, need->resource, sign * need->amount);
    }
}

void node_recount(struct gang_core *core, struct node *node)
{
    amounts_clear(core, &node->used);
    list_for_each (pod, &node->pods, struct pod, in_node)
        use(core, node, pod->shape, 1);
}

void node_joined(struct gang_core *core, struct node *node, const struct shape *shape, int sign)
{
    if (shape->apart) {
        node->n_apart += (size_t)sign;
        core->n_apart += (size_t)sign;
    }
    node_crowd(core, node);
}

void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how)
{
    MUST(!pod->node || how == CHARGE_ASSIGNED); /* a Binding takes no pod from its node */
    if (pod->node != node) {
        uncharge(core, pod);
        use(core, node, pod->shape, 1);
        pod->node = node;
        list_push(&node->pods, &pod->in_node);
        node->n_pods++;
        node_joined(core, node, pod->shape, 1);
        shunning_begin(core, pod);
    }
    passing_end(core, pod); /* it is here, whatever calls come for it */
    pod->charge = how;
    nomination_note(core, pod);
}

void uncharge(struct gang_core *core, struct pod *pod)
{
    struct node *node = pod->node;
    if (!node)
        return;
    use(core, node, pod->shape, -1);
    list_remove(&pod->in_node);
    shunning_end(pod);
    node->n_pods--;
    node_joined(core, node, pod->shape, -1);
    pod->node = NULL;
    pod->charge = CHARGE_NONE;
    nomination_note(core, pod);
    node->left = core->now;
    node_changed(core, node);
    node_may_be_bare(core, node);
}

void charge_back(struct gang_core *core, struct pod *pod, struct node *node, enum charge how,
                 usec_t left)
{
    node->left = left;
    charge(core, pod, node, how);
}

struct charge_place charge_lift(struct gang_core *core, struct pod *pod)
{
    struct charge_place was = {pod->node, pod->charge, pod->in_node.next, pod->node->marks.changed};
    node_changed_at(pod->node, core->marks.clock + 1);
    use(core, pod->node, pod->shape, -1);
    list_remove(&pod->in_node);
    pod->node->n_pods--;
    node_joined(core, pod->node, pod->shape, -1);
    pod->node = NULL;
    pod->charge = CHARGE_NONE;
    return was;
}

void charge_lower(struct gang_core *core, struct pod *pod, const struct charge_place *was)
{
    pod->node = was->node;
    pod->charge = was->how;
    use(core, pod->node, pod->shape, 1);
    list_push(was->before, &pod->in_node);
    pod->node->n_pods++;
    node_joined(core, pod->node, pod->shape, 1);
    node_changed_at(pod->node, was->changed);
}

void charge_stands(struct pod *pod)
{
    MUST(pod->node && pod->charge == CHARGE_BINDING);
    pod->charge = CHARGE_ASSIGNED;
}
