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
static inline struct timer *pod_timer(struct pod *pod, enum timer_kind kind)
{
    return &pod->timers[kind - GANG_TIMERS];
}

#endif
