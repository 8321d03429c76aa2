/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anti_affinity_and_spread.h - whether rules between pods allow one more pod on a node, next to its
 * charged pods and slots.
 *
 * The counts for a signature's rules are cached in its pod_counts. The cache recounts only nodes
 * whose pods changed (node->marks.pods_changed). A signature without rules costs nothing on a node
 * without anti-affinity.
 *
 * The functions check one pod for all pods of its signature. This is correct because rule labels
 * are part of a member's signature (pod_labels.c, signatures.c). Other labels may differ, such as
 * the index of a pod in its Job. The result is a prediction. kube-scheduler decides, and its offers
 * correct wrong predictions (infeasible_nodes.c).
 */
#ifndef MUSTER_GANG_CLUSTER_ANTI_AFFINITY_AND_SPREAD_H
#define MUSTER_GANG_CLUSTER_ANTI_AFFINITY_AND_SPREAD_H

#include "gang/cluster/lookup.h"

enum rule { RULE_NONE, RULE_ANTI_AFFINITY, RULE_SPREAD };
/* A query for pods of a signature; valid only until anything changes. */
struct rules {
    const struct gang_core *core;
    struct signature *signature;
    const struct gang_pod_facts *who; /* one of these pods; NULL: no rule applies to them */
};
struct rules rules_for(const struct gang_core *core, struct signature *signature);
/* The rule that excludes one more pod of the signature from the node. */
enum rule rules_refusal(struct rules *rules, const struct node *node);
/* A pod or slot's member on the node that has an anti-affinity conflict with `who`, in either
 * direction; NULL: none. */
const struct gang_pod_facts *anti_affinity_conflict(const struct node *node,
                                                    const struct gang_pod_facts *who);
/* The same for charged pods only. */
const struct gang_pod_facts *charged_anti_affinity_conflict(const struct node *node,
                                                            const struct gang_pod_facts *who);
/* The number of charged pods that the constraint counts; -1: it does not cover the node. */
int64_t charged_spread_count(const struct node *node, const struct gang_pod_facts *who,
                             const struct gang_spread *s);
/* A slot on the node that has an anti-affinity conflict with `who`; NULL: none. Skips slots that
 * `reach` displaces, and slots whose members kube-scheduler has assumed, because it checks those
 * itself. `except` is skipped too and may be NULL. */
const struct slot *slot_anti_affinity_conflict(const struct node *node,
                                               const struct gang_pod_facts *who,
                                               const struct slot *except,
                                               const struct reach *reach);
/* Whether a charged pod conflicts with the slot's member. False if the member is on its way: then
 * kube-scheduler checks the conflict. */
bool slot_has_anti_affinity_conflict(const struct slot *slot);
/* The node's facts changed from `was` to `is`; either may be NULL. */
void hostnames_update(struct gang_core *core, const struct gang_node_facts *was,
                      const struct gang_node_facts *is);
/* Frees the signature's cached counts. */
void pod_counts_drop(struct signature *signature);

#endif
