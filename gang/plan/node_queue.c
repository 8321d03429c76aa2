/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/node_queue.h"

#include "gang/cluster/node_classes.h"
#include "gang/cluster/signatures.h"
#include "gang/plan/node_scan.h"
#include "gang/plan/node_score.h"

static void fill(struct gang_core *core, struct node_queue *q, struct signature *signature)
{
    bool again = q->heap.signature == signature;
    struct rules rules = rules_for(core, signature);
    node_heap_reset(&q->heap, signature);
    struct node_scan scan = again ? node_scan_again(core, q->gang, signature)
                                  : node_scan_begin(core, q->gang, signature, NULL);
    while (node_scan_next(&scan)) {
        struct node_class *class = node_scan_covers_class(&scan) ? scan.class : NULL;
        if (node_passes(q->gang, &rules, scan.node, &q->reach))
            node_heap_push(&q->heap, (struct candidate){scan.node, class, 0});
    }
}

/* Replaces the top node, which is full, by the next node of its class. False: there is none. The
 * full node is now in another class, unless the whole class is no longer feasible. */
static bool next_of_class(struct gang_core *core, struct candidate *top)
{
    if (!top->class)
        return false;
    classes_settle(core);
    struct node *full = top->node;
    top->node = class_first(top->class, NULL);
    return top->node && top->node != full;
}

struct node *node_queue_top(struct gang_core *core, struct node_queue *q,
                            struct signature *signature)
{
    struct node_heap *heap = &q->heap;
    if (heap->signature != signature)
        fill(core, q, signature);
    while (heap->n && !node_is_feasible(core, q->gang, signature, heap->items[0].node, &q->reach)) {
        if (next_of_class(core, &heap->items[0]))
            node_heap_sink_top(heap);
        else
            node_heap_drop_top(heap);
    }
    /* With topology spread, a node may become feasible again after members were placed elsewhere.
     */
    if (!heap->n && signature->spread)
        fill(core, q, signature);
    return heap->n ? heap->items[0].node : NULL;
}

void node_queue_done(struct node_queue *q)
{
    node_heap_done(&q->heap);
}
