/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - the kinds of timers of gangs, pods and the core, see timers.h.
 */
#ifndef MUSTER_GANG_CLUSTER_TIMER_H
#define MUSTER_GANG_CLUSTER_TIMER_H

#include "base/heap.h"

enum timer_kind {
    TIMER_ATTEMPT,        /* gang: the attempt's schedule timeout */
    TIMER_EXTRAS,         /* gang: Scheduled; slots that no extra came for are released */
    TIMER_BACKOFF,        /* gang: the backoff ends */
    TIMER_EXPECTED,       /* gang: missing members are no longer expected */
    TIMER_HOLD,           /* gang: its oldest held call must be answered */
    TIMER_INFEASIBLE,     /* gang: infeasible nodes may be tried again */
    TIMER_STATUS,         /* gang: status numbers may be written again */
    TIMER_STARVE,         /* gang: it has waited too long, see starvation.c */
    TIMER_REFRESH,        /* gang: its reason is computed again, because room may have shrunk */
    TIMER_NOTICE,         /* gang: members without a filter call get the reason */
    TIMER_PARTIAL_COMMIT, /* gang: its partial commit no longer goes first */
    TIMER_TURNS,  /* gang: it has slots; check whose turn has passed, see early_rejection.c */
    TIMER_FAMILY, /* gang: its family had too many members; count them again */
    GANG_TIMERS,
    TIMER_CALL = GANG_TIMERS, /* pod: its bind call must be answered */
    TIMER_RETRY,              /* pod: read or bind again */
    TIMER_UNSEEN,             /* pod: known from filter, but the watch never showed it */
    TIMER_GATE,               /* pod: lift its gate again, or report why not */
    TIMER_WAKE_WRITE,         /* pod: its wake write may be lost; write again */
    TIMER_REJECTED_EARLY,     /* pod: its early rejection expires */
    TIMER_WAKE,               /* core: blocked pods are left to wake */
    TIMER_STEER,              /* core: members are left to steer */
    TIMER_PLAN,               /* core: gangs are left to plan */
    TIMER_SHOW,               /* core: gated gangs may be shown to an autoscaler */
    TIMER_BATCH,              /* core: gangs that are complete wait for others */
    TIMER_LABELS,             /* core: members get new signatures after a change of rule labels */
};
enum { POD_TIMERS = TIMER_WAKE - GANG_TIMERS };

struct timer {
    struct heap_node node;
    enum timer_kind kind;
    void *owner; /* struct gang or struct pod, by kind; NULL: the core */
};

#endif
