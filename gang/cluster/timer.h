/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - the kinds of timers that gangs, pods and the core have. See timers.h.
 */
#ifndef MUSTER_GANG_CLUSTER_TIMER_H
#define MUSTER_GANG_CLUSTER_TIMER_H

#include "base/heap.h"

enum timer_kind {
    TIMER_ATTEMPT,        /* gang: the attempt's schedule timeout */
    TIMER_EXTRAS,         /* gang: Placed; slots that no extra came for are released */
    TIMER_BACKOFF,        /* gang: the backoff is over */
    TIMER_EXPECTED,       /* gang: members that do not exist yet are not hoped for any longer */
    TIMER_HOLD,           /* gang: its oldest held call must be answered */
    TIMER_INFEASIBLE,     /* gang: what the scheduler refused may be tried again */
    TIMER_STATUS,         /* gang: figures may be written again */
    TIMER_STARVE,         /* gang: it has waited too long, see starvation.c */
    TIMER_REFRESH,        /* gang: it waits; its reason is looked at again, room may have shrunk */
    TIMER_NOTICE,         /* gang: members that the scheduler did not ask about are told why */
    TIMER_PARTIAL_COMMIT, /* gang: its commit has been unfinished for too long to go first */
    TIMER_TURNS,  /* gang: it has places; whose turn has passed is looked at, see early_rejection.c
                   */
    TIMER_FAMILY, /* gang: its family had too many members, and may have fewer now */
    GANG_TIMERS,
    TIMER_CALL = GANG_TIMERS, /* pod: its bind call must be answered */
    TIMER_RETRY,              /* pod: read or bind again */
    TIMER_UNSEEN,             /* pod: learnt from filter, the watch never showed it */
    TIMER_GATE,               /* pod: gated; its gate is to be lifted again, or it is told why */
    TIMER_WAKE_WRITE,         /* pod: what was to wake it may be lost, and is written again */
    TIMER_REJECTED_EARLY,     /* pod: it may be planned for again */
    TIMER_WAKE,               /* core: starved pods are left to wake */
    TIMER_STEER,              /* core: members are left to steer */
    TIMER_PLAN,               /* core: gangs are left to plan */
    TIMER_SHOW,               /* core: gated gangs may be shown to an autoscaler */
    TIMER_BATCH,              /* core: gangs that are complete wait for others */
    TIMER_LABELS,             /* core: members are to get signatures by other labels */
};
enum { POD_TIMERS = TIMER_WAKE - GANG_TIMERS };

struct timer {
    struct heap_node node;
    enum timer_kind kind;
    void *owner; /* struct gang or struct pod, by kind; NULL: the core */
};

#endif
