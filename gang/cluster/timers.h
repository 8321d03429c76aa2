/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - timers of gangs, pods and the core: when a step is due without an event.
 */
#ifndef MUSTER_GANG_CLUSTER_TIMERS_H
#define MUSTER_GANG_CLUSTER_TIMERS_H

#include "gang/cluster/lookup.h"

/* Replaces an earlier time. */
void timer_set(struct gang_core *core, struct timer *t, usec_t at);
/* The timer may be stopped already. */
void timer_stop(struct gang_core *core, struct timer *t);

/* A pod has memory for its timers only while one of them is set: few pods of a cluster need any. */
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
