/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h - pods, as the facts say. pod_update.c says in which order new facts reach whom.
 */
#ifndef MUSTER_GANG_CLUSTER_PODS_H
#define MUSTER_GANG_CLUSTER_PODS_H

#include "gang/cluster/lookup.h"

/* Makes it known, with its claims, labels and signature; it is of no gang yet, and nothing is
 * charged.
 */
struct pod *pod_make(struct gang_core *core, struct gang_pod_facts *facts);
/* Its gang, its charge, its slot and its call have ended. */
void pod_free(struct gang_core *core, struct pod *pod);
/* Filter has brought it, and the watch has not shown it. */
void set_unseen(struct gang_core *core, struct pod *pod, bool unseen);
/* A late call about it does not bring it back. */
void remember_gone(struct gang_core *core, const char *uid);
void gone_done(struct gang_core *core);
/* The watch shows it again: filter was ahead. */
void gone_forget(struct gang_core *core, const char *uid);
/* Takes its new facts; returns the old ones, which are the caller's. */
struct gang_pod_facts *pod_set_facts(struct gang_core *core, struct pod *pod,
                                     struct gang_pod_facts *facts);
/* Its place is given up; a held call is answered. */
void lose_slot(struct gang_core *core, struct pod *pod);
/* The pod's signature follows its facts and claims. Its slot stays if the node still does. */
void pod_signature_update(struct gang_core *core, struct pod *pod);

#endif
