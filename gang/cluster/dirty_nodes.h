/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_nodes.h - marks on changed nodes. Later parts of the step read the marks.
 *
 * The cluster cache marks a node when its room, pods, labels or facts change: it must not call the
 * rooms that act on this. node_classes.c and move_reservations.c take the marked nodes. Other files
 * compare clock numbers to find out whether room grew since they last looked.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_NODES_H
#define MUSTER_GANG_CLUSTER_DIRTY_NODES_H

#include "gang/cluster/lookup.h"

/* The content of some node changed, so the layout gets a new number. */
void layout_new(struct gang_core *core);
/* A trial was reverted, so the layout gets its earlier number back. */
void layout_restore(struct gang_core *core, uint64_t layout);
/* Room grew somewhere. */
void room_grew(struct gang_core *core);
/* Room grew on the node, in muster's ledger. */
void node_freed(struct gang_core *core, struct node *node);
/* Room grew on the node, in muster's ledger and in kube-scheduler's cache. */
void node_changed(struct gang_core *core, struct node *node);
/* Whether a pod left the node so recently that kube-scheduler may not have seen it yet. */
bool node_just_freed(const struct gang_core *core, const struct node *node);
/* Returns the next number of core->marks.clock. */
uint64_t clock_next(struct gang_core *core);
/* Something that rules read changed on the node. */
void node_touch(struct gang_core *core, struct node *node);
/* Until marks_resume(), changes belong to a trial and set no marks. */
void marks_pause(struct gang_core *core);
void marks_resume(struct gang_core *core);
/* Until dry_run_ends(), the pods and PodGroups that come and go are those of a dry run. They change
 * nothing that outlives them: no marks, no rule labels, no class labels. */
void dry_run_begins(struct gang_core *core);
void dry_run_ends(struct gang_core *core);
/* For a trial: sets node->marks.changed. After a newer change, the node is not infeasible. */
void node_changed_at(struct node *node, uint64_t clock);
/* The node is new, so it is not infeasible. */
void node_is_new(const struct gang_core *core, struct node *node);
/* A pod or slot left the node. If the node is deleted, nodes_sweep() may be able to free it now. */
void node_may_be_unused(struct gang_core *core, const struct node *node);
void nodes_swept(struct gang_core *core);
/* The part of the node's class key for taints and labels must be computed again. */
void node_rules_changed(struct node *node);
/* That part is up to date. */
void node_rules_known(struct node *node);
/* A pod or slot joined or left the node, the labels of a pod there changed, or the node's own
 * labels changed. */
void node_pods_changed(struct gang_core *core, struct node *node);
/* The node is about to be freed. */
void node_forget_marks(struct gang_core *core, struct node *node);
/* Something that decides the node's class may have changed, such as its ledger, facts or pods. */
void node_reclassify(struct gang_core *core, struct node *node);
/* Takes the next marked node; NULL: none. */
struct node *reclassify_take(struct gang_core *core);
/* Slots on the node may no longer fit, see displaced_slots_settle(). */
void node_recheck_slots(struct gang_core *core, struct node *node);
/* Takes the next marked node; NULL: none. */
struct node *recheck_slots_take(struct gang_core *core);
/* The pod is on a node, or may be soon. If it has wide anti-affinity, it is listed with a new
 * seq. */
void wide_anti_affinity_begin(struct gang_core *core, struct pod *pod);
void wide_anti_affinity_end(struct pod *pod);

#endif
