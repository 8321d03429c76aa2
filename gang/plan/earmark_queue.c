/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/earmark_queue.h"

#include "gang/cluster/ledger.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"
#include "gang/plan/node_scan.h"
#include "gang/podgroup/infeasible_nodes.h"

/* Whether the pod does not fit on the empty node next to what is earmarked. Else *lack is what is
 * missing now: of the device, or the largest amount. */
static bool exceeds_node(const struct node *node, const struct signature *signature, int64_t *lack)
{
    *lack = 0;
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = signature->needs[i].resource;
        int64_t need = signature->needs[i].amount, earmarked = amount_of(&node->earmarked, r);
        if (need > amount_of(&node->allocatable, r) - earmarked)
            return true;
        int64_t missing = need - (node_free(node, r) - earmarked);
        bool counts = (int)r == signature->device || signature->device < 0;
        if (counts && missing > *lack)
            *lack = missing;
    }
    return false;
}

static bool could_hold(const struct earmark_queue *q, const struct node *node, int64_t *lack)
{
    struct signature *signature = q->heap.signature;
    return !exceeds_node(node, signature, lack) && !signature_refusal(signature, node) &&
           !node_is_infeasible(q->core, q->gang, signature, node) &&
           !(signature->alone && node->earmarked_alone);
}

static void fill(struct earmark_queue *q, struct signature *signature)
{
    int64_t lack;
    node_heap_reset(&q->heap, signature);
    struct node_scan scan = node_scan_empty_begin(q->core, q->gang, signature);
    while (node_scan_next(&scan)) {
        struct node_class *class = node_scan_covers_class(&scan) ? scan.class : NULL;
        if (could_hold(q, scan.node, &lack))
            node_heap_push(&q->heap, (struct candidate){scan.node, class, lack});
    }
}

/* The top node has left its class, so it becomes an entry of its own. */
static void split_top(struct earmark_queue *q)
{
    struct candidate top = q->heap.items[0];
    struct node *next = class_first(top.class, NULL);
    q->heap.items[0].node = next;
    if (next)
        node_heap_sink_top(&q->heap);
    else
        node_heap_drop_top(&q->heap);
    if (could_hold(q, top.node, &top.lack))
        node_heap_push(&q->heap, (struct candidate){top.node, NULL, top.lack});
}

struct node *earmark_queue_top(struct earmark_queue *q, struct signature *signature)
{
    int64_t lack;
    classes_settle(q->core);
    if (q->heap.signature != signature)
        fill(q, signature);
    while (q->heap.n) {
        struct candidate *top = &q->heap.items[0];
        if (top->class && top->node->class != top->class) {
            split_top(q);
        } else if (!could_hold(q, top->node, &lack)) {
            node_heap_drop_top(&q->heap);
        } else if (lack != top->lack) {
            top->lack = lack;
            node_heap_sink_top(&q->heap);
        } else {
            return top->node;
        }
    }
    return NULL;
}

void earmark_queue_done(struct earmark_queue *q)
{
    node_heap_done(&q->heap);
}
