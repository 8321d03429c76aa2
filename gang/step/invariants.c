/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invariants.c - gang_core_check(): recomputes all sums and checks all invariants. For tests.
 */
#include <inttypes.h>

#include "gang/cluster/class_labels.h"
#include "gang/cluster/hold_quota.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/gate_lifting.h"
#include "gang/plan/plan_gang.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/fair_share.h"
#include "gang/queue/queues.h"
#include "gang/step/gang_invariants.h"

/* Recomputes the node's sums from its lists of pods and slots. */
static int check_sums(const struct gang_core *core, const struct node *node, struct err *err)
{
    for (uint32_t r = 0; r < core->resources.n; r++) {
        if (!core->resources.names[r])
            continue;
        int64_t used = 0, reserved = 0;
        list_for_each (pod, &node->pods, struct pod, in_node)
            for (size_t i = 0; node_counts(node, r) && i < pod->signature->n_needs; i++)
                used +=
                    pod->signature->needs[i].resource == r ? pod->signature->needs[i].amount : 0;
        list_for_each (slot, &node->slots, struct slot, in_node)
            for (size_t i = 0; i < slot->signature->n_needs; i++)
                reserved +=
                    slot->signature->needs[i].resource == r ? slot->signature->needs[i].amount : 0;
        if (used != amount_of(&node->used, r) || reserved != amount_of(&node->reserved, r))
            return err_set(err, ERR_INTERNAL,
                           "node %s: %s: %" PRId64 " used and %" PRId64
                           " reserved, but the sums of its pods and slots are %" PRId64
                           " and %" PRId64,
                           node->name, core->resources.names[r], amount_of(&node->used, r),
                           amount_of(&node->reserved, r), used, reserved);
        if (reserved && used + reserved > amount_of(&node->allocatable, r))
            return err_set(err, ERR_INTERNAL,
                           "I2: node %s: %s %" PRId64 " assigned and %" PRId64
                           " reserved of %" PRId64 " allocatable",
                           node->name, core->resources.names[r], used, reserved,
                           amount_of(&node->allocatable, r));
    }
    return 0;
}

static void count_names(size_t *users, const struct amounts *a)
{
    for (size_t i = 0; i < a->n; i++)
        users[a->items[i].resource]++;
}

/* Each resource has as many references as users. */
static int check_resources(const struct gang_core *core, struct err *err)
{
    cleanup_free size_t *users = xcalloc(core->resources.n + 1, sizeof *users);
    for (uint32_t r = 0; r < RES_FIRST_OTHER; r++)
        users[r] = 1; /* never released */
    map_for_each (e, &core->signatures) {
        const struct signature *signature = e->value;
        for (size_t i = 0; i < signature->n_needs; i++)
            users[signature->needs[i].resource]++;
    }
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        count_names(users, &node->allocatable);
        count_names(users, &node->used);
        count_names(users, &node->reserved);
        count_names(users, &node->earmarked);
    }
    queues_count_users(core, users);
    for (uint32_t r = 0; r < core->resources.n; r++)
        if ((core->resources.names[r] != NULL) != (users[r] > 0) ||
            (users[r] && users[r] != core->resources.users[r]))
            return err_set(err, ERR_INTERNAL, "resource %u: %zu users, counted as %zu", r, users[r],
                           core->resources.users[r]);
    return 0;
}

static int check_apart(const struct node *node, struct err *err)
{
    size_t anti_affinity = 0;
    list_for_each (pod, &node->pods, struct pod, in_node)
        anti_affinity += pod->signature->anti_affinity;
    list_for_each (slot, &node->slots, struct slot, in_node)
        anti_affinity += slot->signature->anti_affinity;
    if (anti_affinity != node->n_anti_affinity)
        return err_set(err, ERR_INTERNAL,
                       "node %s: %zu pods and slots with anti-affinity, counted as %zu", node->name,
                       anti_affinity, node->n_anti_affinity);
    return 0;
}

static int check_gang(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    int slots = 0, held = 0;
    if (gang_count_check(core, gang, err) < 0)
        return -1;
    gang_count(core, gang);
    for (int what = 0; what < GANG_INVARIANT_MAX; what++)
        if (gang_invariant_check(core, gang, (enum gang_invariant)what, err) < 0)
            return -1;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        held += pod->held;
        if (pod->held && (!pod->slot || !pod->call || pod->held_node != pod->slot->node->id))
            return err_set(err, ERR_INTERNAL,
                           "gang %s: the call of %s is held, but not for the node of its slot",
                           gang->head->key, pod->facts->name);
    }
    if (held != gang->n_held)
        return err_set(err, ERR_INTERNAL, "I3: gang %s: %d held, counted as %d", gang->head->key,
                       held, gang->n_held);
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        slots++;
        const struct pod *pod = slot->pod;
        if (pod ? pod->slot != slot || pod->gang != gang || pod->node || pod->unit != slot->unit
                : !gang->expecting)
            return err_set(err, ERR_INTERNAL, "gang %s: a slot does not match its member",
                           gang->head->key);
    }
    if (slots != gang->n_slots)
        return err_set(err, ERR_INTERNAL, "gang %s: %d slots, counted as %d", gang->head->key,
                       slots, gang->n_slots);
    return 0;
}

/* While a gate must be removed, its timer runs. */
static int check_gates(const struct gang_core *core, struct err *err)
{
    size_t gated = 0;
    map_for_each (e, &core->pods) {
        const struct pod *pod = e->value;
        gated += pod->facts->gated;
        if (core->synced && !core->stopping && gate_is_closed(pod) && gate_opens(core, pod) &&
            !pod->queue.blocked && !pod_timer_is_set(pod, TIMER_GATE))
            return err_set(err, ERR_INTERNAL,
                           "the gate of %s/%s must be removed, but no timer is set for it",
                           pod->facts->ns, pod->facts->name);
    }
    if (gated != core->n_gated)
        return err_set(err, ERR_INTERNAL, "%zu pods have the gate, counted as %zu", gated,
                       core->n_gated);
    return 0;
}

/* Checks core->n_unseen, on which a bound depends. */
static int check_unseen(const struct gang_core *core, struct err *err)
{
    size_t unseen = 0;
    map_for_each (e, &core->pods)
        unseen += ((const struct pod *)e->value)->unseen;
    if (unseen != core->n_unseen)
        return err_set(err, ERR_INTERNAL, "%zu pods are unseen, counted as %zu", unseen,
                       core->n_unseen);
    return 0;
}

/* Checks core->ending, on which the search for victims depends. */
static int check_ending(const struct gang_core *core, struct err *err)
{
    map_for_each (e, &core->pods) {
        const struct pod *pod = e->value;
        bool ends = pod->facts->deleting || pod->eviction.requested;
        if (ends == list_empty(&pod->in_ending))
            return err_set(err, ERR_INTERNAL, "%s/%s %s, but is %s the list of ending pods",
                           pod->facts->ns, pod->facts->name,
                           ends ? "is Terminating or being evicted" : "stays",
                           ends ? "not in" : "in");
    }
    return 0;
}

static int check_calls(const struct gang_core *core, struct err *err)
{
    size_t open = 0;
    map_for_each (e, &core->pods) {
        const struct pod *pod = e->value;
        if (!pod->call)
            continue;
        open++;
        if (core->now - pod->call_since > core->config.hold)
            return err_set(err, ERR_INTERNAL, "I3: the bind call of %s/%s is open beyond its limit",
                           pod->facts->ns, pod->facts->name);
        if (pod->charge == CHARGE_NONE && !pod->held)
            return err_set(err, ERR_INTERNAL,
                           "the bind call of %s/%s is open, but neither held nor being bound",
                           pod->facts->ns, pod->facts->name);
    }
    if (open != map_count(&core->calls))
        return err_set(err, ERR_INTERNAL, "I3: %zu bind calls are open, counted as %zu", open,
                       map_count(&core->calls));
    return 0;
}

/* If a complete gang waits to commit with others, the timer is set and fires before its hold ends.
 */
static int check_batch(const struct gang_core *core, struct err *err)
{
    size_t refused = 0;
    map_for_each (e, &core->pods) {
        const struct pod *pod = e->value;
        refused += pod->queue.rejected && pod->queue.refused;
    }
    if (refused != core->n_refused)
        return err_set(err, ERR_INTERNAL, "%zu pods are refused, counted as %zu", refused,
                       core->n_refused);
    list_for_each (gang, &core->open, struct gang, in_open)
        if (core->synced && !core->stopping && gang->state == GANG_PLANNED && gang->n_held &&
            unit_lacks(gang->root, STAGE_AT_BIND) <= 0 &&
            (!core->due.batch.node.pos || core->batch_end >= gang->timers[TIMER_HOLD].node.at))
            return err_set(err, ERR_INTERNAL,
                           "gang %s is complete at bind, but no timer is set to commit it in time",
                           gang->head->key);
    return 0;
}

int gang_core_check(const struct gang_core *core, struct err *err)
{
    map_for_each (e, &core->nodes)
        if (check_sums(core, e->value, err) < 0 || check_apart(e->value, err) < 0)
            return -1;
    if (check_resources(core, err) < 0 || class_labels_check(core, err) < 0 ||
        classes_check(core, err) < 0 || (!plans_wait(core) && order_check(core, err) < 0) ||
        queues_check(core, err) < 0 || shares_check(core, err) < 0 ||
        nominated_room_check(core, err) < 0 || preempted_room_check(core, err) < 0)
        return -1;
    size_t members = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        if (check_gang(core, gang, err) < 0)
            return -1;
        list_for_each (group, &gang->groups, struct group, in_gang) {
            members += group->n_members;
            if (group->gang != gang)
                return err_set(err, ERR_INTERNAL, "PodGroup %s belongs to two gangs", group->key);
        }
        list_for_each (pod, &gang->members, struct pod, in_gang) {
            members--;
            if (pod->gang != gang || pod->group->gang != gang)
                return err_set(err, ERR_INTERNAL, "pod %s belongs to two gangs", pod->facts->name);
        }
    }
    if (members)
        return err_set(err, ERR_INTERNAL, "PodGroups count %zu members too many", members);
    return check_gates(core, err) < 0 || check_unseen(core, err) < 0 ||
                   check_ending(core, err) < 0 || check_batch(core, err) < 0 ||
                   hold_quota_check(core, err) < 0
               ? -1
               : check_calls(core, err);
}
