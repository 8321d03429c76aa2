/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/core.h"

void gang_core_each_gang(const struct gang_core *core, gang_view_fn *fn, void *arg)
{
    map_for_each (e, &core->gangs) {
        const struct gang *gang = e->value;
        struct gang_view v = {
            .status = gang_status_of(core, gang),
            .since = gang->since,
            .created = gang->facts ? gang->facts->created : 0,
            .known = gang->facts != NULL,
            .priority = gang_priority(gang),
            .attempts = gang->attempts,
            .held = tally(core, gang).held,
            .planned = gang->n_slots,
        };
        fn(arg, &v);
    }
}

static const char *member_state(const struct pod *pod)
{
    if (pod_is_finished(pod))
        return "Finished";
    if (pod->charge == CHARGE_ASSIGNED)
        return "Assigned";
    if (pod->charge == CHARGE_BINDING)
        return "Binding";
    if (pod->call)
        return "Held";
    return pod->slot ? "Assumed" : "Unscheduled";
}

void gang_core_each_member(const struct gang_core *core, const struct gang_ref *ref,
                           gang_member_fn *fn, void *arg)
{
    const struct gang *gang = gang_find(core, ref);
    if (!gang)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        struct gang_member_view v = {
            .facts = pod->facts,
            .node = pod->node ? pod->node->name : pod->facts->node,
            .slot = pod->slot ? pod->slot->node->name : NULL,
            .state = member_state(pod),
        };
        fn(arg, &v);
    }
}

void gang_core_each_node(const struct gang_core *core, gang_node_fn *fn, void *arg)
{
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        if (!node->facts)
            continue;
        struct gang_node_view v = {node->facts, (int)node->n_pods, (int)node->n_slots};
        fn(arg, &v);
    }
}

void gang_core_each_amount(const struct gang_core *core, const char *name, gang_node_amount_fn *fn,
                           void *arg)
{
    const struct node *node = node_by_name(core, name);
    for (uint32_t r = 0; node && r < core->n_resources; r++) {
        int64_t all = amount_of(&node->allocatable, r), used = amount_of(&node->used, r);
        int64_t reserved = amount_of(&node->reserved, r);
        if (all || used || reserved)
            fn(arg, core->resources[r], all, used, reserved);
    }
}

void gang_core_stats(const struct gang_core *core, struct gang_stats *ret)
{
    *ret = core->stats;
    ret->nodes = map_count(&core->nodes);
    ret->pods = map_count(&core->pods);
    map_for_each (e, &core->gangs) {
        const struct gang *gang = e->value;
        ret->gangs[gang->state]++;
        ret->groups += gang->facts != NULL;
    }
    map_for_each (e, &core->calls)
        ret->held += ((struct pod *)e->value)->charge == CHARGE_NONE;
}
