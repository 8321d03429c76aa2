/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/node_score.h"

#include "gang/cluster/inter_pod.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/pod_signature.h"
#include "gang/cluster/resources.h"
#include "gang/plan/candidates.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/kept_room.h"

/*
 * The order of nodes for a shape. Device pods: the node with the fewest free devices, so that whole
 * nodes stay whole. Others: away from device nodes, then the node with the least free CPU. The
 * name decides between equals, so that a restart decides alike.
 */
bool node_better(const struct shape *shape, const struct node *a, const struct node *b)
{
    if (shape->device >= 0) {
        int64_t x = node_free(a, (uint32_t)shape->device),
                y = node_free(b, (uint32_t)shape->device);
        if (x != y)
            return x < y;
    } else if (a->devices != b->devices) {
        return !a->devices;
    }
    int64_t x = node_free(a, RES_CPU), y = node_free(b, RES_CPU);
    return x != y ? x < y : strcmp(a->name, b->name) < 0;
}

static bool node_will_do(const struct gang *gang, struct rules *rules, const struct node *node,
                         const struct reach *reach)
{
    struct shape *shape = rules->shape;
    return node_misfit(node, shape, reach) == -1 && !shape_refusal(shape, node) &&
           !evidence_refuses(rules->core, gang, shape, node) &&
           rules_refusal(rules, node) == RULE_NONE;
}

bool node_does(const struct gang_core *core, const struct gang *gang, struct shape *shape,
               const struct node *node, const struct reach *reach)
{
    struct rules rules = rules_for(core, shape);
    return node_will_do(gang, &rules, node, reach);
}

struct node *plan_node(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except)
{
    struct node *best = NULL;
    struct rules rules = rules_for(core, shape);
    struct reach reach = gang_reach(core, gang);
    struct look look = look_begin(core, gang, shape, except);
    while (look_next(&look))
        if (node_will_do(gang, &rules, look.node, &reach) &&
            (!best || node_better(shape, look.node, best)))
            best = look.node;
    return best;
}

/* ---- the queue ---- */

static void sink(struct queue *q, size_t at, const struct shape *shape)
{
    struct candidate *items = q->items;
    for (size_t child; (child = 2 * at + 1) < q->n; at = child) {
        child += child + 1 < q->n && node_better(shape, items[child + 1].node, items[child].node);
        if (!node_better(shape, items[child].node, items[at].node))
            return;
        struct candidate up = items[child];
        items[child] = items[at];
        items[at] = up;
    }
}

static void fill(struct gang_core *core, struct queue *q, struct shape *shape)
{
    struct rules rules = rules_for(core, shape);
    q->n = 0;
    q->shape = shape;
    struct look look = look_begin(core, q->gang, shape, NULL);
    while (look_next(&look)) {
        if (!node_will_do(q->gang, &rules, look.node, &q->reach))
            continue;
        GROW(q->items, q->cap, q->n + 1);
        q->items[q->n++] = (struct candidate){look.node, look_is_whole(&look) ? look.class : NULL};
    }
    for (size_t i = q->n / 2; i-- > 0;)
        sink(q, i, shape);
}

/* The node on top is full: the next of its class comes up. It has left the class, unless all of the
 * class will not do any more. */
static bool next_of_class(struct gang_core *core, struct candidate *top)
{
    if (!top->class)
        return false;
    classes_settle(core);
    struct node *full = top->node;
    top->node = class_first(top->class, NULL);
    return top->node && top->node != full;
}

struct node *queue_top(struct gang_core *core, struct queue *q, struct shape *shape)
{
    if (q->shape != shape)
        fill(core, q, shape);
    while (q->n && !node_does(core, q->gang, shape, q->items[0].node, &q->reach)) {
        if (!next_of_class(core, &q->items[0]))
            q->items[0] = q->items[--q->n];
        sink(q, 0, shape);
    }
    /* Only a spread lets nodes in again that were ruled out. */
    if (!q->n && shape->spread)
        fill(core, q, shape);
    return q->n ? q->items[0].node : NULL;
}

void queue_done(struct queue *q)
{
    free(q->items);
}

/* ---- some day ---- */

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
