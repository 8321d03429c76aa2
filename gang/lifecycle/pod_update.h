/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_update.h - takes new facts of a pod, from the watch or a filter call. Updates everything that
 * depends on them, in an order that keeps it consistent: its PodGroup, the ledger, its slot and
 * call.
 */
#ifndef MUSTER_GANG_LIFECYCLE_POD_UPDATE_H
#define MUSTER_GANG_LIFECYCLE_POD_UPDATE_H

#include "gang/cluster/lookup.h"

/* Owns the facts from now on. */
void on_pod_set(struct gang_core *core, struct gang_pod_facts *facts);
void on_pod_gone(struct gang_core *core, struct pod *pod);
/* Adds a pod that a filter call shows before the watch does. Owns the facts from now on. NULL:
 * there are too many such pods, or kube-scheduler cannot have filtered this pod. */
struct pod *pod_learn(struct gang_core *core, struct gang_pod_facts *facts);
/* Answers the pod's call, releases everything that it has, and frees it. */
void pod_remove(struct gang_core *core, struct pod *pod);

#endif
