/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/core.h"

bool gang_is_waiting(const struct gang *gang)
{
    return gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF ||
           (gang->state == GANG_RECOVERING && !gang->n_slots);
}

void rank_waiting(const struct gang_core *core)
{
    cleanup_free struct gang **list = xcalloc(core->n_gangs + 1, sizeof *list);
    size_t n = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        gang->rank = 0;
        if (gang_is_waiting(gang))
            list[n++] = gang;
    }
    qsort(list, n, sizeof *list, by_order);
    for (size_t i = 0; i < n; i++)
        list[i]->rank = (int)i + 1;
}

void view_group(const struct group *group, gang_view_fn *fn, void *arg)
{
    const struct gang *gang = group->gang;
    struct gang_view v = {
        .status = group_status(group),
        .since = gang->since,
        .created = group->facts ? group->facts->created : 0,
        .known = group->facts != NULL,
        .priority = gang->priority,
        .own_priority = gang->own_priority,
        .root = &gang->head->ref,
        .place = gang->rank,
        .tried = gang->tried_at,
        .waits = gang->waits,
        .attempts = gang->attempts,
        .held = group->units[0]->t.held,
        .planned = group->units[0]->t.slots,
    };
    fn(arg, &v);
}

void gang_core_each_gang(const struct gang_core *core, gang_view_fn *fn, void *arg)
{
    rank_waiting(core);
    map_for_each (e, &core->groups) {
        const struct group *group = e->value;
        gang_count(core, group->gang);
        view_group(group, fn, arg);
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
    return pod->facts->gated ? "Gated"
           : pod->overlooked ? "Overlooked"
           : pod->slot       ? "Assumed"
                             : "Unscheduled";
}

void view_member(const struct pod *pod, gang_member_fn *fn, void *arg)
{
    struct gang_member_view v = {
        .facts = pod->facts,
        .node = pod->node ? pod->node->name : pod->facts->node,
        .slot = pod->slot ? pod->slot->node->name : NULL,
        .state = member_state(pod),
    };
    fn(arg, &v);
}

void view_node(const struct node *node, gang_node_fn *fn, void *arg)
{
    struct gang_node_view v = {node->facts, (int)node->n_pods, (int)node->n_slots};
    fn(arg, &v);
}

void gang_core_each_member(const struct gang_core *core, const struct gang_ref *ref,
                           gang_member_fn *fn, void *arg)
{
    const struct group *group = group_find(core, ref);
    if (!group)
        return;
    list_for_each (pod, &group->gang->members, struct pod, in_gang)
        if (unit_is_below(pod->unit, group->units[0]))
            view_member(pod, fn, arg);
}

/* The smallest resource number at or behind `from` of which the node has, uses or reserves some;
 * UINT32_MAX: none. Others may have any number of resources that it does not have. */
static uint32_t next_resource(const struct node *node, uint32_t from)
{
    const struct amounts *const lists[] = {&node->allocatable, &node->used, &node->reserved};
    uint32_t least = UINT32_MAX;
    for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
        for (size_t i = 0; i < lists[l]->n && lists[l]->items[i].resource < least; i++)
            if (lists[l]->items[i].resource >= from)
                least = lists[l]->items[i].resource;
    return least;
}

static void each_amount(const struct gang_core *core, const struct node *node,
                        gang_node_amount_fn *fn, void *arg)
{
    for (uint32_t r = 0; (r = next_resource(node, r)) != UINT32_MAX; r++) {
        int64_t all = amount_of(&node->allocatable, r), used = amount_of(&node->used, r);
        int64_t reserved = amount_of(&node->reserved, r);
        if (all || used || reserved)
            fn(arg, core->resources[r], all, used, reserved);
    }
}

void gang_core_each_amount(const struct gang_core *core, const char *name, gang_node_amount_fn *fn,
                           void *arg)
{
    const struct node *node = node_by_name(core, name);
    if (node)
        each_amount(core, node, fn, arg);
}

static void add_amounts(int64_t *sums, const struct amounts *a)
{
    for (size_t i = 0; i < a->n; i++)
        sums[a->items[i].resource] += a->items[i].amount;
}

void gang_core_each_device(const struct gang_core *core, gang_node_amount_fn *fn, void *arg)
{
    size_t n = core->n_resources;
    cleanup_free int64_t *sums = xcalloc(3 * n, sizeof *sums);
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *node = core->by_id[i];
        if (!node || !node->facts)
            continue;
        add_amounts(sums, &node->allocatable);
        add_amounts(sums + n, &node->used);
        add_amounts(sums + 2 * n, &node->reserved);
    }
    for (size_t r = 0; r < n; r++)
        if (sums[r] && gang_is_device(core->resources[r]))
            fn(arg, core->resources[r], sums[r], sums[n + r], sums[2 * n + r]);
}

void gang_core_stats(const struct gang_core *core, struct gang_stats *ret)
{
    *ret = core->stats;
    ret->express = core->config.express && !core->model.closed_at;
    ret->express_closed = core->config.express ? map_count(&core->model.differences) : 0;
    ret->nodes = map_count(&core->nodes);
    ret->gated = core->n_gated;
    ret->invalid = core->n_invalid;
    ret->pods = map_count(&core->pods);
    list_for_each (gang, &core->gangs, struct gang, in_core)
        ret->gangs[gang->state]++;
    map_for_each (e, &core->groups)
        ret->groups += ((struct group *)e->value)->facts != NULL;
    map_for_each (e, &core->calls)
        ret->held += ((struct pod *)e->value)->charge == CHARGE_NONE;
}

struct gang_pod_facts *gang_core_known_pod(const struct gang_core *core, const char *uid,
                                           int64_t version, const char *nominated)
{
    const struct pod *pod = uid && version ? map_get(&core->pods, uid) : NULL;
    /* One that the watch has never shown may be forgotten by a timer of the step it is lent to. */
    bool stays = pod && !pod->timers[TIMER_UNSEEN - GANG_TIMERS].node.pos;
    bool known =
        stays && pod->facts->version == version && str_eq(pod->facts->nominated, nominated);
    return known ? pod->facts : NULL;
}

bool gang_core_expects(const struct gang_core *core, const char *uid, const char **node)
{
    const struct pod *pod = map_get(&core->pods, uid);
    *node = NULL;
    if (!pod || !pod->gang || passes_singly(pod->gang))
        return false;
    if (pod->slot)
        *node = pod->slot->node->name;
    return true;
}
