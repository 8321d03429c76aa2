/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infeasible_nodes.h - nodes that the scheduler refuses, by what it offers.
 *
 * A whole list of offered nodes says that kube-scheduler refuses all others for pods of that
 * signature. It is believed for a while, longer each time, except about nodes that have changed
 * since.
 */
#ifndef MUSTER_GANG_PODGROUP_INFEASIBLE_NODES_H
#define MUSTER_GANG_PODGROUP_INFEASIBLE_NODES_H

#include "gang/cluster/lookup.h"

/* Something is believed about nodes, for the gang's pods of that signature. */
bool infeasible_nodes_known(const struct gang_core *core, const struct gang *gang,
                            const struct signature *signature);
bool node_is_infeasible(const struct gang_core *core, const struct gang *gang,
                        const struct signature *signature, const struct node *node);
/* A whole list refuses that node, and all others that it lacks but those that became free just now.
 */
void infeasible_nodes_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                          const char *const *names, size_t n, const struct node *refused);
/* One node is refused, about the others nothing new is known. */
void infeasible_node_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                         const struct node *node);
void infeasible_nodes_forget(struct gang_core *core, struct gang *gang);
/* The refusals that still hold may be tried again at the earliest of their ends. */
void infeasible_nodes_arm(struct gang_core *core, struct gang *gang);

#endif
