/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inter_pod.h - rules between pods: whether one more may join those that are charged to a node and
 * those that slots are reserved for.
 *
 * What a shape sees on the nodes is remembered in its crowd and looked at again only where somebody
 * came or went (node->marks.crowd). A node without anti-affinity costs a shape without rules
 * nothing.
 *
 * Labels differ among members (indexes), and most matter to nobody. Those whose keys some rule has
 * asked for are part of a member's shape (pod_labels.c, pod_signature.c), so that one pod
 * can stand for all of its shape. It is a prediction: the scheduler has the last word, and its
 * offers are the evidence.
 */
#ifndef MUSTER_GANG_CLUSTER_INTER_POD_H
#define MUSTER_GANG_CLUSTER_INTER_POD_H

#include "gang/cluster/objects.h"

enum rule { RULE_NONE, RULE_APART, RULE_SPREAD };
/* A question about pods of a shape; to be asked at once, before anything changes. */
struct rules {
    const struct gang_core *core;
    struct shape *shape;
    const struct gang_pod_facts *who; /* one of them; NULL: no rule concerns it */
    struct crowd *crowd;
};
struct rules rules_for(const struct gang_core *core, struct shape *shape);
/* Which rule between pods one more pod would break on the node. */
enum rule rules_refusal(struct rules *rules, const struct node *node);
/* Who keeps the pod off the node by anti-affinity, of either; NULL: nobody. */
const struct gang_pod_facts *node_foe(const struct node *node, const struct gang_pod_facts *who);
/* The same of those alone that are charged there. */
const struct gang_pod_facts *charged_foe(const struct node *node, const struct gang_pod_facts *who);
/* Pods charged there that the spread counts; -1: the node is none of those over which it goes. */
int64_t charged_count(const struct node *node, const struct gang_pod_facts *who,
                      const struct gang_spread *s);
/* A slot that does, and that neither kube-scheduler knows of nor is within reach; NULL: none.
 * `except` may be NULL. */
const struct slot *slots_keep_away(const struct node *node, const struct gang_pod_facts *who,
                                   const struct slot *except, const struct reach *reach);
/* A pod that was charged meanwhile keeps the slot's member away, which is not on its way yet. */
bool slot_is_kept_away(const struct slot *slot);
/* A node has these facts now instead of those; either may be NULL. */
void hosts_note(struct gang_core *core, const struct gang_node_facts *was,
                const struct gang_node_facts *is);
void crowd_free(struct crowd *crowd);

#endif
