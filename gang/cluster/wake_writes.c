/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/wake_writes.h"

#include "gang/cluster/kube_queue.h"
#include "gang/cluster/timers.h"

/* The pauses after which a wake write is repeated. */
#define REWRITE_FIRST (10 * USEC_PER_SEC)
#define REWRITE_MOST  (300 * USEC_PER_SEC)

void wake_write_over(struct gang_core *core, struct pod *pod)
{
    pod->wake_writes = 0;
    pod_timer_stop(core, pod, TIMER_WAKE_WRITE);
}

void wake_write_seen(struct gang_core *core, struct pod *pod)
{
    if (pod->wake_writes) { /* TIMER_WAKE_WRITE may have marked it as asleep again */
        pod_reject(core, pod, false);
        unblock_pod(pod);
    }
    wake_write_over(core, pod);
}

void wake_write_sent(struct gang_core *core, struct pod *pod)
{
    pod_timer_set(core, pod, TIMER_WAKE_WRITE,
                  core->now + usec_backoff(REWRITE_FIRST, REWRITE_MOST, pod->wake_writes++));
}
