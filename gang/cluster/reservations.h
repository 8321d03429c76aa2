/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reservations.h - the slots of plans: reserved, filled, released.
 */
#ifndef MUSTER_GANG_CLUSTER_RESERVATIONS_H
#define MUSTER_GANG_CLUSTER_RESERVATIONS_H

#include "gang/cluster/lookup.h"

struct slot *slot_add(struct gang_core *core, struct gang *gang, struct unit *unit,
                      struct signature *signature, struct node *node);
/* The pod takes the slot, which was expected. */
void slot_fill(struct gang_core *core, struct slot *slot, struct pod *pod);
/* The same in a trial: its count of early rejections does not restart. */
void slot_take(struct gang_core *core, struct slot *slot, struct pod *pod);
/* The slot's pod now counts in another unit. */
void slot_recount(struct slot *slot);
/* The pod is nominated there because kube-scheduler did not offer the node. */
void slot_steer(struct slot *slot);
/* A complete list for its signature had the node, or lacked it. */
void slot_note_offer(struct slot *slot, bool offered);
/* Takes the pod off the slot; returns it, or NULL if the slot was expected. */
struct pod *slot_empty(struct slot *slot);
/* For a trial: removes the slot, and puts it back at its old list positions. */
struct slot_place {
    struct list *in_gang, *in_node;
};
struct slot_place slot_lift(struct gang_core *core, struct slot *slot);
void slot_lower(struct gang_core *core, struct slot *slot, const struct slot_place *was);
/* Ends the reservation, whether it becomes a charge or nothing. */
void slot_free(struct gang_core *core, struct slot *slot);
/* The slot's pod has a new signature with the same needs. */
void slot_signature_update(struct gang_core *core, struct slot *slot, struct signature *signature);
/* Releases the slot: frees its room and answers a held call with the code's sentence. */
void slot_release(struct gang_core *core, struct slot *slot, enum gang_reason_code why);
/* Releases all slots of the gang and clears its members' nominations. */
void slots_release(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

#endif
