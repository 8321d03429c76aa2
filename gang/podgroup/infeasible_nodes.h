/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infeasible_nodes.h - nodes that kube-scheduler refuses for pods of a signature.
 *
 * If the list of a filter call is complete, kube-scheduler refuses all nodes that are missing from
 * it. The planner then avoids these nodes for a while, each time for longer. When such a node
 * changes, the planner may use it again.
 */
#ifndef MUSTER_GANG_PODGROUP_INFEASIBLE_NODES_H
#define MUSTER_GANG_PODGROUP_INFEASIBLE_NODES_H

#include "gang/cluster/lookup.h"

/* Whether any node may be infeasible now for the gang's pods of the signature. */
bool infeasible_nodes_known(const struct gang_core *core, const struct gang *gang,
                            const struct signature *signature);
bool node_is_infeasible(const struct gang_core *core, const struct gang *gang,
                        const struct signature *signature, const struct node *node);
/* Makes `refused` infeasible, and all nodes that are not in the complete list of n names. Nodes
 * that a pod has just left are skipped, except `refused`. */
void infeasible_nodes_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                          const char *const *names, size_t n, const struct node *refused);
/* Makes one more node infeasible. The time starts again for nodes that are infeasible already. */
void infeasible_node_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                         const struct node *node);
void infeasible_nodes_forget(struct gang_core *core, struct gang *gang);
/* Sets the timer for the earliest moment at which infeasible nodes may be tried again. */
void infeasible_nodes_arm(struct gang_core *core, struct gang *gang);

#endif
