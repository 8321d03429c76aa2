/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/dirty_nodes.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/lookup.h"

uint64_t clock_next(struct gang_core *core)
{
    return ++core->marks.clock;
}

void layout_new(struct gang_core *core)
{
    core->marks.layout = ++core->marks.layouts;
}

void layout_restore(struct gang_core *core, uint64_t layout)
{
    core->marks.layout = layout;
}

void room_grew(struct gang_core *core)
{
    if (core->marks.dry)
        return;
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

/* kube-scheduler may see the end of a pod this much later than muster does, or may have begun a
 * scheduling cycle this long before it. */
#define BEHIND (500 * USEC_PER_MSEC)

bool node_just_freed(const struct gang_core *core, const struct node *node)
{
    return node->left && core->now < node->left + BEHIND;
}

void node_may_be_unused(struct gang_core *core, const struct node *node)
{
    core->marks.unused |= !node->facts && !core->marks.paused;
}

void nodes_swept(struct gang_core *core)
{
    core->marks.unused = false;
}

void node_rules_changed(struct node *node)
{
    node->marks.rules_gen = 0;
}

void node_rules_known(struct node *node)
{
    node->marks.rules_gen = node->gen;
}

struct node *reclassify_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->marks.reclassify);
    return first ? CONTAINER_OF(first, struct node, marks.in_reclassify) : NULL;
}

void node_reclassify(struct gang_core *core, struct node *node)
{
    if (list_empty(&node->marks.in_reclassify))
        list_push(&core->marks.reclassify, &node->marks.in_reclassify);
}

void node_touch(struct gang_core *core, struct node *node)
{
    if (!core->marks.paused)
        node->marks.touched_at = core->marks.touched_at = core->now;
}

void marks_pause(struct gang_core *core)
{
    core->marks.paused = true;
}

void marks_resume(struct gang_core *core)
{
    core->marks.paused = false;
}

void dry_run_begins(struct gang_core *core)
{
    core->marks.dry = true;
}

void dry_run_ends(struct gang_core *core)
{
    core->marks.dry = false;
}

void node_changed_at(struct node *node, uint64_t clock)
{
    node->marks.changed = clock;
}

void node_is_new(const struct gang_core *core, struct node *node)
{
    node->marks.freed = node->marks.changed = core->marks.clock;
}

void node_pods_changed(struct gang_core *core, struct node *node)
{
    node->marks.pods_changed = ++core->marks.pods_changes;
    list_remove(&node->marks.in_by_pods_changed);
    list_push(core->marks.by_pods_changed.next, &node->marks.in_by_pods_changed);
    node_touch(core, node);
    layout_new(core);
    node_reclassify(core, node);
}

void node_forget_marks(struct gang_core *core, struct node *node)
{
    list_remove(&node->marks.in_recheck_slots);
    list_remove(&node->marks.in_reclassify);
    list_remove(&node->marks.in_by_pods_changed);
    core->marks.nodes_dropped++;
    core->marks.pods_changes++;
}

void node_recheck_slots(struct gang_core *core, struct node *node)
{
    if (list_empty(&node->marks.in_recheck_slots))
        list_push(&core->marks.recheck_slots, &node->marks.in_recheck_slots);
}

struct node *recheck_slots_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->marks.recheck_slots);
    return first ? CONTAINER_OF(first, struct node, marks.in_recheck_slots) : NULL;
}

void wide_anti_affinity_begin(struct gang_core *core, struct pod *pod)
{
    if (!pod->facts->n_wide_anti_affinity)
        return;
    list_remove(&pod->in_wide_anti_affinity);
    list_push(&core->marks.wide_anti_affinity, &pod->in_wide_anti_affinity);
    pod->wide_anti_affinity_seq = ++core->marks.wide_anti_affinity_last;
}

void wide_anti_affinity_end(struct pod *pod)
{
    list_remove(&pod->in_wide_anti_affinity);
}
