/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_labels.h - rule labels: the labels of pods that rules between pods read. Members with
 * different values of such a label get different signatures, so that one pod can represent its
 * signature.
 *
 * Each namespace has its own bounded set of keys, which come from rules of its own pods. So the
 * rules of one tenant do not split the signatures of another tenant. If a rule of another namespace
 * reads other labels, a signature's sample may give a wrong result for some of its pods.
 * kube-scheduler's offers then correct the plan (infeasible_nodes.c). A namespace that has no rules
 * any more forgets its keys after a while.
 *
 * When the keys of a namespace change, all its members get new signatures before the next planning
 * pass. Then the namespace rests, for a time that grows with the number of members. Until the rest
 * is over, only new pods use further new keys.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_LABELS_H
#define MUSTER_GANG_CLUSTER_POD_LABELS_H

#include "gang/cluster/lookup.h"

/* The rule labels of one namespace. */
struct namespace_rule_labels {
    struct map keys; /* key -> number of users + 1 */
    size_t rules;    /* pods of the namespace that have rules between pods */
    struct list members;
    size_t n_members;
    struct list in_stale; /* core->rule_labels.stale, if members need new signatures */
    usec_t rests_until;
};

/* Adds the labels that the pod's rules read. Existing members get new signatures in
 * rule_labels_settle(). */
void rule_labels_add(struct gang_core *core, const struct gang_pod_facts *facts);
/* Removes them: the pod is gone, or has new facts. */
void rule_labels_remove(struct gang_core *core, const struct gang_pod_facts *facts);
/* The keys of the namespace's rule labels; NULL: none. */
const struct map *rule_labels_of(const struct gang_core *core, const char *ns);
/* A pod became a member of a gang, or is no longer one. */
void rule_labels_member_added(struct gang_core *core, struct pod *pod);
void rule_labels_member_removed(struct gang_core *core, struct pod *pod);
/* Namespaces without rules forget their keys. Call it once in each step. */
void rule_labels_sweep(struct gang_core *core);
void rule_labels_done(struct gang_core *core);

#endif
