/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/core.h"

/* Gangs that may have to be planned, in the order in which they would be. */
static struct gang **waiting(const struct gang_core *core, size_t *ret_n)
{
    struct gang **list = xcalloc(core->n_gangs + 1, sizeof *list);
    size_t n = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core)
        if (gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF ||
            (gang->state == GANG_RECOVERING && !gang->n_slots))
            list[n++] = gang;
    qsort(list, n, sizeof *list, by_order);
    *ret_n = n;
    return list;
}

static void view_group(const struct group *group, int place, gang_view_fn *fn, void *arg)
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
        .place = place,
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
    size_t n;
    cleanup_free struct gang **order = waiting(core, &n);
    struct map places = MAP_INIT; /* of the gangs that wait, by key */
    for (size_t i = 0; i < n; i++)
        map_set(&places, order[i]->head->key, (void *)(uintptr_t)(i + 1));
    map_for_each (e, &core->groups) {
        const struct group *group = e->value;
        gang_count(core, group->gang);
        view_group(group, (int)(uintptr_t)map_get(&places, group->gang->head->key), fn, arg);
    }
    map_done(&places);
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

void gang_core_each_member(const struct gang_core *core, const struct gang_ref *ref,
                           gang_member_fn *fn, void *arg)
{
    const struct group *group = group_find(core, ref);
    if (!group)
        return;
    list_for_each (pod, &group->gang->members, struct pod, in_gang) {
        if (!unit_is_below(pod->unit, group->units[0]))
            continue;
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
        if (!core->resources[r])
            continue;
        int64_t all = amount_of(&node->allocatable, r), used = amount_of(&node->used, r);
        int64_t reserved = amount_of(&node->reserved, r);
        if (all || used || reserved)
            fn(arg, core->resources[r], all, used, reserved);
    }
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
