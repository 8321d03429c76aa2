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

#include "gang/cluster/lookup.h"

/* Sets pod->rejected, and counts those of them that filter has refused in this life: of others
 * nobody knows whether it was an extender, and a Binding wakes them. */
void pod_reject(struct gang_core *core, struct pod *pod, bool rejected);
/* Filter said no to it. */
void pod_refuse(struct gang_core *core, struct pod *pod);
/* Something was written that wakes the pod: it sleeps until that arrives. */
void wake_write_sent(struct gang_core *core, struct pod *pod);
/* It is awake: filter was asked about it. */
void wake_write_over(struct gang_core *core, struct pod *pod);
/* It is awake: the watch shows its nomination, or it is bound. */
void wake_write_seen(struct gang_core *core, struct pod *pod);
/* An ordinary pod (or one of a Placed gang) that reservations keep out sleeps until woken. */
void block_pod(struct gang_core *core, struct pod *pod);
void unblock_pod(struct pod *pod);
/* There may be room for those that starve; they were looked at for all room that has grown. */
void blocked_recheck(struct gang_core *core);
void blocked_checked(struct gang_core *core);

/* The pod joins the queue, behind all that are there. */
void queue_joined(const struct gang_core *core, struct pod *pod);
/* kube-scheduler asks about it now, which makes it the last of the queue. */
void queue_asked(const struct gang_core *core, struct pod *pod);
/* Something is written on it; returns whether it was asked about since the last time. */
bool queue_wrote(struct pod *pod);
/* It was refused unasked; returns how often it was before. */
int queue_rejected_early(struct pod *pod);
/* It has another place: what it was refused does not count for that. */
void queue_early_rejections_over(struct pod *pod);

#endif
