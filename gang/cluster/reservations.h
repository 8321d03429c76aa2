/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reservations.h - a member's place in a plan: reserved, filled, given up.
 */
#ifndef MUSTER_GANG_CLUSTER_RESERVATIONS_H
#define MUSTER_GANG_CLUSTER_RESERVATIONS_H

#include "gang/cluster/lookup.h"

struct slot *slot_add(struct gang_core *core, struct gang *gang, struct unit *unit,
                      struct signature *signature, struct node *node);
/* The pod takes the slot, which was expected to be filled. */
void slot_fill(struct gang_core *core, struct slot *slot, struct pod *pod);
/* The same in a trial, which is not what its snubs end with. */
void slot_take(struct gang_core *core, struct slot *slot, struct pod *pod);
/* Its pod counts in another unit now. */
void slot_recount(struct slot *slot);
/* The pod is nominated there because the node was not offered. */
void slot_steer(struct slot *slot);
/* A whole list for a member of its signature had the node, or lacked it. */
void slot_vouch(struct slot *slot, bool offered);
/* Its pod is to have another slot; returns it, NULL: it was expected. */
struct pod *slot_empty(struct slot *slot);
/* For a trial: takes the slot away, and puts it back where it stood in its lists. */
struct slot_place {
    struct list *in_gang, *in_node;
};
struct slot_place slot_lift(struct gang_core *core, struct slot *slot);
void slot_lower(struct gang_core *core, struct slot *slot, const struct slot_place *was);
/* The reservation ends, to become a charge or as if it had never been. */
void slot_free(struct gang_core *core, struct slot *slot);
/* The slot's pod has another signature now, that needs the same. */
void slot_signature_update(struct gang_core *core, struct slot *slot, struct signature *signature);
/* The place is given up: its room is free, a held call is answered with the code's sentence. */
void slot_release(struct gang_core *core, struct slot *slot, enum gang_reason_code why);
/* All places of the gang; what its members were nominated to is taken back. */
void slots_release(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

#endif
