/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/kept_room.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/inter_pod.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/resources.h"
#include "gang/podgroup/order.h"

void kept_add(struct gang_core *core, struct node *node, struct shape *shape)
{
    layout_new(core);
    amounts_add(core, &node->kept, shape, 1);
    node->kept_alone |= shape->alone;
    if (list_empty(&node->in_kept))
        list_push(&core->kept, &node->in_kept);
    node_moved(core, node);
}

void kept_forget(struct gang_core *core)
{
    layout_new(core);
    list_for_each_safe (node, &core->kept, struct node, in_kept) {
        amounts_clear(core, &node->kept);
        node->kept_alone = false;
        list_remove(&node->in_kept);
        node_moved(core, node);
    }
}

void kept_for(struct gang_core *core, struct gang *gang)
{
    core->keeper = gang;
}

void keep_end(struct gang_core *core, struct gang *gang)
{
    if (core->keeper != gang)
        return;
    kept_forget(core);
    kept_for(core, NULL);
    room_grew(core); /* room for those that it kept out */
}

void keep_moved(struct gang_core *core, const struct gang *gang)
{
    if (core->keeper == gang)
        room_grew(core);
}

bool gang_heeds(const struct gang_core *core, const struct gang *gang)
{
    const struct gang *keeper = core->keeper;
    return keeper && gang != keeper && order_after(gang, keeper);
}

bool pod_heeds(const struct gang_core *core, const struct pod *pod)
{
    const struct gang *keeper = core->keeper;
    return keeper && pod->gang != keeper && pod->facts->priority <= keeper->priority;
}

struct reach gang_reach(const struct gang_core *core, const struct gang *gang)
{
    return (struct reach){
        .heeds = gang_heeds(core, gang), .yields = true, .priority = gang->pod_priority};
}

struct reach pod_reach(const struct gang_core *core, const struct pod *pod)
{
    return (struct reach){
        .heeds = pod_heeds(core, pod), .priority = pod->facts->priority, .self = pod};
}

bool reach_equal(const struct gang_core *core, const struct reach *a, const struct reach *b)
{
    return a->heeds == b->heeds && (a->priority == b->priority || !core->n_promised);
}
