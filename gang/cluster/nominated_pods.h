/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nominated_pods.h - room that kube-scheduler keeps for pods it has nominated.
 *
 * A pod that preempts others is nominated to their node (status.nominatedNodeName) and arrives when
 * they are gone. kube-scheduler counts it there against pods of its priority or less; so do plans
 * here (struct reach): else a gang would be planned into that room, the pod would be refused, and
 * would evict others elsewhere.
 *
 * The victims are charged as long as they exist. So what is promised is a sum of its own: with used
 * and reserved it may exceed what the node has.
 *
 * No promise are nominations that muster has written itself, those of members of a gang that waits
 * (they are cleared: what a single member has is of no use to it), of pods behind a gate, and of
 * pods of other schedulers, which ours does not count either. A promise ends when kube-scheduler
 * clears the nomination, and when the pod is bound or gone.
 */
#ifndef MUSTER_GANG_CLUSTER_NOMINATED_PODS_H
#define MUSTER_GANG_CLUSTER_NOMINATED_PODS_H

#include "gang/cluster/objects.h"

/* Whatever makes the pod's nomination a promise may have changed. */
void promise_note(struct gang_core *core, struct pod *pod);
void promise_end(struct gang_core *core, struct pod *pod);
/* Muster writes its nomination: nobody else has promised it that room. */
void promise_none(struct pod *pod, const struct node *node);
/* From now on kube-scheduler nominates it by its own word. */
void nominated_by_kube(struct pod *pod);
/* What is promised there to pods of that priority or more, but `self`. */
int64_t promised_to(const struct node *node, uint32_t resource, const struct reach *reach);
bool ports_promised(const struct node *node, const struct shape *shape, const struct reach *reach);
int promise_check(const struct gang_core *core, struct err *err);

#endif
