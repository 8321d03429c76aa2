/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/keep_room.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/signatures.h"
#include "gang/plan/min_resources_check.h"
#include "gang/plan/placement.h"
#include "gang/plan/queue_check.h"
#include "gang/plan/victims.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/queue/queue_limits.h"

/* ---- what is left when the pods are gone ---- */

/* How much of the resource the gang's own preempted room on the node is. */
static int64_t own_amount(const struct node *node, uint32_t resource, const struct gang *gang)
{
    int64_t sum = 0;
    list_for_each (slot, &node->preempted_room, struct slot, in_node)
        sum += slot->gang == gang ? signature_need(slot->signature, resource) : 0;
    return sum;
}

/* Whether the gang's room on the node of the slot is not enough any more, even when the pods are
 * gone that leave it. Room of gangs that come after it does not count. */
static bool is_overbooked(const struct gang_core *core, const struct slot *slot)
{
    const struct node *node = slot->node;
    const struct reach reach = gang_reach(core, slot->gang);
    for (size_t i = 0; i < slot->signature->n_needs; i++) {
        uint32_t r = slot->signature->needs[i].resource;
        int64_t left = node_free(node, r) - preempted_amount(node, r, &reach) -
                       own_amount(node, r, slot->gang);
        list_for_each (pod, &node->pods, struct pod, in_node)
            if (pod_is_leaving(core, pod) && node_counts(node, r))
                left += signature_need(pod->signature, r);
        if (left < 0)
            return true;
    }
    return false;
}

/* Whether the planned member would keep out the member of the kept slot. */
static bool excludes_member(const struct slot *kept, const struct slot *planned)
{
    const struct gang_pod_facts *who =
        planned->pod ? planned->pod->facts : signature_sample(planned->signature);
    return who && kept_slot_excludes(kept, who);
}

static bool excludes_any_member(const struct slot *planned)
{
    const struct slot *last = NULL;
    list_for_each (kept, &planned->node->preempted_room, struct slot, in_node) {
        if (kept->gang != planned->gang && !slots_alike(last, kept) &&
            excludes_member(kept, planned))
            return true;
        last = kept;
    }
    return false;
}

/* Whether the gang's plan uses room on the node that others need for which pods were evicted. */
static bool displaces_room(const struct gang_core *core, const struct gang *gang,
                           const struct node *node)
{
    const struct slot *last = NULL;
    list_for_each (kept, &node->preempted_room, struct slot, in_node) {
        if (kept->gang != gang && !slots_alike(last, kept) && is_overbooked(core, kept))
            return true;
        last = kept;
    }
    list_for_each (slot, &node->slots, struct slot, in_node)
        if (slot->gang != gang && slot->gang->takes_room && slot_in_excess(slot))
            return true;
    return false;
}

bool plan_takes_room(const struct gang_core *core, const struct gang *gang)
{
    const struct slot *last = NULL;
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        bool same_node = last && slot->node == last->node;
        if (!(same_node && slots_alike(last, slot)) && excludes_any_member(slot))
            return true;
        if (!same_node && displaces_room(core, gang, slot->node))
            return true;
        last = slot;
    }
    return false;
}

static bool any_leaves(const struct gang_core *core, const struct node *node)
{
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (pod_is_leaving(core, pod))
            return true;
    return false;
}

/* Whether the node already has the room, so that the pods that still leave it do not matter. */
static bool has_room_now(const struct gang_core *core, const struct slot *slot)
{
    const struct signature *signature = slot->signature;
    const struct reach reach = gang_reach(core, slot->gang);
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = signature->needs[i].resource;
        if (node_room(slot->node, r, &reach) < own_amount(slot->node, r, slot->gang))
            return false;
    }
    bool between = signature->anti_affinity || signature->spread || slot->node->n_anti_affinity;
    return !between && !ports_charged(slot->node, signature);
}

bool room_awaits_end(const struct gang_core *core, const struct gang *gang)
{
    bool any = false;
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang) {
        const struct node *node = slot->node;
        any |= core->queues.root && slot->awaits && core->n_evicted; /* its queue has no room yet */
        if (!node->facts || signature_refusal(slot->signature, node) || is_overbooked(core, slot))
            return false;
        any |= any_leaves(core, node) && !has_room_now(core, slot);
    }
    return any;
}

/* ---- keeping room ---- */

static void count_in_queue(struct gang_core *core, struct gang *gang)
{
    struct queue_short found;
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang) {
        const struct signature *signature = slot->signature;
        if (!slot->awaits)
            continue;
        if (queue_is_short(core, queue_of_gang(core, gang), gang->firm,
                           (struct need_list){signature->needs, signature->n_needs, 1}, &found))
            return;
        preempted_slot_count(core, slot);
    }
}

void rooms_count_in_queues(struct gang_core *core)
{
    if (!core->n_preempted_room || !core->queues.root)
        return;
    list_for_each (gang, &core->open, struct gang, in_open)
        count_in_queue(core, gang);
}

/* Of the gangs with a plan on the slot's node that yield to the taker, the last in the order; NULL:
 * none. `excludes`: only gangs with a member there that would keep out the slot's member. */
static struct gang *last_that_yields(const struct taker *taker, const struct slot *kept,
                                     bool excludes)
{
    struct gang *last = NULL;
    const struct slot *before = NULL;
    list_for_each (slot, &kept->node->slots, struct slot, in_node) {
        if (!slots_alike(before, slot) && (!excludes || excludes_member(kept, slot)) &&
            (!last || by_order(&slot->gang, &last) > 0) && plan_yields(taker, slot->gang))
            last = slot->gang;
        before = slot;
    }
    return last;
}

static void drop(struct gang_core *core, struct gang *gang)
{
    if (gang->state != GANG_WAITING) /* else it has lost its plan already, and kept some slots */
        triggered(core, gang, TRIGGER_ROOM_LESS);
    plan_drop(core, gang, REASON_SLOT_MOVED);
    gang_plan_again(gang);
}

static void drop_plans_in_way(struct gang_core *core, const struct gang *gang,
                              const struct taker *taker)
{
    const struct slot *before = NULL;
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang) {
        struct gang *last = NULL;
        bool same = slots_alike(before, slot) && before->node == slot->node;
        while (!same && (last = last_that_yields(taker, slot, /* excludes= */ true)) != NULL)
            drop(core, last);
        while (!same && is_overbooked(core, slot) &&
               (last = last_that_yields(taker, slot, /* excludes= */ false)) != NULL)
            drop(core, last);
        before = slot;
    }
}

static int last_first(const void *a, const void *b)
{
    struct gang *const *x = a, *const *y = b;
    return by_order(y, x);
}

/* The gangs with plans that yield, the last one in the order first. */
static struct gang **plans_that_yield(const struct taker *taker, size_t *ret_n)
{
    struct gang **plans = NULL;
    size_t n = 0, cap = 0;
    list_for_each (other, &taker->core->open, struct gang, in_open)
        if (plan_yields(taker, other)) {
            GROW(plans, cap, n + 1);
            plans[n++] = other;
        }
    if (n > 1)
        qsort(plans, n, sizeof(struct gang *), last_first);
    *ret_n = n;
    return plans;
}

static bool counts_in(const struct gang *gang, const struct queue *top)
{
    const struct queue *queue = gang->queue;
    while (queue && queue != top)
        queue = queue->parent;
    return queue != NULL;
}

/* Removes plans in the trial until the limits of the queues leave enough for the room. Moves the
 * removed plans to `ret` and returns their number. Returns 0 if even all plans are not enough. */
static size_t make_way(struct trial *t, struct gang *gang, struct gang **plans, size_t n,
                       struct gang **ret)
{
    struct queue_short full;
    size_t gone = 0, before;
    bool exceeds = room_exceeds_queue(t->core, gang, &full);
    do { /* in each pass, another queue may be the full one */
        before = gone;
        for (size_t i = 0; exceeds && i < n; i++) {
            if (!plans[i] || !counts_in(plans[i], full.queue))
                continue;
            list_for_each_safe (slot, &plans[i]->slots, struct slot, in_gang)
                trial_without_slot(t, slot);
            ret[gone++] = STEAL(plans[i]);
            exceeds = room_exceeds_queue(t->core, gang, &full);
        }
    } while (exceeds && gone > before);
    return exceeds ? 0 : gone;
}

static void drop_plans_in_queue(struct gang_core *core, struct gang *gang,
                                const struct taker *taker)
{
    size_t n;
    if (!core->queues.root)
        return;
    cleanup_free struct gang **plans = plans_that_yield(taker, &n);
    cleanup_free struct gang **in_way = xcalloc(n + 1, sizeof(struct gang *));
    struct trial t = trial_begin(core);
    trial_without_ending(&t);
    n = make_way(&t, gang, plans, n, in_way);
    trial_end(&t);
    for (size_t i = 0; i < n; i++)
        drop(core, in_way[i]);
    if (n)
        count_in_queue(core, gang);
}

struct places places_of_trial(const struct trial *t, size_t n)
{
    struct places places = {.n = 0};
    places.items = xcalloc(t->n - n + 1, sizeof *places.items);
    for (size_t i = n; i < t->n; i++) {
        const struct slot *slot = trial_slot(t, i);
        if (slot)
            places.items[places.n++] = (struct place){signature_ref(slot->signature), slot->node};
    }
    return places;
}

/* The places that a plan would have. */
static struct places find_places(struct gang_core *core, struct gang *gang)
{
    int64_t work = PLAN_WORK_MAX;
    struct shortage shortage;
    struct trial t = trial_begin(core);
    trial_without_leaving(&t, gang);
    if (!min_resources_short(core, gang).group)
        place_in_trial(&t, gang, SLOTS_WITH_EXTRAS, &work, &shortage);
    struct places places = places_of_trial(&t, 0);
    trial_end(&t);
    return places;
}

struct places room_lift(struct gang_core *core, struct gang *gang)
{
    struct places places = {.n = 0};
    size_t cap = 0;
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang) {
        GROW(places.items, cap, places.n + 1);
        places.items[places.n++] = (struct place){signature_ref(slot->signature), slot->node};
    }
    preempted_room_lift(core, gang);
    return places;
}

bool room_is(const struct gang *gang, const struct places *places)
{
    size_t n = 0;
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang) {
        const struct place *place = &places->items[n];
        if (n++ == places->n || place->node != slot->node || place->signature != slot->signature)
            return false;
    }
    return n == places->n;
}

void room_restore(struct gang_core *core, struct gang *gang, const struct places *places)
{
    for (size_t i = 0; i < places->n; i++)
        preempted_room_add(core, gang, places->items[i].signature, places->items[i].node);
    count_in_queue(core, gang);
}

void places_done(struct gang_core *core, struct places *places)
{
    for (size_t i = 0; i < places->n; i++)
        signature_unref(core, places->items[i].signature);
    free(places->items);
}

void room_keep_at(struct gang_core *core, struct gang *gang, const struct places *places)
{
    /* Ask before the room counts in its queue. Afterwards, the queue may already use all that it
     * deserves, and the gang could take nothing back. */
    const struct taker taker = taker_of(core, gang);
    room_restore(core, gang, places);
    drop_plans_in_way(core, gang, &taker);
    drop_plans_in_queue(core, gang, &taker);
}

bool room_keep(struct gang_core *core, struct gang *gang)
{
    struct places places = find_places(core, gang);
    bool any = places.n > 0;
    if (any)
        room_keep_at(core, gang, &places);
    places_done(core, &places);
    return any;
}
