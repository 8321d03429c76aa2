/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anti_affinity_and_spread.h - rules between pods: whether one more pod may join a node's charged
 * pods and slots.
 *
 * A signature's counts on the nodes are cached in its pod_counts and updated only for nodes whose
 * pods changed (node->marks.pods_changed). For a signature without rules, a node without
 * anti-affinity costs nothing.
 *
 * Labels differ among members (indexes), and no rule reads most of them. Labels whose keys some
 * rule reads are part of a member's signature (pod_labels.c, signatures.c), so that one pod can
 * represent its signature. The result is a prediction: kube-scheduler decides, and its offers
 * correct it (infeasible_nodes.c).
 */
#ifndef MUSTER_GANG_CLUSTER_ANTI_AFFINITY_AND_SPREAD_H
#define MUSTER_GANG_CLUSTER_ANTI_AFFINITY_AND_SPREAD_H

#include "gang/cluster/lookup.h"

enum rule { RULE_NONE, RULE_ANTI_AFFINITY, RULE_SPREAD };
/* A query about a signature's pods; valid only until anything changes. */
struct rules {
    const struct gang_core *core;
    struct signature *signature;
    const struct gang_pod_facts *who; /* one of these pods; NULL: no rule applies to it */
    struct pod_counts *pod_counts;
};
struct rules rules_for(const struct gang_core *core, struct signature *signature);
/* The rule that one more pod of the signature would break on the node. */
enum rule rules_refusal(struct rules *rules, const struct node *node);
/* The pod whose anti-affinity conflicts with `who` on the node, in either direction; NULL: none. */
const struct gang_pod_facts *anti_affinity_conflict(const struct node *node,
                                                    const struct gang_pod_facts *who);
/* The same for charged pods only. */
const struct gang_pod_facts *charged_anti_affinity_conflict(const struct node *node,
                                                            const struct gang_pod_facts *who);
/* Charged pods that the constraint counts; -1: it does not cover the node. */
int64_t charged_spread_count(const struct node *node, const struct gang_pod_facts *who,
                             const struct gang_spread *s);
/* A slot that conflicts with `who` by anti-affinity and stays: kube-scheduler does not know of it,
 * and `reach` does not displace it. NULL: none. `except` may be NULL. */
const struct slot *slot_anti_affinity_conflict(const struct node *node,
                                               const struct gang_pod_facts *who,
                                               const struct slot *except,
                                               const struct reach *reach);
/* Whether a pod that was charged after the reservation conflicts with the slot's member.
 * False if the member is on its way to bind there. */
bool slot_has_anti_affinity_conflict(const struct slot *slot);
/* The node's facts changed from `was` to `is`; either may be NULL. */
void hostnames_update(struct gang_core *core, const struct gang_node_facts *was,
                      const struct gang_node_facts *is);
void pod_counts_free(struct pod_counts *pod_counts);

#endif
