/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displaced_slots.h - slots leave a node for another.
 */
#ifndef MUSTER_GANG_PLAN_DISPLACED_SLOTS_H
#define MUSTER_GANG_PLAN_DISPLACED_SLOTS_H

#include "gang/cluster/lookup.h"

/* A slot must leave its node: to another that fits, else the gang is one short and is planned
 * again. */
void slot_displace(struct gang_core *core, struct slot *slot);
/* Slots leave the nodes in doubt until those that are left fit. */
void displaced_slots_settle(struct gang_core *core);
/* Moves slots off a node until none of them is in excess. */
void node_displace_excess(struct gang_core *core, struct node *node);
/* Frees room for the pod: slots whose member is not at bind move, and where they cannot, those of
 * gangs of a lower priority are given up. */
bool node_displace_for(struct gang_core *core, struct node *node, const struct pod *pod);

#endif
