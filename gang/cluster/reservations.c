/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/reservations.h"

#include "base/must.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/refusal_text.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"

struct slot *slot_add_uncounted(struct gang_core *core, struct gang *gang, struct unit *unit,
                                struct signature *signature, struct node *node)
{
    struct slot *slot = xcalloc(1, sizeof *slot);
    core->n_slots++;
    slot->gang = gang;
    slot->made = core->now;
    slot->unit = unit;
    slot->node = node;
    slot->signature = signature_ref(signature);
    list_push(&gang->slots, &slot->in_gang);
    gang->n_slots++;
    gang_recount(gang);
    list_push(&node->slots, &slot->in_node);
    node->n_slots++;
    node_joined(core, node, slot->signature, 1);
    amounts_add(core, &node->reserved, slot->signature, 1);
    return slot;
}

struct slot *slot_add(struct gang_core *core, struct gang *gang, struct unit *unit,
                      struct signature *signature, struct node *node)
{
    struct slot *slot = slot_add_uncounted(core, gang, unit, signature, node);
    queue_count_slot(core, slot);
    return slot;
}

void slot_take(struct gang_core *core, struct slot *slot, struct pod *pod)
{
    MUST(!slot->pod && slot->gang == pod->gang);
    MUST(!pod->slot && !pod->node); /* one slot per member */
    slot->pod = pod;
    slot->unit = pod->unit;
    slot->steered = false;
    pod->slot = slot;
    gang_recount(slot->gang);
    nominated_room_update(core, pod);
}

void slot_fill(struct gang_core *core, struct slot *slot, struct pod *pod)
{
    slot_take(core, slot, pod);
    queue_early_rejections_over(pod);
}

void slot_recount(struct slot *slot)
{
    slot->unit = slot->pod->unit;
    gang_recount(slot->gang);
}

void slot_steer(struct slot *slot)
{
    slot->steered = true;
}

void slot_note_offer(struct slot *slot, bool offered)
{
    slot->unoffered = !offered;
}

struct pod *slot_empty(struct slot *slot)
{
    struct pod *pod = STEAL(slot->pod);
    if (pod)
        pod->slot = NULL;
    gang_recount(slot->gang);
    return pod;
}

struct slot_position slot_lift(struct gang_core *core, struct slot *slot)
{
    struct slot_position was = {slot->in_gang.next, slot->in_node.next};
    core->n_slots--;
    queue_uncount_slot(core, slot);
    amounts_add(core, &slot->node->reserved, slot->signature, -1);
    list_remove(&slot->in_node);
    slot->node->n_slots--;
    node_joined(core, slot->node, slot->signature, -1);
    list_remove(&slot->in_gang);
    slot->gang->n_slots--;
    gang_recount(slot->gang);
    return was;
}

void slot_lower(struct gang_core *core, struct slot *slot, const struct slot_position *was)
{
    core->n_slots++;
    queue_count_slot(core, slot);
    amounts_add(core, &slot->node->reserved, slot->signature, 1);
    list_push(was->in_node, &slot->in_node);
    slot->node->n_slots++;
    node_joined(core, slot->node, slot->signature, 1);
    list_push(was->in_gang, &slot->in_gang);
    slot->gang->n_slots++;
    gang_recount(slot->gang);
}

void slot_free(struct gang_core *core, struct slot *slot)
{
    struct node *node = slot->node;
    core->n_slots--;
    queue_uncount_slot(core, slot);
    amounts_add(core, &node->reserved, slot->signature, -1);
    list_remove(&slot->in_node);
    node->n_slots--;
    node_joined(core, node, slot->signature, -1);
    list_remove(&slot->in_gang);
    slot->gang->n_slots--;
    gang_recount(slot->gang);
    if (slot->pod) {
        MUST(slot->pod->slot == slot && !slot->pod->held); /* a held call needs its slot */
        slot->pod->slot = NULL;
        nominated_room_update(core, slot->pod);
    }
    signature_unref(core, slot->signature);
    free(slot);
    node_may_be_unused(core, node);
}

void slot_signature_update(struct gang_core *core, struct slot *slot, struct signature *signature)
{
    node_joined(core, slot->node, slot->signature, -1);
    signature_unref(core, slot->signature);
    slot->signature = signature_ref(signature);
    node_joined(core, slot->node, slot->signature, 1);
}

void slot_release(struct gang_core *core, struct slot *slot, enum gang_reason_code why)
{
    struct node *node = slot->node;
    struct pod *pod = slot->pod;
    /* kube-scheduler does not see reservations. Its own cache changes only if it has assumed the
     * pod. */
    bool assumed = pod && (pod->held || pod->sent);
    if (pod && pod->held)
        reply_bind(core, pod, reason_call(core, why, slot->gang, pod->facts, node->name));
    if (pod)
        on_its_way(pod, false);
    slot_free(core, slot);
    if (assumed)
        node_changed(core, node);
    else
        node_freed(core, node);
}

void slots_release(struct gang_core *core, struct gang *gang, enum gang_reason_code why)
{
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        slot_release(core, slot, why);
    nominations_clear(core, gang);
}
