/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/move_reservations.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reach.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/volume_claims.h"
#include "gang/plan/node_score.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"

struct slot *slot_move(struct gang_core *core, struct slot *slot, struct node *to)
{
    struct gang *gang = slot->gang;
    struct pod *pod = slot->pod;
    struct unit *unit = slot->unit;
    struct signature *signature = signature_ref(slot->signature);
    slot_release(core, slot, REASON_SLOT_MOVED);
    slot = slot_add(core, gang, unit, signature, to);
    if (pod)
        slot_fill(core, slot, pod);
    signature_unref(core, signature);
    core->stats.slots_displaced++;
    return slot;
}

void slot_displace(struct gang_core *core, struct slot *slot)
{
    struct gang *gang = slot->gang;
    struct pod *pod = slot->pod;
    triggered(core, gang, TRIGGER_ROOM_LESS);
    bool tied = pod && pinned_node(core, pod);
    struct node *to = tied ? NULL : plan_node(core, gang, slot->signature, slot->node);
    gang_touch(core, gang);
    if (!to) {
        slot_release(core, slot, REASON_SLOT_MOVED);
        gang_plan_again(gang); /* the next planning pass completes the plan or drops all of it */
        return;
    }
    slot_move(core, slot, to);
    if (pod && (pod->queue.rejected || pod->nominated))
        nominate(core, pod, to);
}

/* How far the slot's member is. 0: expected; 1: not filtered yet; 2: on its way; 3: at bind. */
static int progress(const struct slot *slot)
{
    return !slot->pod ? 0 : slot->pod->held ? 3 : slot->pod->sent ? 2 : 1;
}

/* Of two slots, the one to displace first: with less progress, or of the gang later in the order.
 */
static struct slot *later(struct slot *a, struct slot *b)
{
    int p = progress(a), q = progress(b);
    if (p != q)
        return p < q ? a : b;
    return by_order(&a->gang, &b->gang) > 0 ? a : b;
}

void node_displace_excess(struct gang_core *core, struct node *node)
{
    for (;;) {
        struct slot *first = NULL;
        list_for_each (slot, &node->slots, struct slot, in_node)
            if (slot_in_excess(slot))
                first = first ? later(slot, first) : slot;
        if (!first)
            return;
        slot_displace(core, first);
    }
}

/* Displaces slots for which rules about nodes exclude the node now. */
static void displace_unfit(struct gang_core *core, struct node *node)
{
    bool again = true;
    while (again) {
        again = false;
        list_for_each (slot, &node->slots, struct slot, in_node)
            if (!node->facts || signature_refusal(slot->signature, node)) {
                slot_displace(core, slot);
                again = true; /* the list may have changed, so start again */
                break;
            }
    }
}

void displaced_slots_settle(struct gang_core *core)
{
    struct node *node;
    while ((node = recheck_slots_take(core)) != NULL) {
        displace_unfit(core, node);
        node_displace_excess(core, node);
    }
}

/* The slot to displace first for the pod: a slot of a gang with a lower priority than the pod, or
 * else a slot that can move to another node; NULL: none. */
static struct slot *first_to_leave(struct gang_core *core, struct node *node, const struct pod *pod)
{
    struct reach lower = pod_reach(core, pod);
    lower.displace = DISPLACE_LOWER;
    struct slot *first = NULL, *yields = NULL;
    list_for_each (slot, &node->slots, struct slot, in_node) {
        if (progress(slot) == 3 || !slot_in_way(slot, pod->signature))
            continue;
        first = first ? later(slot, first) : slot;
        if (slot_yields(slot, &lower))
            yields = yields ? later(slot, yields) : slot;
    }
    if (yields)
        return yields;
    return first && plan_node(core, first->gang, first->signature, node) ? first : NULL;
}

bool node_displace_for(struct gang_core *core, struct node *node, const struct pod *pod)
{
    struct reach now = pod_reach(core, pod);
    now.respects_earmark = false;
    struct reach all = now;
    all.displace = DISPLACE_ALL;
    while (!node_takes(node, pod, &now)) {
        bool helps = node_takes(node, pod, &all);
        struct slot *first = helps ? first_to_leave(core, node, pod) : NULL;
        if (!first)
            return false;
        slot_displace(core, first);
    }
    return true;
}
