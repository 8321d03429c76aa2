/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - nodes, as the facts say.
 */
#ifndef MUSTER_GANG_CLUSTER_NODES_H
#define MUSTER_GANG_CLUSTER_NODES_H

#include "gang/cluster/lookup.h"

void on_node_set(struct gang_core *core, struct gang_node_facts *facts);
void on_node_gone(struct gang_core *core, const char *name);
/* Makes one that is only known by name, if need be. */
struct node *node_get(struct gang_core *core, const char *name);
void node_drop(struct gang_core *core, struct node *node);
void nodes_sweep(struct gang_core *core);
/* For a trial: one more node like this one, with its facts. */
struct node *node_imagine(struct gang_core *core, const struct node *like);
/* n_ids: core->n_ids before. */
void node_unimagine(struct gang_core *core, struct node *node, size_t n_ids);

#endif
