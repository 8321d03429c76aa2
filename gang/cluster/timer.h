/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - the kinds of timers of gangs, pods and the core, see timers.h.
 */
#ifndef MUSTER_GANG_CLUSTER_TIMER_H
#define MUSTER_GANG_CLUSTER_TIMER_H

#include "base/heap.h"

enum timer_kind {
    /* Of a gang: */
    TIMER_ATTEMPT,        /* the attempt times out */
    TIMER_EXTRAS,         /* the gang is Scheduled: release slots that extras did not use */
    TIMER_BACKOFF,        /* the backoff ends */
    TIMER_EXPECTED,       /* missing members are no longer expected */
    TIMER_HOLD,           /* the oldest held call must be answered */
    TIMER_INFEASIBLE,     /* infeasible nodes may be tried again */
    TIMER_STATUS,         /* write the PodGroup's status, which was delayed */
    TIMER_STARVE,         /* the gang has waited for config.starvation */
    TIMER_REFRESH,        /* plan again to update the reason, because room may have shrunk */
    TIMER_NOTICE,         /* write the reason on members without a filter call */
    TIMER_PARTIAL_COMMIT, /* the partial commit no longer goes first */
    TIMER_UNASKED,        /* check for early rejections, see early_rejection.h */
    TIMER_FAMILY,         /* count the members again; there were too many */
    TIMER_PREEMPTION,     /* search for victims, or check the room that muster keeps */
    GANG_TIMERS,
    /* Of a pod: */
    TIMER_CALL = GANG_TIMERS, /* the bind call must be answered */
    TIMER_RETRY,      /* read the pod or send its Binding again; or its eviction took too long */
    TIMER_UNSEEN,     /* the watch has not shown the pod in time */
    TIMER_GATE,       /* request the removal of the gate again, or report the reason */
    TIMER_WAKE_WRITE, /* repeat the wake write, which may be lost */
    TIMER_REJECTED_EARLY, /* the pod is plannable again after an early rejection */
    /* Of the core: */
    TIMER_WAKE,   /* wake the remaining blocked pods, or check those that were woken */
    TIMER_STEER,  /* steer the remaining members */
    TIMER_PLAN,   /* plan the remaining gangs */
    TIMER_SHOW,   /* show gated gangs to an autoscaler */
    TIMER_BATCH,  /* commit the complete gangs that wait for others */
    TIMER_LABELS, /* a namespace's rest ends: give its members new signatures */
    TIMER_CLAIMS, /* of a namespace's claims: changes that wait take effect */
    TIMER_COSTLY, /* core: plan the next costly gang, see costly_gangs.h */
    TIMER_QUEUES, /* core: statuses of queues are to be written */
    TIMER_SHARES, /* core: the shares of queues are computed again */
};
enum { POD_TIMERS = TIMER_WAKE - GANG_TIMERS };

struct timer {
    struct heap_node node;
    enum timer_kind kind;
    void *owner; /* struct gang, pod or claims_rest, by kind; NULL: the core */
};

#endif
