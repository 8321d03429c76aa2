/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h - creates, changes and frees pods in the cluster cache.
 *
 * A pod lives from the first event or filter call that shows it until the watch shows that it is
 * gone. It owns its facts. lifecycle/pod_update.c calls these functions, in an order that keeps
 * everything that depends on the facts consistent.
 */
#ifndef MUSTER_GANG_CLUSTER_PODS_H
#define MUSTER_GANG_CLUSTER_PODS_H

#include "gang/cluster/lookup.h"

/* Creates a pod with its claims, labels and signature. It has no gang and no charge yet. The pod
 * owns the facts. */
struct pod *pod_make(struct gang_core *core, struct gang_pod_facts *facts);
/* Frees the pod. It must have no gang, charge, slot or call any more. */
void pod_free(struct gang_core *core, struct pod *pod);
/* Sets whether only filter calls have shown the pod so far. */
void set_unseen(struct gang_core *core, struct pod *pod, bool unseen);
/* Stores the UID of a deleted pod, so that a late call does not add the pod again. */
void remember_gone(struct gang_core *core, const char *uid);
void gone_done(struct gang_core *core);
/* Forgets the UID, because the watch shows the pod again. */
void gone_forget(struct gang_core *core, const char *uid);
/* Sets the pod's facts and returns the old ones, which the caller frees. */
struct gang_pod_facts *pod_set_facts(struct gang_core *core, struct pod *pod,
                                     struct gang_pod_facts *facts);
/* Releases the pod's slot, if it has one, and answers its held call. */
void lose_slot(struct gang_core *core, struct pod *pod);
/* Updates the signature after the facts, the claims or the rule labels changed. The slot stays if
 * the needs are the same and its node is still feasible. */
void pod_signature_update(struct gang_core *core, struct pod *pod);

#endif
