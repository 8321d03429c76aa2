/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pods_by_queue.h"

struct list *pods_that_name(const struct gang_core *core, const struct gang_ref *queue)
{
    return gang_ref_get(&core->pods_by_queue, queue);
}

static void join(struct gang_core *core, struct pod *pod)
{
    const struct gang_ref *ref = &pod->facts->queue;
    struct list *pods = pods_that_name(core, ref);
    if (!pods) {
        cleanup_free char *key = gang_ref_key(ref);
        pods = xmalloc(sizeof *pods);
        list_init(pods);
        map_set(&core->pods_by_queue, key, pods);
    }
    list_push(pods, &pod->in_queue_name);
}

static void leave(struct gang_core *core, struct pod *pod, const struct gang_ref *ref)
{
    struct list *pods = pods_that_name(core, ref);
    list_remove(&pod->in_queue_name);
    if (!list_empty(pods))
        return;
    cleanup_free char *key = gang_ref_key(ref);
    free(map_remove(&core->pods_by_queue, key));
}

void queue_name_update(struct gang_core *core, struct pod *pod, const struct gang_ref *was)
{
    const struct gang_ref *is = &pod->facts->queue;
    if (was && gang_ref_equal(was, is))
        return;
    if (was && was->api_group)
        leave(core, pod, was);
    if (is->api_group)
        join(core, pod);
}

void queue_name_end(struct gang_core *core, struct pod *pod)
{
    if (pod->facts->queue.api_group)
        leave(core, pod, &pod->facts->queue);
}
