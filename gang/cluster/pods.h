/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h - pods in the cluster cache. pod_update.c passes new facts on to other files.
 */
#ifndef MUSTER_GANG_CLUSTER_PODS_H
#define MUSTER_GANG_CLUSTER_PODS_H

#include "gang/cluster/lookup.h"

/* Adds a pod with its claims, labels and signature; it has no gang and no charge yet. */
struct pod *pod_make(struct gang_core *core, struct gang_pod_facts *facts);
/* Call after its gang membership, charge, slot and call have ended. */
void pod_free(struct gang_core *core, struct pod *pod);
/* The pod is known from filter, and the watch has not shown it yet. */
void set_unseen(struct gang_core *core, struct pod *pod, bool unseen);
/* A late call does not bring the deleted pod back. */
void remember_gone(struct gang_core *core, const char *uid);
void gone_done(struct gang_core *core);
/* The watch shows the pod after all. */
void gone_forget(struct gang_core *core, const char *uid);
/* Takes its new facts and returns the old ones, which the caller frees. */
struct gang_pod_facts *pod_set_facts(struct gang_core *core, struct pod *pod,
                                     struct gang_pod_facts *facts);
/* Releases its slot and answers a held call. */
void lose_slot(struct gang_core *core, struct pod *pod);
/* Updates the signature after a change of facts or claims. The slot stays if its node still
 * suits. */
void pod_signature_update(struct gang_core *core, struct pod *pod);

#endif
