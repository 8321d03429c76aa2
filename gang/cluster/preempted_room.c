/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/preempted_room.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reach.h"
#include "gang/cluster/signatures.h"
#include "gang/inter_pod_rules.h"

static void changed(struct gang_core *core, struct node *node)
{
    node_reclassify(core, node);
    layout_new(core);
}

void preempted_room_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                        struct node *node)
{
    struct slot *slot = xcalloc(1, sizeof *slot);
    slot->gang = gang;
    slot->node = node;
    slot->signature = signature_ref(signature);
    slot->made = core->now;
    slot->awaits = true;
    if (!gang->room_since)
        gang->room_since = clock_next(core);
    list_push(&gang->preempted_room, &slot->in_gang);
    list_push(&node->preempted_room, &slot->in_node);
    node->n_preempted_room++;
    core->n_preempted_room++;
    queue_count_slot(core, slot);
    changed(core, node);
}

void preempted_slot_count(struct gang_core *core, struct slot *slot)
{
    queue_uncount_slot(core, slot);
    slot->awaits = false;
    queue_count_slot(core, slot);
}

static void preempted_slot_free(struct gang_core *core, struct slot *slot)
{
    queue_uncount_slot(core, slot);
    list_remove(&slot->in_gang);
    list_remove(&slot->in_node);
    slot->node->n_preempted_room--;
    core->n_preempted_room--;
    changed(core, slot->node);
    node_may_be_unused(core, slot->node);
    signature_unref(core, slot->signature);
    free(slot);
}

void preempted_room_lift(struct gang_core *core, struct gang *gang)
{
    list_for_each_safe (slot, &gang->preempted_room, struct slot, in_gang)
        preempted_slot_free(core, slot);
}

void preempted_room_end(struct gang_core *core, struct gang *gang)
{
    gang->room_since = 0;
    if (!has_preempted_room(gang))
        return;
    preempted_room_lift(core, gang);
    room_grew(core); /* for gangs and pods that had to leave it free */
}

void preempted_room_leave(struct gang_core *core, struct node *node)
{
    list_for_each_safe (slot, &node->preempted_room, struct slot, in_node)
        preempted_slot_free(core, slot);
}

/* Whether the gang has members whose topology spread slot_keeps_spread() protected. */
static bool kept_spread(const struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->signature->spread)
            return true;
    return false;
}

void gang_takes_room(struct gang_core *core, struct gang *gang, bool takes)
{
    if (gang->takes_room == takes)
        return;
    gang->takes_room = takes;
    core->n_takers += takes ? 1 : -1;
    preempted_room_reclassify(core, gang);
    if (!takes && kept_spread(gang))
        room_grew(core); /* for gangs and pods that the spread counts */
}

void preempted_room_reclassify(struct gang_core *core, struct gang *gang)
{
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang)
        changed(core, slot->node);
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (slot->signature->spread)
            changed(core, slot->node);
}

int64_t preempted_amount(const struct node *node, uint32_t resource, const struct reach *reach)
{
    int64_t sum = 0;
    list_for_each (slot, &node->preempted_room, struct slot, in_node)
        if (room_is_kept(slot, reach) &&
            __builtin_add_overflow(sum, signature_need(slot->signature, resource), &sum))
            return INT64_MAX / 2;
    return sum;
}

/* ---- rules between pods ---- */

static bool ports_or_anti_affinity_conflict(const struct node *node, const struct gang_pod_facts *a,
                                            const struct gang_pod_facts *b)
{
    return gang_pods_conflict(a, b) ||
           (gang_is_host(node->facts) &&
            (gang_anti_affinity_forbids(a, b) || gang_anti_affinity_forbids(b, a)));
}

/* Whether a topology spread of `member` counts the other pod on the node. */
static bool spread_counts(const struct node *node, const struct gang_pod_facts *member,
                          const struct gang_pod_facts *other)
{
    for (size_t i = 0; i < member->n_spreads; i++)
        if (gang_spread_covers(&member->spreads[i], member, node->facts) &&
            gang_spread_counts(&member->spreads[i], member, other))
            return true;
    return false;
}

bool kept_slot_excludes(const struct slot *slot, const struct gang_pod_facts *who)
{
    const struct signature *own = slot->signature;
    bool direct = who->n_host_ports || own->anti_affinity || who->n_anti_affinity;
    const struct gang_pod_facts *member =
        slot->node->facts && (direct || own->spread) ? signature_sample(own) : NULL;
    return member && ((direct && ports_or_anti_affinity_conflict(slot->node, member, who)) ||
                      spread_counts(slot->node, member, who));
}

/* Whether `who` would keep out the member of a slot in the list, whose room `reach` must leave
 * free. `planned`: only slots that keep their spread. */
static bool excludes_any(const struct list *slots, bool planned, const struct gang_pod_facts *who,
                         const struct reach *reach)
{
    const struct slot *last = NULL;
    list_for_each (slot, slots, struct slot, in_node) {
        bool alike = slots_alike(last, slot);
        last = slot;
        if (!alike && (!planned || slot_keeps_spread(slot)) && slot->gang != reach->gang &&
            room_is_kept(slot, reach) && kept_slot_excludes(slot, who))
            return true;
    }
    return false;
}

bool preempted_rules_conflict(const struct node *node, const struct gang_pod_facts *who,
                              const struct reach *reach)
{
    return excludes_any(&node->preempted_room, /* planned= */ false, who, reach) ||
           excludes_any(&node->slots, /* planned= */ true, who, reach);
}

const struct gang *keeper_first(const struct gang *gang, const struct gang *other)
{
    if (!gang || !other || gang == other)
        return gang ? gang : other;
    if (gang->room_since != other->room_since)
        return gang->room_since < other->room_since ? gang : other;
    return strcmp(gang->head->key, other->head->key) < 0 ? gang : other;
}

const struct gang *preempted_room_owner(const struct node *node, const struct reach *reach)
{
    const struct gang *owner = NULL;
    list_for_each (slot, &node->preempted_room, struct slot, in_node)
        if (room_is_kept(slot, reach))
            owner = keeper_first(owner, slot->gang);
    if (owner)
        return owner;
    list_for_each (slot, &node->slots, struct slot, in_node)
        if (slot->gang->takes_room && room_is_kept(slot, reach))
            owner = keeper_first(owner, slot->gang); /* it has a plan there now */
    return owner;
}

int preempted_room_check(const struct gang_core *core, struct err *err)
{
    size_t n = 0, on_nodes = 0, takers = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        takers += gang->takes_room;
        list_for_each (slot, &gang->preempted_room, struct slot, in_gang)
            n++;
        if (has_preempted_room(gang) && (gang->n_slots || gang->halted))
            return err_set(err, ERR_INTERNAL, "gang %s has a plan or is halted, but keeps room",
                           gang->head->key);
    }
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        size_t here = 0;
        list_for_each (slot, &node->preempted_room, struct slot, in_node)
            here++;
        if (here != node->n_preempted_room)
            return err_set(err, ERR_INTERNAL, "node %s: %zu slots of preempted room, not %zu",
                           node->name, here, node->n_preempted_room);
        on_nodes += here;
    }
    if (n != core->n_preempted_room || on_nodes != n)
        return err_set(err, ERR_INTERNAL,
                       "%zu slots of preempted room, %zu on nodes, counted as %zu", n, on_nodes,
                       core->n_preempted_room);
    if (takers != core->n_takers)
        return err_set(err, ERR_INTERNAL, "%zu gangs take room, counted as %zu", takers,
                       core->n_takers);
    return 0;
}
