/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/timers.h"

#include "gang/cluster/lookup.h"

void timer_set(struct gang_core *core, struct timer *t, usec_t at)
{
    heap_set(&core->timers, &t->node, at);
}

void timer_stop(struct gang_core *core, struct timer *t)
{
    heap_remove(&core->timers, &t->node);
}

static struct timer *new_pod_timers(struct pod *pod)
{
    struct timer *timers = xcalloc(POD_TIMERS, sizeof *timers);
    for (int i = 0; i < POD_TIMERS; i++) {
        timers[i].kind = (enum timer_kind)(GANG_TIMERS + i);
        timers[i].owner = pod;
    }
    return timers;
}

void pod_timer_set(struct gang_core *core, struct pod *pod, enum timer_kind kind, usec_t at)
{
    if (!pod->timers)
        pod->timers = new_pod_timers(pod);
    timer_set(core, &pod->timers[kind - GANG_TIMERS], at);
}

void pod_timer_stop(struct gang_core *core, struct pod *pod, enum timer_kind kind)
{
    if (!pod->timers)
        return;
    timer_stop(core, &pod->timers[kind - GANG_TIMERS]);
    for (int i = 0; i < POD_TIMERS; i++)
        if (pod->timers[i].node.pos)
            return;
    free(pod->timers);
    pod->timers = NULL;
}

void pod_timers_stop(struct gang_core *core, struct pod *pod)
{
    for (int kind = GANG_TIMERS; kind < GANG_TIMERS + POD_TIMERS; kind++)
        pod_timer_stop(core, pod, (enum timer_kind)kind);
}
