/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/dirty_nodes.h"

#include "gang/cluster/inter_pod.h"
#include "gang/cluster/objects.h"

uint64_t clock_next(struct gang_core *core)
{
    return ++core->marks.clock;
}

void layout_new(struct gang_core *core)
{
    core->marks.layout = ++core->marks.layouts;
}

void layout_back(struct gang_core *core, uint64_t layout)
{
    core->marks.layout = layout;
}

void room_grew(struct gang_core *core)
{
    core->marks.freed = clock_next(core);
}

void node_freed(struct gang_core *core, struct node *node)
{
    room_grew(core);
    node->marks.freed = core->marks.freed;
}

void node_changed(struct gang_core *core, struct node *node)
{
    node_freed(core, node);
    node->marks.changed = core->marks.clock;
}

/* kube-scheduler may hear of a pod's end so long after us, or have begun a try before it. */
#define BEHIND (500 * USEC_PER_MSEC)

bool node_just_freed(const struct gang_core *core, const struct node *node)
{
    return node->left && core->now < node->left + BEHIND;
}

void node_may_be_bare(struct gang_core *core, const struct node *node)
{
    core->marks.bare |= !node->facts && !core->marks.paused;
}

void nodes_swept(struct gang_core *core)
{
    core->marks.bare = false;
}

void node_rules_changed(struct node *node)
{
    node->marks.rules_gen = 0;
}

void node_rules_known(struct node *node)
{
    node->marks.rules_gen = node->gen;
}

struct node *moved_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->marks.moved);
    return first ? CONTAINER_OF(first, struct node, marks.in_moved) : NULL;
}

void node_moved(struct gang_core *core, struct node *node)
{
    if (list_empty(&node->marks.in_moved))
        list_push(&core->marks.moved, &node->marks.in_moved);
}

void node_stir(struct gang_core *core, struct node *node)
{
    if (!core->marks.paused)
        node->marks.stirred = core->marks.stirred = core->now;
}

void marks_pause(struct gang_core *core)
{
    core->marks.paused = true;
}

void marks_resume(struct gang_core *core)
{
    core->marks.paused = false;
}

void node_changed_at(struct node *node, uint64_t clock)
{
    node->marks.changed = clock;
}

void node_is_new(const struct gang_core *core, struct node *node)
{
    node->marks.freed = node->marks.changed = core->marks.clock;
}

void node_crowd(struct gang_core *core, struct node *node)
{
    node->marks.crowd = ++core->marks.crowds;
    node_stir(core, node);
    layout_new(core);
    node_moved(core, node);
}

void node_doubt(struct gang_core *core, struct node *node)
{
    if (list_empty(&node->marks.in_doubted))
        list_push(&core->marks.doubted, &node->marks.in_doubted);
}

struct node *doubted_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->marks.doubted);
    return first ? CONTAINER_OF(first, struct node, marks.in_doubted) : NULL;
}

void shunning_begin(struct gang_core *core, struct pod *pod)
{
    if (!pod->facts->n_shuns)
        return;
    list_remove(&pod->in_shunning);
    list_push(&core->marks.shunning, &pod->in_shunning);
    pod->shuns_as = ++core->marks.shunnings;
}

void shunning_end(struct pod *pod)
{
    list_remove(&pod->in_shunning);
}
