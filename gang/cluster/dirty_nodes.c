/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/dirty_nodes.h"

#include "gang/cluster/inter_pod.h"
#include "gang/cluster/objects.h"

void room_grew(struct gang_core *core)
{
    core->freed = ++core->clock;
}

void node_freed(struct gang_core *core, struct node *node)
{
    room_grew(core);
    node->freed = core->freed;
}

void node_changed(struct gang_core *core, struct node *node)
{
    node_freed(core, node);
    node->changed = core->clock;
}

/* kube-scheduler may hear of a pod's end so long after us, or have begun a try before it. */
#define BEHIND (500 * USEC_PER_MSEC)

bool node_just_freed(const struct gang_core *core, const struct node *node)
{
    return node->left && core->now < node->left + BEHIND;
}

void node_moved(struct gang_core *core, struct node *node)
{
    if (list_empty(&node->in_moved))
        list_push(&core->moved, &node->in_moved);
}

void node_crowd(struct gang_core *core, struct node *node)
{
    node->crowd = ++core->crowds;
    node->stirred = core->model.stirred = core->now;
    layout_new(core);
    node_moved(core, node);
}

void node_doubt(struct gang_core *core, struct node *node)
{
    if (list_empty(&node->in_doubted))
        list_push(&core->doubted, &node->in_doubted);
}

void shunning_begin(struct gang_core *core, struct pod *pod)
{
    if (!pod->facts->n_shuns)
        return;
    list_remove(&pod->in_shunning);
    list_push(&core->shunning, &pod->in_shunning);
    pod->shuns_as = ++core->shunnings;
}
