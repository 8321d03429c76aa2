/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/nominations.h"

#include "gang/cluster/effects.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/wake_writes.h"

void nomination_update(struct gang_core *core, struct pod *pod)
{
    list_remove(&pod->in_nominated);
    const char *name = pod->nominated; /* by kube-scheduler or muster */
    struct node *node =
        name && !pod->node && !pod_is_finished(pod) ? node_by_name(core, name) : NULL;
    if (node)
        list_push(&node->nominated, &pod->in_nominated);
    nominated_room_update(core, pod);
}

void nominated_to(struct pod *pod, const char *node)
{
    char *old = pod->nominated;
    pod->nominated = xstrdup_null(node);
    free(old);
}

void nomination_end(struct pod *pod)
{
    list_remove(&pod->in_nominated);
}

bool may_be_nominated(const struct pod *pod)
{
    return !pod->facts->suspended && !gate_stays_closed(pod);
}

void nominate(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (str_eq(pod->nominated, node ? node->name : NULL) && !pod->queue.rejected)
        return;
    if (!node && !pod->nominated)
        return;
    if (node && !may_be_nominated(pod))
        return;
    fx_pod(core, GANG_NOMINATE, pod, node);
    queue_wrote(pod);
    nominated_to(pod, node ? node->name : NULL);
    nominated_room_drop(pod, node);
    nomination_update(core, pod);
    if (node) {
        core->stats.wakes++;
        if (pod->queue.rejected || pod->wake_writes)
            wake_write_sent(core, pod);
        pod_reject(core, pod, false);
    } else if (pod->wake_writes) {
        pod_reject(core, pod, true); /* the wake write is undone, so it probably still sleeps */
    }
}

void nominations_clear(struct gang_core *core, struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (!pod->node && !pod->slot)
            nominate(core, pod, NULL);
}
