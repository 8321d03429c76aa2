/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_reservations.h - moves slots off nodes where they no longer fit, or where a pod needs the
 * room.
 */
#ifndef MUSTER_GANG_PLAN_MOVE_RESERVATIONS_H
#define MUSTER_GANG_PLAN_MOVE_RESERVATIONS_H

#include "gang/cluster/lookup.h"

/* Moves a slot to another feasible node. If there is none, the slot is released and its gang
 * planned again. */
void slot_displace(struct gang_core *core, struct slot *slot);
/* Rechecks nodes that changed and moves slots off them until the others fit. */
void displaced_slots_settle(struct gang_core *core);
/* Moves slots off a node until none of them is in excess. */
void node_displace_excess(struct gang_core *core, struct node *node);
/* Frees room for the pod: moves slots whose members are not at bind. Slots of gangs with a lower
 * priority are released if they cannot move. False: the pod does not fit. */
bool node_displace_for(struct gang_core *core, struct node *node, const struct pod *pod);

#endif
