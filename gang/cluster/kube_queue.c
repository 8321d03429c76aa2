/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/kube_queue.h"

#include "gang/cluster/objects.h"
#include "gang/cluster/timers.h"

/* What may be lost is written again, after longer pauses each time. */
#define NUDGE_FIRST (10 * USEC_PER_SEC)
#define NUDGE_MOST  (300 * USEC_PER_SEC)

void pod_reject(struct gang_core *core, struct pod *pod, bool rejected)
{
    core->n_refused -= pod->queue.rejected && pod->queue.refused;
    pod->queue.rejected = rejected;
    core->n_refused += pod->queue.rejected && pod->queue.refused;
}

void pod_refuse(struct gang_core *core, struct pod *pod)
{
    pod_reject(core, pod, false);
    pod->queue.refused = true;
    pod_reject(core, pod, true);
}

void nudge_end(struct gang_core *core, struct pod *pod)
{
    pod->queue.nudges = 0;
    timer_stop(core, pod_timer(pod, TIMER_NUDGE));
}

void nudge_arrived(struct gang_core *core, struct pod *pod)
{
    if (pod->queue.nudges) { /* late: it was to be written again */
        pod_reject(core, pod, false);
        starve_end(pod);
    }
    nudge_end(core, pod);
}

/* The pod sleeps until what was written arrives. */
void nudge_begin(struct gang_core *core, struct pod *pod)
{
    timer_set(core, pod_timer(pod, TIMER_NUDGE),
              core->now + usec_backoff(NUDGE_FIRST, NUDGE_MOST, pod->queue.nudges++));
}

void starve(struct gang_core *core, struct pod *pod)
{
    if (list_empty(&pod->queue.in_starved))
        list_push(&core->starved, &pod->queue.in_starved);
    starved_again(core);
}

void starve_end(struct pod *pod)
{
    list_remove(&pod->queue.in_starved);
}

void starved_again(struct gang_core *core)
{
    core->starved_tried = 0;
}

void starved_looked(struct gang_core *core)
{
    core->starved_tried = core->marks.freed;
}

/* ---- what kube-scheduler asks about ---- */

void queue_joined(const struct gang_core *core, struct pod *pod)
{
    pod->queue.joined = core->now;
}

void queue_asked(const struct gang_core *core, struct pod *pod)
{
    queue_joined(core, pod);
    pod->queue.asked = true;
    pod->queue.snubs = 0;
}

bool queue_wrote(struct pod *pod)
{
    bool asked = pod->queue.asked;
    pod->queue.asked = false;
    return asked;
}

int queue_snubbed(struct pod *pod)
{
    return pod->queue.snubs++;
}

void queue_snubs_over(struct pod *pod)
{
    pod->queue.snubs = 0;
}
