/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - timers of gangs, pods and the core. They decide when a step is due without an event,
 * see gang_core_next(). step.c fires them.
 */
#ifndef MUSTER_GANG_CLUSTER_TIMERS_H
#define MUSTER_GANG_CLUSTER_TIMERS_H

#include "gang/cluster/lookup.h"

/* Sets the timer, or changes its time. */
void timer_set(struct gang_core *core, struct timer *t, usec_t at);
/* Does nothing if the timer is not set. */
void timer_stop(struct gang_core *core, struct timer *t);

/* The timers of a pod need memory only while one of them is set, because few pods need timers. */
void pod_timer_set(struct gang_core *core, struct pod *pod, enum timer_kind kind, usec_t at);
void pod_timer_stop(struct gang_core *core, struct pod *pod, enum timer_kind kind);
void pod_timers_stop(struct gang_core *core, struct pod *pod);
static inline bool is_pod_timer(enum timer_kind kind)
{
    return kind >= GANG_TIMERS && kind < GANG_TIMERS + POD_TIMERS;
}
static inline bool pod_timer_is_set(const struct pod *pod, enum timer_kind kind)
{
    return pod->timers && pod->timers[kind - GANG_TIMERS].node.pos;
}

#endif
