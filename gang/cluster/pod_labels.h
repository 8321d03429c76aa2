/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_labels.h - the labels of pods that rules between pods read. Members that differ in such a
 * label get different signatures, so that one pod can represent its signature.
 *
 * Each namespace has its own set of keys, requested by rules of its own pods and bounded, so one
 * tenant's rules do not split another tenant's signatures. Rules about pods of other namespaces
 * hold where muster checks a pod itself; where a signature's sample represents the pod,
 * kube-scheduler's offers make up for the difference (infeasible_nodes.c). Keys count their users;
 * a namespace without rules forgets its keys after a while.
 *
 * When the keys of a namespace change, its members get new signatures all at once before planning,
 * and then not again for a time that grows with their number. Until then only new pods use the new
 * keys.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_LABELS_H
#define MUSTER_GANG_CLUSTER_POD_LABELS_H

#include "gang/cluster/lookup.h"

/* The rule labels of one namespace. */
struct namespace_rule_labels {
    struct map keys; /* key -> users + 1 */
    size_t rules;    /* pods with such rules */
    struct list members;
    size_t n_members;
    struct list in_stale; /* core->rule_labels.stale: members have signatures by outdated keys */
    usec_t rests_until;
};

/* From now on, the labels that the pod's rules read separate members into signatures; existing
 * members follow in rule_labels_settle(). */
void rule_labels_add(struct gang_core *core, const struct gang_pod_facts *facts);
/* The pod is gone or has new facts. */
void rule_labels_remove(struct gang_core *core, const struct gang_pod_facts *facts);
/* The rule label keys of a namespace; NULL: none. */
const struct map *rule_labels_of(const struct gang_core *core, const char *ns);
/* A member of a gang comes or goes. */
void rule_labels_member_added(struct gang_core *core, struct pod *pod);
void rule_labels_member_removed(struct gang_core *core, struct pod *pod);
/* At the start of a step: namespaces without rules forget their keys. */
void rule_labels_sweep(struct gang_core *core);
void rule_labels_done(struct gang_core *core);

#endif
