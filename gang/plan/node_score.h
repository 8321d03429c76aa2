/* SPDX-License-Identifier: Apache-2.0 */
/* node_score.h - which feasible node is best for a pod of a signature. */
#ifndef MUSTER_GANG_PLAN_NODE_SCORE_H
#define MUSTER_GANG_PLAN_NODE_SCORE_H

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/lookup.h"

/* Whether the node is feasible for one more pod of the signature. gang NULL: an ordinary pod. */
bool node_is_feasible(const struct gang_core *core, const struct gang *gang,
                      struct signature *signature, const struct node *node,
                      const struct reach *reach);
/* The same for several nodes, with the rules between pods of the signature (rules_for()). */
bool node_passes(const struct gang *gang, struct rules *rules, const struct node *node,
                 const struct reach *reach);
/* An estimate of how many more members of the signature fit on the node: without host ports and
 * most rules between pods. */
int64_t node_holds(const struct gang_core *core, const struct gang *gang,
                   struct signature *signature, const struct node *node);
/* Whether node a is better than node b for pods of the signature. A strict total order. */
bool node_better(const struct signature *signature, const struct node *a, const struct node *b);
/* The best feasible node for one more pod of the signature; NULL: none. Skips `except`, which may
 * be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct signature *signature,
                       const struct node *except);

#endif
