/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_nodes.h - what changed about a node, for those who look at it later.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_NODES_H
#define MUSTER_GANG_CLUSTER_DIRTY_NODES_H

#include "gang/cluster/lookup.h"

/* What is on the nodes is another thing than ever before; or the same again as under that number.
 */
void layout_new(struct gang_core *core);
void layout_back(struct gang_core *core, uint64_t layout);
/* Room grew by our count: somewhere, on this node, on this node by what the scheduler knows too. */
void room_grew(struct gang_core *core);
void node_freed(struct gang_core *core, struct node *node);
void node_changed(struct gang_core *core, struct node *node);
/* A pod has left it so short a time ago that kube-scheduler's offers may not show it. */
bool node_just_freed(const struct gang_core *core, const struct node *node);
/* The next number of a change of the picture. */
uint64_t clock_next(struct gang_core *core);
/* Something about it changed that a rule looks at. */
void node_touch(struct gang_core *core, struct node *node);
/* What happens until marks_resume() is a trial, and stirs nothing. */
void marks_pause(struct gang_core *core);
void marks_resume(struct gang_core *core);
/* For a trial: what kube-scheduler refused before that goes no more. */
void node_changed_at(struct node *node, uint64_t clock);
/* Nobody has refused it yet. */
void node_is_new(const struct gang_core *core, struct node *node);
/* Something charged or reserved there is gone: a deleted node may be bare now, see nodes_sweep().
 */
void node_may_be_unused(struct gang_core *core, const struct node *node);
void nodes_swept(struct gang_core *core);
/* Its class has to look at its rules again; it has. */
void node_rules_changed(struct node *node);
void node_rules_known(struct node *node);
/* Somebody came, went, or has other labels; or the node has. */
void node_pods_changed(struct gang_core *core, struct node *node);
/* Something that its class goes by may have changed: in the ledger, its facts, who is there. */
void node_reclassify(struct gang_core *core, struct node *node);
/* The next of those; NULL: there is none. */
struct node *reclassify_take(struct gang_core *core);
/* Slots on the node may not fit any more, see displaced_slots_settle(). */
void node_recheck_slots(struct gang_core *core, struct node *node);
/* The next of those; NULL: there is none. */
struct node *recheck_slots_take(struct gang_core *core);
/* The pod is on a node, or may be on its way to one: who keeps others out of a wider domain is
 * remembered, anew each time. */
void wide_anti_affinity_begin(struct gang_core *core, struct pod *pod);
void wide_anti_affinity_end(struct pod *pod);

#endif
