/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pod_gate.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"

/* The pauses after which the removal of a gate is requested again. */
#define AGAIN_FIRST (10 * USEC_PER_SEC)
#define AGAIN_MOST  (300 * USEC_PER_SEC)

void gate_seen(struct gang_core *core, struct pod *pod, bool was, bool is)
{
    core->n_gated += (size_t)is;
    core->n_gated -= (size_t)was;
    if (!was || is)
        return;
    pod->lifts = 0;
    pod_timer_stop(core, pod, TIMER_GATE);
}

void gate_asked(struct gang_core *core, struct pod *pod)
{
    pod_timer_set(core, pod, TIMER_GATE,
                  core->now + usec_backoff(AGAIN_FIRST, AGAIN_MOST, pod->lifts++));
}

void gate_touch(struct gang_core *core, struct pod *pod)
{
    list_remove(&pod->in_ungrouped);
    if (!pod->gang && (gate_is_closed(pod) || pod->facts->awaits_group))
        list_push(&core->ungrouped_changed, &pod->in_ungrouped);
}

struct pod *ungrouped_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->ungrouped_changed);
    return first ? CONTAINER_OF(first, struct pod, in_ungrouped) : NULL;
}
