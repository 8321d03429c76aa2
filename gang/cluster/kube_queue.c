/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/kube_queue.h"

#include "gang/cluster/lookup.h"

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

void block_pod(struct gang_core *core, struct pod *pod)
{
    if (list_empty(&pod->queue.in_blocked))
        list_push(&core->blocked, &pod->queue.in_blocked);
    blocked_recheck(core);
}

void unblock_pod(struct pod *pod)
{
    list_remove(&pod->queue.in_blocked);
}

void blocked_recheck(struct gang_core *core)
{
    if (!core->marks.dry)
        core->blocked_checked_at = 0;
}

void blocked_checked(struct gang_core *core)
{
    core->blocked_checked_at = core->marks.freed;
}

/* ---- filter calls ---- */

void queue_joined(const struct gang_core *core, struct pod *pod)
{
    pod->queue.joined = core->now;
}

void queue_asked(const struct gang_core *core, struct pod *pod)
{
    queue_joined(core, pod);
    pod->queue.asked = true;
    pod->queue.early_rejections = 0;
}

bool queue_wrote(struct pod *pod)
{
    bool asked = pod->queue.asked;
    pod->queue.asked = false;
    return asked;
}

int queue_rejected_early(struct pod *pod)
{
    return pod->queue.early_rejections++;
}

void queue_early_rejections_over(struct pod *pod)
{
    pod->queue.early_rejections = 0;
}
