/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/step/gang_view.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/timers.h"
#include "gang/messages/status_and_events.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/podgroups.h"
#include "gang/podgroup/quorum.h"

bool gang_is_waiting(const struct gang *gang)
{
    return gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF ||
           (gang->state == GANG_RECOVERING && !gang->n_slots);
}

/* The waiting gangs in the order of the last ranking, with gaps, and then the new ones. */
static struct gang **last_ranking(const struct gang_core *core, size_t *ret_n)
{
    size_t last = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core)
        last = (size_t)gang->rank > last ? (size_t)gang->rank : last;
    struct gang **list = xcalloc(last + core->n_gangs + 1, sizeof *list);
    *ret_n = last;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        if (gang_is_waiting(gang))
            list[gang->rank ? (size_t)gang->rank - 1 : (*ret_n)++] = gang;
        gang->rank = 0;
    }
    return list;
}

/* Moves gangs out of the list until the rest is sorted. If two gangs are out of order, it moves
 * both, because either may have changed. Returns the length of the rest. */
static size_t take_out_moved(struct gang **list, size_t n, struct gang **moved, size_t *ret_moved)
{
    size_t kept = 0, out = 0;
    for (size_t i = 0; i < n; i++) {
        struct gang *gang = list[i];
        if (gang && kept && by_order(&list[kept - 1], &gang) > 0) {
            moved[out++] = list[--kept];
            moved[out++] = gang;
        } else if (gang) {
            list[kept++] = gang;
        }
    }
    *ret_moved = out;
    return kept;
}

/* Between two calls, few gangs change their position, so only those are sorted. */
void gang_view_rank(const struct gang_core *core)
{
    size_t n, n_moved, i = 0, j = 0;
    cleanup_free struct gang **list = last_ranking(core, &n);
    cleanup_free struct gang **moved = xcalloc(n + 1, sizeof *moved);
    n = take_out_moved(list, n, moved, &n_moved);
    qsort(moved, n_moved, sizeof *moved, by_order);
    for (int rank = 1; i < n || j < n_moved; rank++) {
        bool stays = j == n_moved || (i < n && by_order(&list[i], &moved[j]) < 0);
        (stays ? list[i++] : moved[j++])->rank = rank;
    }
}

/* NULL: it is in no queue. */
static const struct gang_ref *gang_queue(const struct gang *gang)
{
    return gang->queue && gang->queue != gang->core->queues.none ? &gang->queue->ref : NULL;
}

void view_group(const struct group *group, gang_view_fn *fn, void *arg)
{
    const struct gang *gang = group->gang;
    struct gang_view v = {
        .status = group_status(group),
        .since = gang->since,
        .created = group->facts ? group->facts->created : 0,
        .known = group->facts && !group->declared,
        .priority = gang->priority,
        .own_priority = gang->own_priority,
        .root = &gang->head->ref,
        .position = gang->rank,
        .last_planned = gang->tried_at,
        .waiting_since = gang->waits,
        .attempts = gang->attempts,
        .held = group->units[0]->t.held,
        .planned = group->units[0]->t.slots,
        .queue = gang_queue(gang),
    };
    fn(arg, &v);
}

void gang_core_each_gang(const struct gang_core *core, gang_view_fn *fn, void *arg)
{
    gang_view_rank(core);
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
    return pod->facts->suspended ? "Suspended"
           : pod->facts->gated   ? "Gated"
           : pod->rejected_early ? "RejectedEarly"
           : pod->slot           ? "Assumed"
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

static void show_amount(const struct gang_core *core, uint32_t r, const int64_t amounts[3],
                        gang_node_amount_fn *fn, void *arg)
{
    if (amounts[0] || amounts[1] || amounts[2])
        fn(arg, core->resources.names[r], amounts[0], amounts[1], amounts[2]);
}

void gang_core_each_amount(const struct gang_core *core, const char *name, gang_node_amount_fn *fn,
                           void *arg)
{
    const struct node *node = node_by_name(core, name);
    if (!node)
        return;
    const struct amounts *const lists[] = {&node->allocatable, &node->used, &node->reserved};
    size_t at[ARRAY_SIZE(lists)] = {0};
    uint32_t r;
    while ((r = amounts_lowest(lists, at, ARRAY_SIZE(lists))) != RES_UNKNOWN) {
        int64_t amounts[ARRAY_SIZE(lists)];
        for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
            amounts[l] = amounts_take(lists[l], &at[l], r);
        show_amount(core, r, amounts, fn, arg);
    }
}

/* ---- devices ---- */

struct device_sum {
    uint32_t resource;
    int64_t amounts[3]; /* in the order of gang_node_amount_fn */
};

struct device_sums {
    struct device_sum *items;
    size_t n, cap;
};

/* The sum for the resource; NULL: it is not a device. There are few devices, because only nodes
 * define them. */
static struct device_sum *sum_of(struct device_sums *s, const struct gang_core *core, uint32_t r)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->items[i].resource == r)
            return &s->items[i];
    if (!resource_is(core, r, RESOURCE_DEVICE))
        return NULL;
    GROW(s->items, s->cap, s->n + 1);
    s->items[s->n] = (struct device_sum){.resource = r};
    return &s->items[s->n++];
}

static void sum_devices(struct device_sums *s, const struct gang_core *core,
                        const struct node *node)
{
    for (size_t i = 0; i < node->allocatable.n; i++) {
        const struct need *offer = &node->allocatable.items[i];
        struct device_sum *sum = sum_of(s, core, offer->resource);
        if (!sum)
            continue;
        sum->amounts[0] += offer->amount;
        sum->amounts[1] += amount_of(&node->used, offer->resource);
        sum->amounts[2] += amount_of(&node->reserved, offer->resource);
    }
}

void gang_core_each_device(const struct gang_core *core, gang_node_amount_fn *fn, void *arg)
{
    struct device_sums s = {0};
    for (size_t i = 0; i < core->n_ids; i++)
        if (core->by_id[i] && core->by_id[i]->facts)
            sum_devices(&s, core, core->by_id[i]);
    for (size_t i = 0; i < s.n; i++)
        show_amount(core, s.items[i].resource, s.items[i].amounts, fn, arg);
    free(s.items);
}

bool gang_core_priority_class(const struct gang_core *core, const char *name, int32_t *ret)
{
    const struct gang_priority_class_facts *class = map_get(&core->priority_classes, name);
    if (class)
        *ret = class->value;
    return class != NULL;
}

void gang_core_stats(const struct gang_core *core, struct gang_stats *ret)
{
    *ret = core->stats;
    ret->express = core->config.express_lane && !core->parity.closed_at;
    ret->preempted_room = core->n_preempted_room;
    ret->express_closed = core->config.express_lane ? map_count(&core->parity.differences) : 0;
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
    /* A timer may remove a pod that the watch has not shown, in the same step that uses its facts.
     */
    bool stays = pod && !pod_timer_is_set(pod, TIMER_UNSEEN);
    bool known =
        stays && pod->facts->version == version && str_eq(pod->facts->nominated, nominated);
    return known ? pod->facts : NULL;
}
