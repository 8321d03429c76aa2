/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_labels.h - labels of pods that rules between pods ask for: members that differ in them have
 * signatures of their own, so that one pod can stand for its signature.
 *
 * Each namespace has its own, asked for by rules of its own pods, with a bound of its own: what one
 * tenant's rules ask for makes no other's signatures finer. A rule about pods of other namespaces
 * is heeded where a pod is looked at itself; where a signature's sample stands for it,
 * kube-scheduler's offers correct what the sample does not say (infeasible_nodes.c). Keys have
 * users; a namespace without rules forgets its keys after a while.
 *
 * When the keys of a namespace change, its members get other signatures: all at once, before plans
 * are made, and then not again for a time that grows with their number. Until then new pods heed
 * the new keys, and the others do not.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_LABELS_H
#define MUSTER_GANG_CLUSTER_POD_LABELS_H

#include "gang/cluster/lookup.h"

/* Of one namespace. */
struct namespace_rule_labels {
    struct map keys; /* key -> users + 1 */
    size_t rules;    /* pods with such rules */
    struct list members;
    size_t n_members;
    struct list in_stale; /* core->spaces.stale: members have signatures by other keys */
    usec_t rests_until;
};

/* Labels that the pod's rules ask for matter from now on: members that differ in them have
 * signatures of their own, from rule_labels_settle() on. */
void rule_labels_add(struct gang_core *core, const struct gang_pod_facts *facts);
/* The pod is gone, or has other facts. */
void rule_labels_remove(struct gang_core *core, const struct gang_pod_facts *facts);
/* The keys that matter in a namespace; NULL: none. */
const struct map *rule_labels_of(const struct gang_core *core, const char *ns);
/* A member of some gang comes or goes. */
void rule_labels_member_added(struct gang_core *core, struct pod *pod);
void rule_labels_member_removed(struct gang_core *core, struct pod *pod);
/* At the beginning of a step: namespaces without rules forget their keys. */
void rule_labels_sweep(struct gang_core *core);
void rule_labels_done(struct gang_core *core);

#endif
