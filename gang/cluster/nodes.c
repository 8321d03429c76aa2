/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/nodes.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/class_labels.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pods.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"
#include "gang/node_predicates.h"

static uint32_t free_id(struct gang_core *core)
{
    for (size_t i = core->n_ids; i-- > 0 && core->n_ids > map_count(&core->nodes);)
        if (!core->by_id[i])
            return (uint32_t)i;
    core->by_id = xreallocarray(core->by_id, core->n_ids + 1, sizeof *core->by_id);
    core->by_id[core->n_ids] = NULL;
    return (uint32_t)core->n_ids++;
}

/* Updates the pods that are nominated to the node: the watch may show a pod before its node. */
static void nominated_before(struct gang_core *core, const char *name)
{
    if (!core->synced)
        return; /* the sync updates all pods */
    map_for_each (e, &core->pods) {
        struct pod *pod = e->value;
        if (str_eq(pod->nominated, name))
            nomination_update(core, pod);
    }
}

/* Owns `name` from now on. */
static struct node *node_make(struct gang_core *core, char *name)
{
    struct node *node = xcalloc(1, sizeof *node);
    node->name = name;
    node->id = free_id(core);
    node->born = node->gen = clock_next(core);
    list_init(&node->in_earmarked);
    list_init(&node->marks.in_reclassify);
    list_init(&node->marks.in_by_pods_changed);
    list_init(&node->in_sent);
    node_reclassify(core, node);
    node_pods_changed(core, node);
    core->by_id[node->id] = node;
    list_init(&node->pods);
    list_init(&node->slots);
    list_init(&node->marks.in_recheck_slots);
    list_init(&node->nominated);
    list_init(&node->nominated_room);
    list_init(&node->preempted_room);
    map_set(&core->nodes, name, node);
    return node;
}

struct node *node_get(struct gang_core *core, const char *name)
{
    struct node *node = node_by_name(core, name);
    if (node)
        return node;
    node = node_make(core, xstrdup(name));
    nominated_before(core, name);
    return node;
}

struct node *node_trial_add(struct gang_core *core, const struct node *like)
{
    size_t number = core->n_ids;
    char *name = xasprintf("%s-%zu", like->name, number);
    while (node_by_name(core, name)) {
        free(name);
        name = xasprintf("%s-%zu", like->name, ++number);
    }
    struct node *node = node_make(core, name);
    node->facts = like->facts;
    amounts_set(core, &node->allocatable, &node->facts->allocatable);
    node->devices = like->devices;
    class_labels_copy(node, like);
    node_is_new(core, node);
    return node;
}

void node_trial_remove(struct gang_core *core, struct node *node, size_t n_ids)
{
    node->facts = NULL; /* borrowed from the original node */
    node_drop(core, node);
    core->n_ids = n_ids;
}

void node_drop(struct gang_core *core, struct node *node)
{
    list_for_each_safe (pod, &node->nominated_room, struct pod, in_nominated_room)
        nominated_room_end(core, pod);
    preempted_room_leave(core, node);
    core->by_id[node->id] = NULL;
    node_leaves_classes(core, node);
    list_remove(&node->in_earmarked);
    node_forget_marks(core, node);
    list_remove(&node->in_sent);
    list_for_each_safe (pod, &node->nominated, struct pod, in_nominated)
        nomination_end(pod);
    map_remove(&core->nodes, node->name);
    gang_node_facts_free(node->facts);
    amounts_done(core, &node->allocatable);
    amounts_done(core, &node->used);
    amounts_done(core, &node->reserved);
    amounts_done(core, &node->earmarked);
    free(node->name);
    free(node);
}

/* Frees deleted nodes, if nothing is charged or reserved there. This runs at the end of a step, so
 * pointers to nodes are valid within a step. */
void nodes_sweep(struct gang_core *core)
{
    for (size_t i = 0; core->marks.unused && i < core->n_ids; i++) {
        struct node *node = core->by_id[i];
        if (node && !node->facts && !node->n_pods && !node->n_slots)
            node_drop(core, node);
    }
    nodes_swept(core);
}

static bool grew(const struct amounts *before, const struct amounts *after)
{
    for (size_t i = 0; i < after->n; i++)
        if (after->items[i].amount > amount_of(before, after->items[i].resource))
            return true;
    return false;
}

static bool has_devices(const struct gang_core *core, const struct node *node)
{
    const struct amounts *a = &node->allocatable;
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].amount > 0 && resource_is(core, a->items[i].resource, RESOURCE_DEVICE))
            return true;
    return false;
}

/* Whether everything that rules about nodes read is the same. */
static bool rules_equal(const struct gang_node_facts *a, const struct gang_node_facts *b)
{
    if (a->unschedulable != b->unschedulable || a->n_taints != b->n_taints ||
        !gang_kvs_equal(&a->labels, &b->labels))
        return false;
    for (size_t i = 0; i < a->n_taints; i++)
        if (a->taints[i].effect != b->taints[i].effect ||
            strcmp(a->taints[i].key, b->taints[i].key) != 0 ||
            strcmp(a->taints[i].value, b->taints[i].value) != 0)
            return false;
    return true;
}

/* ---- resources that nodes have ---- */

/* More than any node has; the sum over 100,000 such nodes does not overflow. */
#define CAPACITY_MAX (INT64_MAX >> 17)

static int64_t capacity_of(const struct need *a)
{
    return a->amount < CAPACITY_MAX ? a->amount : CAPACITY_MAX;
}

static void capacity_change(struct gang_core *core, const struct amounts *was,
                            const struct amounts *is)
{
    if (amounts_equal(was, is))
        return;
    for (size_t i = 0; i < is->n; i++)
        amounts_change(core, &core->capacity, is->items[i].resource, capacity_of(&is->items[i]));
    for (size_t i = 0; i < was->n; i++)
        amounts_change(core, &core->capacity, was->items[i].resource, -capacity_of(&was->items[i]));
    queues_reorder(core);
    queues_want_changed(core);
}

/* Updates core->offered. True: a resource is new. */
static bool offer(struct gang_core *core, const struct gang_amounts *a, int by)
{
    bool news = false;
    for (size_t i = 0; i < a->n; i++) {
        uintptr_t n = (uintptr_t)map_get(&core->offered, a->items[i].resource);
        news |= n == 0;
        if (n + (uintptr_t)by)
            map_set(&core->offered, a->items[i].resource, (void *)(n + (uintptr_t)by));
        else
            map_remove(&core->offered, a->items[i].resource);
    }
    return news;
}

/* A pod with too many resources is not charged for those that no node has (signature_is_partial()).
 * When a node brings a new resource, the signatures of such pods change. */
static void offer_note(struct gang_core *core, const struct gang_node_facts *was,
                       const struct gang_node_facts *is)
{
    bool news = is && offer(core, &is->allocatable, 1);
    if (was)
        offer(core, &was->allocatable, -1);
    if (news && core->n_invalid)
        map_for_each (e, &core->pods)
            if (signature_is_partial(((struct pod *)e->value)->facts))
                pod_signature_update(core, e->value);
}

void on_node_set(struct gang_core *core, struct gang_node_facts *facts)
{
    struct node *node = node_get(core, facts->name);
    bool same_rules = node->facts && rules_equal(node->facts, facts);
    struct amounts before = node->allocatable, now = {0};
    amounts_set(core, &now, &facts->allocatable);
    bool more = grew(&before, &now), changed = !amounts_equal(&before, &now);
    if (changed)
        queue_uncount_node(core, node);
    node->allocatable = now;
    capacity_change(core, &before, &now);
    if (changed) {
        queue_count_node(core, node);
        node_touch(core, node);
        node_recount(core, node);
    }
    amounts_done(core, &before);
    hostnames_update(core, node->facts, facts);
    offer_note(core, node->facts, facts);
    struct gang_node_facts *old = node->facts;
    node->facts = facts;
    if (!same_rules)
        class_labels_update(core, node, old ? &old->labels : NULL, &facts->labels);
    gang_node_facts_free(old);
    node->devices = has_devices(core, node);
    layout_new(core);
    node_reclassify(core, node);
    if (!same_rules) {
        node->gen = clock_next(core);
        node_pods_changed(core, node);
    }
    if (!same_rules || more)
        node_changed(core, node);
    if (!same_rules || !list_empty(&node->slots))
        node_recheck_slots(core, node);
}

void on_node_gone(struct gang_core *core, const char *name)
{
    struct node *node = node_by_name(core, name);
    if (!node)
        return;
    hostnames_update(core, node->facts, NULL);
    offer_note(core, node->facts, NULL);
    struct gang_node_facts *old = STEAL(node->facts);
    if (old)
        class_labels_update(core, node, &old->labels, NULL);
    gang_node_facts_free(old);
    node->gen = clock_next(core);
    node_pods_changed(core, node);
    queue_uncount_node(core, node);
    capacity_change(core, &node->allocatable, &(const struct amounts){0});
    amounts_clear(core, &node->allocatable);
    queue_count_node(core, node);
    node_recount(core, node);
    node_recheck_slots(core, node);
    node_may_be_unused(core, node);
}
