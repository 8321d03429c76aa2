/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_update.h - what the watch, or a call, shows of a pod: in which order that reaches the ledger,
 * its PodGroup, and what waits for it.
 */
#ifndef MUSTER_GANG_LIFECYCLE_POD_UPDATE_H
#define MUSTER_GANG_LIFECYCLE_POD_UPDATE_H

#include "gang/cluster/lookup.h"

void on_pod_set(struct gang_core *core, struct gang_pod_facts *facts);
void on_pod_gone(struct gang_core *core, struct pod *pod);
/* A pod that filter brought before the watch did; takes the facts. NULL: there are too many such
 * pods, or it is none that kube-scheduler would ask about. */
struct pod *pod_learn(struct gang_core *core, struct gang_pod_facts *facts);
void pod_remove(struct gang_core *core, struct pod *pod);

#endif
