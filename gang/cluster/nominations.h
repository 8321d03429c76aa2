/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nominations.h - status.nominatedNodeName of pods, written by kube-scheduler or muster.
 *
 * A nomination is a write to the pod: it wakes a pod that sleeps in kube-scheduler's queue, which
 * then first tries that node alone.
 */
#ifndef MUSTER_GANG_CLUSTER_NOMINATIONS_H
#define MUSTER_GANG_CLUSTER_NOMINATIONS_H

#include "gang/cluster/lookup.h"

/* The pod's nomination, or its need for one, changed. */
void nomination_update(struct gang_core *core, struct pod *pod);
/* Writes the nomination, which wakes and steers the pod. NULL clears it. */
void nominate(struct gang_core *core, struct pod *pod, const struct node *node);
/* Sets the node that its status names, as far as known; NULL: none. */
void nominated_to(struct pod *pod, const char *node);
/* The pod's nominated node is gone. */
void nomination_end(struct pod *pod);
/* Clears the nominations of members that have no slot. */
void nominations_clear(struct gang_core *core, struct gang *gang);

#endif
