/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_queue.h - kube-scheduler's queue of pods: active, backoff, unschedulable, and until
 * when.
 *
 * Every pod of the scheduler is in it at one place, also those that wait for nothing. The queue
 * owns no pod. Life cycle: sched_queue_init(), sched_queue_add() for a new pod that waits,
 * sched_queue_remove() before a pod goes, sched_queue_done(). Sources: k8s.io/kubernetes v1.36
 * pkg/scheduler/backend/queue. One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_QUEUE_H
#define MUSTER_SIMULATOR_SCHEDULER_QUEUE_H

#include "simulator/scheduler_cache.h"
#include "simulator/sim_clock.h"

struct sched_queue {
    const struct sim_clock *clock;                       /* borrowed */
    struct list active, backoff, unschedulable, resting; /* resting: all other places */
    struct heap wake;
    uint64_t seq;
};

void sched_queue_init(struct sched_queue *q, const struct sim_clock *clock);
/* To the end of its priority; with gates it waits for them. */
void sched_queue_add(struct sched_queue *q, struct sched_pod *pod);
/* The watch shows a change of a pod that waits: it alone is woken. */
void sched_queue_update(struct sched_queue *q, struct sched_pod *pod);
void sched_queue_remove(struct sched_queue *q, struct sched_pod *pod);
/* Elsewhere; it is not due any more. */
void sched_queue_put(struct sched_queue *q, struct sched_pod *pod, enum sched_place place);
/* The same; due at `at`, see sched_queue_due(). */
void sched_queue_put_until(struct sched_queue *q, struct sched_pod *pod, enum sched_place place,
                           usec_t at);
/* No node was found for it: to the unschedulable pods. */
void sched_queue_rejected(struct sched_queue *q, struct sched_pod *pod, bool by_extender);
/* Its try failed with an error: it sits its backoff out. */
void sched_queue_failed(struct sched_queue *q, struct sched_pod *pod);
/* Something happened; `room`: it may have made room. */
void sched_queue_event(struct sched_queue *q, bool room);

/* The pod to be tried next; it stays in its place. NULL: none. */
struct sched_pod *sched_queue_first(struct sched_queue *q);
/* A pod whose time has come; NULL: none. The caller puts it elsewhere. */
struct sched_pod *sched_queue_due(const struct sched_queue *q);
/* When there is something to do; pods can be tried from `free_at` on. */
usec_t sched_queue_next(const struct sched_queue *q, usec_t free_at);
void sched_queue_done(struct sched_queue *q);

#endif
