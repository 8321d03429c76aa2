/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_queue.h - kube-scheduler's queue of pods: active, backoff and unschedulable pods, and
 * their timers.
 *
 * Every pod of the scheduler is in the queue at one place, even if it is assigned. The queue does
 * not own the pods. Life cycle: sched_queue_init(), sched_queue_add() for each new pending pod,
 * sched_queue_remove() before a pod is freed, sched_queue_done(). Source: k8s.io/kubernetes v1.36
 * pkg/scheduler/backend/queue. One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_QUEUE_H
#define MUSTER_SIMULATOR_SCHEDULER_QUEUE_H

#include "simulator/scheduler_cache.h"
#include "simulator/sim_clock.h"

struct sched_queue {
    const struct sim_clock *clock;                       /* borrowed */
    struct list active, backoff, unschedulable, resting; /* resting: pods at all other places */
    struct heap wake;
    uint64_t seq;
};

void sched_queue_init(struct sched_queue *q, const struct sim_clock *clock);
/* Adds the pod behind the other pods of its priority. A pod with gates becomes SCHED_GATED. */
void sched_queue_add(struct sched_queue *q, struct sched_pod *pod);
/* Call it when the watch shows a change of a pending pod. It can wake only this pod. */
void sched_queue_update(struct sched_queue *q, struct sched_pod *pod);
void sched_queue_remove(struct sched_queue *q, struct sched_pod *pod);
/* Moves the pod to another place and clears its timer. */
void sched_queue_put(struct sched_queue *q, struct sched_pod *pod, enum sched_place place);
/* Moves the pod to another place until `at`; see sched_queue_due(). */
void sched_queue_put_until(struct sched_queue *q, struct sched_pod *pod, enum sched_place place,
                           usec_t at);
/* Moves the pod to the unschedulable pods. */
void sched_queue_rejected(struct sched_queue *q, struct sched_pod *pod, bool by_extender);
/* Moves the pod to the error backoff. */
void sched_queue_failed(struct sched_queue *q, struct sched_pod *pod);
/* Wakes pods after a cluster event. `room`: the event may have made room. */
void sched_queue_event(struct sched_queue *q, bool room);

/* The pod to try next; NULL: none. It stays at its place. */
struct sched_pod *sched_queue_first(struct sched_queue *q);
/* A pod whose timer is due; NULL: none. The caller moves it to another place. */
struct sched_pod *sched_queue_due(const struct sched_queue *q);
/* The time of the next work. The scheduler can try pods from `free_at` on. USEC_NEVER: none. */
usec_t sched_queue_next(const struct sched_queue *q, usec_t free_at);
void sched_queue_done(struct sched_queue *q);

#endif
