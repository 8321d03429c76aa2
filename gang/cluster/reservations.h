/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reservations.h - reserves, fills and releases the slots of plans.
 *
 * slot_add() creates a slot, which counts against its node. A slot ends in slot_free() when its
 * member is charged to the node, or in slot_release() when the member gets nothing.
 */
#ifndef MUSTER_GANG_CLUSTER_RESERVATIONS_H
#define MUSTER_GANG_CLUSTER_RESERVATIONS_H

#include "gang/cluster/lookup.h"

struct slot *slot_add(struct gang_core *core, struct gang *gang, struct unit *unit,
                      struct signature *signature, struct node *node);
/* The same, but its queue does not count it yet; see queue_batch_add(). */
struct slot *slot_add_uncounted(struct gang_core *core, struct gang *gang, struct unit *unit,
                                struct signature *signature, struct node *node);
/* Gives the slot, which has no pod, to the pod. */
void slot_fill(struct gang_core *core, struct slot *slot, struct pod *pod);
/* The same in a trial. Earlier early rejections of the pod still count. */
void slot_take(struct gang_core *core, struct slot *slot, struct pod *pod);
/* Sets the slot's unit to the unit of its pod, which has changed. */
void slot_recount(struct slot *slot);
/* muster nominates the slot's member to the node, because kube-scheduler did not offer it. */
void slot_steer(struct slot *slot);
/* A complete list for a pod of the slot's signature contains the node, or lacks it. */
void slot_note_offer(struct slot *slot, bool offered);
/* Removes the pod from the slot and returns it; NULL: the slot had none. */
struct pod *slot_empty(struct slot *slot);
/* For a trial: removes the slot; puts it back at its old positions in the lists. */
struct slot_position {
    struct list *in_gang, *in_node;
};
struct slot_position slot_lift(struct gang_core *core, struct slot *slot);
void slot_lower(struct gang_core *core, struct slot *slot, const struct slot_position *was);
/* Ends the reservation and frees the slot. Its pod's call must not be held. */
void slot_free(struct gang_core *core, struct slot *slot);
/* Changes the slot's signature to one with the same needs. */
void slot_signature_update(struct gang_core *core, struct slot *slot, struct signature *signature);
/* Answers the held call of the slot's pod with the sentence of the code, and frees the slot. */
void slot_release(struct gang_core *core, struct slot *slot, enum gang_reason_code why);
/* Releases all slots of the gang, and clears the nominations of its unbound members. */
void slots_release(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

#endif
