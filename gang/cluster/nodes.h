/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - nodes from the watch, and nodes that only pods name.
 */
#ifndef MUSTER_GANG_CLUSTER_NODES_H
#define MUSTER_GANG_CLUSTER_NODES_H

#include "gang/cluster/lookup.h"

void on_node_set(struct gang_core *core, struct gang_node_facts *facts);
void on_node_gone(struct gang_core *core, const char *name);
/* Returns the node; makes one with only a name if needed. */
struct node *node_get(struct gang_core *core, const char *name);
void node_drop(struct gang_core *core, struct node *node);
void nodes_sweep(struct gang_core *core);
/* For a trial: adds a copy of this node, with its facts. */
struct node *node_trial_add(struct gang_core *core, const struct node *like);
/* Removes it again. n_ids: core->n_ids before. */
void node_trial_remove(struct gang_core *core, struct node *node, size_t n_ids);

#endif
