/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_queue.h - which pods sleep in kube-scheduler's queue, as far as is known.
 *
 * A pod that filter rejected sleeps until some cluster event, or until the pod is written to. Until
 * the watch shows what was written, or filter is asked about the pod, it may be lost, and is
 * written again.
 */
#ifndef MUSTER_GANG_CLUSTER_KUBE_QUEUE_H
#define MUSTER_GANG_CLUSTER_KUBE_QUEUE_H

#include "gang/cluster/objects.h"

/* Sets pod->rejected, and counts those of them that filter has refused in this life: of others
 * nobody knows whether it was an extender, and a Binding wakes them. */
void pod_reject(struct gang_core *core, struct pod *pod, bool rejected);
/* Filter said no to it. */
void pod_refuse(struct gang_core *core, struct pod *pod);
/* Something was written that wakes the pod: it sleeps until that arrives. */
void nudge_begin(struct gang_core *core, struct pod *pod);
/* It is awake: filter was asked about it. */
void nudge_end(struct gang_core *core, struct pod *pod);
/* It is awake: the watch shows its nomination, or it is bound. */
void nudge_arrived(struct gang_core *core, struct pod *pod);
/* An ordinary pod (or one of a Placed gang) that reservations keep out sleeps until woken. */
void starve(struct gang_core *core, struct pod *pod);

#endif
