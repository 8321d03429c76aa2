/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_update.h - takes new facts of a pod, from the watch or a filter call, and updates its
 * PodGroup, the ledger and what waits for the pod, in an order that keeps them consistent.
 */
#ifndef MUSTER_GANG_LIFECYCLE_POD_UPDATE_H
#define MUSTER_GANG_LIFECYCLE_POD_UPDATE_H

#include "gang/cluster/lookup.h"

void on_pod_set(struct gang_core *core, struct gang_pod_facts *facts);
void on_pod_gone(struct gang_core *core, struct pod *pod);
/* Adds a pod that filter shows before the watch does; takes the facts. NULL: there are too many
 * such pods, or kube-scheduler would not filter such a pod. */
struct pod *pod_learn(struct gang_core *core, struct gang_pod_facts *facts);
void pod_remove(struct gang_core *core, struct pod *pod);

#endif
