/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anti_affinity_and_spread.h - rules between pods: whether one more may join those that are charged
 * to a node and those that slots are reserved for.
 *
 * What a signature sees on the nodes is remembered in its pod_counts and looked at again only where
 * somebody came or went (node->marks.pods_changed). A node without anti-affinity costs a signature
 * without rules nothing.
 *
 * Labels differ among members (indexes), and most matter to nobody. Those whose keys some rule has
 * asked for are part of a member's signature (pod_labels.c, signatures.c), so that one pod
 * can stand for all of its signature. It is a prediction: the scheduler has the last word, and its
 * offers are the evidence.
 */
#ifndef MUSTER_GANG_CLUSTER_ANTI_AFFINITY_AND_SPREAD_H
#define MUSTER_GANG_CLUSTER_ANTI_AFFINITY_AND_SPREAD_H

#include "gang/cluster/lookup.h"

enum rule { RULE_NONE, RULE_ANTI_AFFINITY, RULE_SPREAD };
/* A question about pods of a signature; to be asked at once, before anything changes. */
struct rules {
    const struct gang_core *core;
    struct signature *signature;
    const struct gang_pod_facts *who; /* one of them; NULL: no rule concerns it */
    struct pod_counts *pod_counts;
};
struct rules rules_for(const struct gang_core *core, struct signature *signature);
/* Which rule between pods one more pod would break on the node. */
enum rule rules_refusal(struct rules *rules, const struct node *node);
/* Who keeps the pod off the node by anti-affinity, of either; NULL: nobody. */
const struct gang_pod_facts *anti_affinity_conflict(const struct node *node,
                                                    const struct gang_pod_facts *who);
/* The same of those alone that are charged there. */
const struct gang_pod_facts *charged_anti_affinity_conflict(const struct node *node,
                                                            const struct gang_pod_facts *who);
/* Pods charged there that the spread counts; -1: the node is none of those over which it goes. */
int64_t charged_spread_count(const struct node *node, const struct gang_pod_facts *who,
                             const struct gang_spread *s);
/* A slot that does, and that neither kube-scheduler knows of nor is within reach; NULL: none.
 * `except` may be NULL. */
const struct slot *slot_anti_affinity_conflict(const struct node *node,
                                               const struct gang_pod_facts *who,
                                               const struct slot *except,
                                               const struct reach *reach);
/* A pod that was charged meanwhile keeps the slot's member away, which is not on its way yet. */
bool slot_has_anti_affinity_conflict(const struct slot *slot);
/* A node has these facts now instead of those; either may be NULL. */
void hostnames_update(struct gang_core *core, const struct gang_node_facts *was,
                      const struct gang_node_facts *is);
void pod_counts_free(struct pod_counts *pod_counts);

#endif
