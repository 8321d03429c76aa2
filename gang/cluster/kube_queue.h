/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_queue.h - what muster knows about pods in kube-scheduler's queue.
 *
 * A pod that filter refused sleeps in the queue until a cluster event or a write to the pod wakes
 * it, see wake_writes.h.
 */
#ifndef MUSTER_GANG_CLUSTER_KUBE_QUEUE_H
#define MUSTER_GANG_CLUSTER_KUBE_QUEUE_H

#include "gang/cluster/lookup.h"

/* Sets whether the pod sleeps because it was refused. Also counts such pods in core->n_refused, if
 * filter refused them in this run of muster. */
void pod_reject(struct gang_core *core, struct pod *pod, bool rejected);
/* Filter refused the pod. */
void pod_refuse(struct gang_core *core, struct pod *pod);
/* The pod is a blocked pod: an ordinary pod, or a later member of a Scheduled gang, that would fit
 * without muster's reservations. */
void block_pod(struct gang_core *core, struct pod *pod);
void unblock_pod(struct pod *pod);

/*
 * Blocked pods are checked in rounds, one pod of each namespace after the other, so that the pods
 * of one namespace do not delay those of others. A pod that is blocked during a round is checked in
 * this round.
 */
void blocked_init(struct gang_core *core);
void blocked_done(struct gang_core *core);
/* The next pod that the round has not checked. It counts as checked now. NULL: none. */
struct pod *blocked_next(struct gang_core *core);
bool blocked_all_checked(const struct gang_core *core);
/* A new round begins: no pod is checked. Call it only if all were. */
void blocked_check_all(struct gang_core *core);
/* Puts the gang's blocked members back into this round, even those that it has already checked. */
void blocked_recheck(struct gang_core *core, struct gang *gang);

/* The pod joins the queue, behind all pods of its priority. */
void queue_joined(const struct gang_core *core, struct pod *pod);
/* kube-scheduler calls filter for the pod. If the pod is refused, it joins the queue again. */
void queue_asked(const struct gang_core *core, struct pod *pod);
/* muster or kube-scheduler wrote to the pod. Returns whether filter was called since the write
 * before. */
bool queue_wrote(struct pod *pod);
/* kube-scheduler rejected the pod early. Returns how often it had done so before. */
int queue_rejected_early(struct pod *pod);
/* Earlier early rejections no longer count, because the pod has another slot. */
void queue_early_rejections_over(struct pod *pod);

#endif
