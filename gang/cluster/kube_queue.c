/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/kube_queue.h"

#include "gang/cluster/objects.h"
#include "gang/cluster/timers.h"

/* What may be lost is written again, after longer pauses each time. */
#define NUDGE_FIRST (10 * USEC_PER_SEC)
#define NUDGE_MOST  (300 * USEC_PER_SEC)

void pod_reject(struct gang_core *core, struct pod *pod, bool rejected)
{
    core->n_refused -= pod->rejected && pod->refused;
    pod->rejected = rejected;
    core->n_refused += pod->rejected && pod->refused;
}

void pod_refuse(struct gang_core *core, struct pod *pod)
{
    pod_reject(core, pod, false);
    pod->refused = true;
    pod_reject(core, pod, true);
}

void nudge_end(struct gang_core *core, struct pod *pod)
{
    pod->nudges = 0;
    timer_stop(core, pod_timer(pod, TIMER_NUDGE));
}

void nudge_arrived(struct gang_core *core, struct pod *pod)
{
    if (pod->nudges) { /* late: it was to be written again */
        pod_reject(core, pod, false);
        list_remove(&pod->in_starved);
    }
    nudge_end(core, pod);
}

/* The pod sleeps until what was written arrives. */
void nudge_begin(struct gang_core *core, struct pod *pod)
{
    timer_set(core, pod_timer(pod, TIMER_NUDGE),
              core->now + usec_backoff(NUDGE_FIRST, NUDGE_MOST, pod->nudges++));
}

void starve(struct gang_core *core, struct pod *pod)
{
    if (list_empty(&pod->in_starved))
        list_push(&core->starved, &pod->in_starved);
    core->starved_tried = 0;
}
