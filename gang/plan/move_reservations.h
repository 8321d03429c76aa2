/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_reservations.h - displaces slots that no longer fit on their nodes, or whose room a pod
 * needs.
 *
 * The step calls displaced_slots_settle() after it has taken facts, and again after it has answered
 * calls. The verb bind makes room for the pod of its call. If a pod turns out to be bound
 * elsewhere, room is made on that node.
 */
#ifndef MUSTER_GANG_PLAN_MOVE_RESERVATIONS_H
#define MUSTER_GANG_PLAN_MOVE_RESERVATIONS_H

#include "gang/cluster/lookup.h"

/* Moves the slot, with its member, to a node that has room for it. Returns the new slot. */
struct slot *slot_move(struct gang_core *core, struct slot *slot, struct node *to);
/* Moves the slot to another feasible node. If there is none, or if the member is pinned, releases
 * the slot and marks its gang to be planned again. */
void slot_displace(struct gang_core *core, struct slot *slot);
/* Checks the marked nodes (node_recheck_slots()) and displaces slots that do not fit there. */
void displaced_slots_settle(struct gang_core *core);
/* Displaces slots of the node until the other slots fit. */
void node_displace_excess(struct gang_core *core, struct node *node);
/* Makes room for the pod on the node, by displacing slots whose members are not at bind. A slot of
 * a gang with a lower priority than the pod need not find another node. False: the pod does not
 * fit. */
bool node_displace_for(struct gang_core *core, struct node *node, const struct pod *pod);

#endif
