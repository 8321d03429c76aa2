/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - the times at which a step is due, though nothing happens.
 */
#ifndef MUSTER_GANG_CLUSTER_TIMERS_H
#define MUSTER_GANG_CLUSTER_TIMERS_H

#include "gang/cluster/lookup.h"

/* Instead of the time that it was set to before. */
void timer_set(struct gang_core *core, struct timer *t, usec_t at);
/* It need not run. */
void timer_stop(struct gang_core *core, struct timer *t);
static inline struct timer *pod_timer(struct pod *pod, enum timer_kind kind)
{
    return &pod->timers[kind - GANG_TIMERS];
}

#endif
