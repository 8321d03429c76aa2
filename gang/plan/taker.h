/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taker.h - who may take room from whom, by priority and by queue.
 *
 * A taker is a gang for which muster evicts others, or a pod without a gang for which
 * kube-scheduler preempts others (pod_taker.h). It may take room from its own queue by priority,
 * and from another queue what that queue has borrowed (gang/queue/reclaim.h).
 */
#ifndef MUSTER_GANG_PLAN_TAKER_H
#define MUSTER_GANG_PLAN_TAKER_H

#include "gang/cluster/trial.h"
#include "gang/queue/reclaim.h"

struct taker {
    struct gang_core *core;
    const struct gang *gang;      /* NULL: a pod without a gang */
    struct queue *queue;          /* its own; NULL: without queues */
    const struct queue *entitled; /* see queue_entitled(); NULL: it takes nothing back */
    struct reclaimed what;        /* the resources that it may take back */
    uint64_t round;               /* see taker_remembers(); 0: it does not */
};
struct taker taker_of(struct gang_core *core, const struct gang *gang);
/* From now on, nothing changes on which may_take() and has_run() depend, so their answers are found
 * once per queue. */
void taker_remembers(struct taker *taker);

/* Whether the taker may take room from a gang or pod, and how: from its own queue by priority, or
 * from `queue` what `branch` has borrowed. `branch` is `queue` or a queue above it. */
struct take {
    bool may;
    const struct queue *queue;
    struct queue *branch; /* NULL: by priority */
};
/* From a pod without a gang in the queue; NULL: it is in none. `lower`: its priority is lower. */
struct take may_take(const struct taker *taker, struct queue *theirs, bool lower);
/* From members of `victim`, for a gang. */
struct take may_hit(const struct taker *taker, const struct gang *victim);
/* Since when the pod has its node. */
static inline usec_t pod_start(const struct pod *pod)
{
    return pod->facts->bound_at ? pod->facts->bound_at : pod->facts->created;
}
/* Whether what has run in the queue since then has run for the minimum time. */
bool has_run(const struct taker *taker, struct queue *queue, usec_t since);
/* When the limit on reclaim lets the taker take from the queue; 0: now. */
usec_t take_rests_until(const struct taker *taker, struct take take);

/* Whether gang a and gang b are in one namespace. Then their own priorities are compared. */
bool same_namespace(const struct gang *a, const struct gang *b);
/* Whether the gang has evicted others and has been placed since the last outside change. Until the
 * next one, it evicts nobody, and no other queue takes its room (docs/preemption.md). */
bool gang_has_won(const struct gang_core *core, const struct gang *gang);

/* What the other side has borrowed before something is removed there. */
struct borrowed {
    struct reclaimed what; /* n 0: nothing, so nothing may be taken */
    __int128 used;
    struct trial_mark mark;
};
struct borrowed borrowed_before(const struct trial *t, const struct taker *taker, struct take from);
/* Whether borrowed room was removed since then, and each queue there keeps what it deserves. If one
 * does not, sets *ret_below to it, else to NULL. */
bool only_borrowed(const struct trial *t, const struct taker *taker, struct take from,
                   const struct borrowed *before, const struct queue **ret_below);

#endif
