/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_tree.h - the tree of queues: parents, levels, limits by resource number, and faults.
 *
 * For queues.c, which settles the tree when queue objects have changed. That costs what depends on
 * these objects: a queue that came, went or named another parent gets its parent again, and so do
 * the queues below it. If only other fields changed, then only its own limits change, and its
 * faults and those of its children. What the queues use moves with them (queue_count_branch()).
 */
#ifndef MUSTER_GANG_QUEUE_QUEUE_TREE_H
#define MUSTER_GANG_QUEUE_QUEUE_TREE_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* Attaches the queue directly below the root. */
void queue_tree_join(struct gang_core *core, struct queue *queue);
/* The queue names this one as its parent; NULL: none. */
void queue_tree_name(struct queue *queue, struct queue *named);
/* Sets the limits, parents and faults of the edited queues, and of those that depend on them. */
void queue_tree_settle(struct gang_core *core);
/* Frees what the tree gave the queue. */
void queue_tree_leave(struct gang_core *core, struct queue *queue);
/* Whether any queue states something about GANG_ANY_GPU. */
void queue_tree_any_gpu(struct gang_core *core, bool any);
/* The lowest common ancestor's child on each side; false: one is the other, or above it. */
bool queue_branches(struct queue **a, struct queue **b);
/* The queue has the parent, limits and fault that follow from all facts. */
int queue_tree_check(const struct gang_core *core, const struct queue *queue, struct err *err);

#endif
