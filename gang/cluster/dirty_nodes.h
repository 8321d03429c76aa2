/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_nodes.h - marks on changed nodes, for the later parts of the step.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_NODES_H
#define MUSTER_GANG_CLUSTER_DIRTY_NODES_H

#include "gang/cluster/lookup.h"

/* The content of the nodes gets a new layout number, or returns to that of an earlier one. */
void layout_new(struct gang_core *core);
void layout_restore(struct gang_core *core, uint64_t layout);
/* Room grew: somewhere; on this node in muster's ledger; on this node also in kube-scheduler's
 * cache. */
void room_grew(struct gang_core *core);
void node_freed(struct gang_core *core, struct node *node);
void node_changed(struct gang_core *core, struct node *node);
/* A pod left the node so recently that kube-scheduler's offers may not show it yet. */
bool node_just_freed(const struct gang_core *core, const struct node *node);
/* Returns the next number of core->marks.clock. */
uint64_t clock_next(struct gang_core *core);
/* Something changed on the node that a rule reads. */
void node_touch(struct gang_core *core, struct node *node);
/* Until marks_resume(), changes belong to a trial and set no marks. */
void marks_pause(struct gang_core *core);
void marks_resume(struct gang_core *core);
/* For a trial: sets node->marks.changed. With a new clock, earlier refusals no longer hold. */
void node_changed_at(struct node *node, uint64_t clock);
/* The node is new: no refusal holds for it. */
void node_is_new(const struct gang_core *core, struct node *node);
/* A pod or slot on the node is gone: a deleted node may be unused now, see nodes_sweep(). */
void node_may_be_unused(struct gang_core *core, const struct node *node);
void nodes_swept(struct gang_core *core);
/* Its rules must be read again for its class; they have been read. */
void node_rules_changed(struct node *node);
void node_rules_known(struct node *node);
/* A pod on the node came, went or changed its labels, or the node's labels changed. */
void node_pods_changed(struct gang_core *core, struct node *node);
/* Something that decides its class may have changed, such as its ledger, facts or pods. */
void node_reclassify(struct gang_core *core, struct node *node);
/* Takes the next marked node; NULL: none. */
struct node *reclassify_take(struct gang_core *core);
/* Slots on the node may no longer fit, see displaced_slots_settle(). */
void node_recheck_slots(struct gang_core *core, struct node *node);
/* Takes the next marked node; NULL: none. */
struct node *recheck_slots_take(struct gang_core *core);
/* The pod is on a node or may soon be: lists its wide anti-affinity under a new seq. */
void wide_anti_affinity_begin(struct gang_core *core, struct pod *pod);
void wide_anti_affinity_end(struct pod *pod);

#endif
