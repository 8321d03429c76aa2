/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infeasible_nodes.h - nodes that kube-scheduler refuses, as its filter calls show.
 *
 * If a filter call lists every feasible node, kube-scheduler refuses all other nodes for pods of
 * that signature. The planner then avoids those nodes for a while, longer each time. A node that
 * changes counts as feasible again.
 */
#ifndef MUSTER_GANG_PODGROUP_INFEASIBLE_NODES_H
#define MUSTER_GANG_PODGROUP_INFEASIBLE_NODES_H

#include "gang/cluster/lookup.h"

/* Some nodes are infeasible now for the gang's pods of that signature. */
bool infeasible_nodes_known(const struct gang_core *core, const struct gang *gang,
                            const struct signature *signature);
bool node_is_infeasible(const struct gang_core *core, const struct gang *gang,
                        const struct signature *signature, const struct node *node);
/* Marks `refused` and all nodes that a complete list lacks as infeasible, except nodes that have
 * just become free. */
void infeasible_nodes_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                          const char *const *names, size_t n, const struct node *refused);
/* Marks one more node as infeasible. The time starts anew for those that are infeasible already. */
void infeasible_node_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                         const struct node *node);
void infeasible_nodes_forget(struct gang_core *core, struct gang *gang);
/* Sets the timer for the earliest moment at which infeasible nodes may be tried again. */
void infeasible_nodes_arm(struct gang_core *core, struct gang *gang);

#endif
