/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_nodes.h - what changed about a node, for those who look at it later.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_NODES_H
#define MUSTER_GANG_CLUSTER_DIRTY_NODES_H

#include "gang/cluster/objects.h"

/* Room grew by our count: somewhere, on this node, on this node by what the scheduler knows too. */
void room_grew(struct gang_core *core);
void node_freed(struct gang_core *core, struct node *node);
void node_changed(struct gang_core *core, struct node *node);
/* A pod has left it so short a time ago that kube-scheduler's offers may not show it. */
bool node_just_freed(const struct gang_core *core, const struct node *node);
/* Somebody came, went, or has other labels; or the node has. */
void node_crowd(struct gang_core *core, struct node *node);
/* Something that its class goes by may have changed: in the ledger, its facts, who is there. */
void node_moved(struct gang_core *core, struct node *node);
/* Slots on the node may not fit any more, see slots_settle(). */
void node_doubt(struct gang_core *core, struct node *node);
/* The pod is on a node, or may be on its way to one: who keeps others out of a wider domain is
 * remembered, anew each time. */
void shunning_begin(struct gang_core *core, struct pod *pod);

#endif
