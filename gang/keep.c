/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.c - capacity kept for a gang that has waited too long.
 *
 * Smaller work may go ahead of a gang that does not fit. After config.starvation that ends: the
 * first such gang in the order becomes the keeper. A place is looked for that each needed member
 * could have some day, on the nodes that have the most room now; what is free there is kept, and
 * what becomes free anywhere is taken into account at once, so the room only grows. Work that comes
 * after the keeper passes where it does not need what is kept; work of a higher priority passes
 * anyhow. With strict order the first waiting gang is the keeper from the first moment.
 *
 * What is kept is no reservation: the keeper is planned like any other gang, anywhere, as soon as
 * it fits.
 */
#include "base/hash.h"
#include "gang/classes.h"

static bool exceeds(const struct node *node, const struct shape *shape, int64_t *lack)
{
    *lack = 0;
    for (size_t i = 0; i < shape->n_needs; i++) {
        uint32_t r = shape->needs[i].resource;
        int64_t need = shape->needs[i].amount, kept = amount_of(&node->kept, r);
        if (need > amount_of(&node->allocatable, r) - kept)
            return true;
        int64_t missing = need - (node_free(node, r) - kept);
        bool counts = (int)r == shape->device || shape->device < 0;
        if (counts && missing > *lack)
            *lack = missing;
    }
    return false;
}

/* The node that lacks least for one more pod of the shape beside what is kept already, of those
 * that could hold it if they were empty. */
struct node *some_day_node(struct gang_core *core, const struct gang *gang, struct shape *shape)
{
    struct node *best = NULL;
    int64_t least = 0, lack;
    struct look look = look_begin(core, gang, shape, NULL);
    while (look_next(&look)) {
        struct node *node = look.node;
        if (exceeds(node, shape, &lack) || shape_refusal(shape, node) ||
            evidence_refuses(core, gang, shape, node) || (shape->alone && node->kept_alone))
            continue;
        if (!best || lack < least || (lack == least && node_better(shape, node, best))) {
            best = node;
            least = lack;
        }
    }
    return best;
}

static void keep(struct gang_core *core, struct node *node, struct shape *shape)
{
    layout_new(core);
    amounts_add(core, &node->kept, shape, 1);
    node->kept_alone |= shape->alone;
    if (list_empty(&node->in_kept))
        list_push(&core->kept, &node->in_kept);
    node_moved(core, node);
}

static void forget_kept(struct gang_core *core)
{
    layout_new(core);
    list_for_each_safe (node, &core->kept, struct node, in_kept) {
        amounts_clear(core, &node->kept);
        node->kept_alone = false;
        list_remove(&node->in_kept);
        node_moved(core, node);
    }
}

/* Keeps what the gang could use some day; false: it could not run on the empty cluster. */
static bool keep_places(struct gang_core *core, struct gang *gang)
{
    core->keeper = gang;
    if (place_some_day(core, gang, forget_kept, keep))
        return true;
    if (core->config.strict_order) /* what comes after it waits all the same */
        return true;
    forget_kept(core);
    core->keeper = NULL;
    return false;
}

/* Tells one distribution of what is kept from another. */
static uint64_t kept_digest(const struct gang_core *core)
{
    uint64_t sum = 0; /* the nodes are in no order */
    list_for_each (node, &core->kept, struct node, in_kept) {
        uint64_t h = hash_u64(HASH_START, node->id);
        for (size_t i = 0; i < node->kept.n; i++)
            h = hash_u64(hash_u64(h, node->kept.items[i].resource),
                         (uint64_t)node->kept.items[i].amount);
        sum += hash_u64(h, h >> 32); /* FNV alone would miss what two nodes have exchanged */
    }
    return sum;
}

void keep_for(struct gang_core *core, struct gang *gang)
{
    struct gang *before = core->keeper;
    if (before && before != gang && by_order(&before, &gang) < 0)
        return;
    uint64_t was = kept_digest(core);
    if (!keep_places(core, gang) && before && before != gang)
        keep_places(core, before);
    if (before && kept_digest(core) != was)
        room_grew(core); /* what was kept elsewhere is another's now */
}

void keep_end(struct gang_core *core, struct gang *gang)
{
    if (core->keeper != gang)
        return;
    forget_kept(core);
    core->keeper = NULL;
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
