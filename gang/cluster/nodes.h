/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - nodes from the watch, and nodes that only pods name.
 *
 * A node is created when the watch shows it or a bound pod names it. When its object is gone and
 * nothing is charged or reserved on it any more, nodes_sweep() frees it at the end of the step.
 * step.c calls the functions for events; trials borrow nodes through trial.h.
 */
#ifndef MUSTER_GANG_CLUSTER_NODES_H
#define MUSTER_GANG_CLUSTER_NODES_H

#include "gang/cluster/lookup.h"

void on_node_set(struct gang_core *core, struct gang_node_facts *facts);
void on_node_gone(struct gang_core *core, const char *name);
/* Returns the node. If it is unknown, creates it without facts. */
struct node *node_get(struct gang_core *core, const char *name);
/* Frees the node, on which nothing may be charged or reserved. */
void node_drop(struct gang_core *core, struct node *node);
void nodes_sweep(struct gang_core *core);
/* For a trial: adds an empty node that borrows the facts of `like`. */
struct node *node_trial_add(struct gang_core *core, const struct node *like);
/* Removes such a node. n_ids: core->n_ids before it was added. */
void node_trial_remove(struct gang_core *core, struct node *node, size_t n_ids);

#endif
