/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_queue.h - which pods sleep in kube-scheduler's queue, as far as known.
 *
 * A pod that filter refused sleeps until a cluster event or a write to the pod moves it, see
 * wake_writes.h.
 */
#ifndef MUSTER_GANG_CLUSTER_KUBE_QUEUE_H
#define MUSTER_GANG_CLUSTER_KUBE_QUEUE_H

#include "gang/cluster/lookup.h"

/* Sets pod->rejected and counts the pods that filter refused in this run. For other pods muster
 * cannot tell whether an extender refused them; a Binding wakes those. */
void pod_reject(struct gang_core *core, struct pod *pod, bool rejected);
/* Filter refused the pod. */
void pod_refuse(struct gang_core *core, struct pod *pod);
/* Reservations keep out an ordinary pod (or one of a Scheduled gang), which sleeps until woken. */
void block_pod(struct gang_core *core, struct pod *pod);
void unblock_pod(struct pod *pod);
/* blocked_recheck(): there may be room for blocked pods. blocked_checked(): they were checked
 * for all room that grew. */
void blocked_recheck(struct gang_core *core);
void blocked_checked(struct gang_core *core);

/* The pod joins the queue, behind all others. */
void queue_joined(const struct gang_core *core, struct pod *pod);
/* kube-scheduler calls filter for the pod, which makes it the last in the queue. */
void queue_asked(const struct gang_core *core, struct pod *pod);
/* muster or kube-scheduler wrote to the pod; returns whether filter was called since the last
 * write. */
bool queue_wrote(struct pod *pod);
/* The pod was rejected early; returns the number of earlier times. */
int queue_rejected_early(struct pod *pod);
/* The pod has another slot: earlier rejections do not count for it. */
void queue_early_rejections_over(struct pod *pod);

#endif
