/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nominations.h - status.nominatedNodeName of pods. kube-scheduler and muster both write it.
 *
 * A nomination is a write to the pod, so it wakes a pod that sleeps in kube-scheduler's queue.
 * kube-scheduler then tries this node first, alone.
 */
#ifndef MUSTER_GANG_CLUSTER_NOMINATIONS_H
#define MUSTER_GANG_CLUSTER_NOMINATIONS_H

#include "gang/cluster/lookup.h"

/* Updates the node's list of nominated pods. Call it after the nomination, the charge or the node
 * changed. */
void nomination_update(struct gang_core *core, struct pod *pod);
/* False: the pod does not exist, because its workload is suspended; or it keeps its gate, and the
 * request that removes the gate nominates it. */
bool may_be_nominated(const struct pod *pod);
/* Writes the nomination, which wakes and steers the pod, if it may be nominated. node NULL: clears
 * the nomination. */
void nominate(struct gang_core *core, struct pod *pod, const struct node *node);
/* Sets pod->nominated to a copy of `node`; NULL: the pod is not nominated. */
void nominated_to(struct pod *pod, const char *node);
/* The node to which the pod is nominated is about to be freed. */
void nomination_end(struct pod *pod);
/* Clears the nominations of members that have no slot. */
void nominations_clear(struct gang_core *core, struct gang *gang);

#endif
