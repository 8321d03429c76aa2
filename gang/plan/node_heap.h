/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_heap.h - candidates for pods of a signature, the best node on top.
 *
 * A candidate is a class, represented by its first node, or a single node. The candidate that lacks
 * least comes first, then the better node (node_better()). If the top candidate has become worse,
 * call node_heap_sink_top(). Other candidates keep their position, so each caller checks the top
 * one again before it uses it.
 *
 * The heap owns its table, and node_heap_done() frees it.
 */
#ifndef MUSTER_GANG_PLAN_NODE_HEAP_H
#define MUSTER_GANG_PLAN_NODE_HEAP_H

#include "gang/cluster/lookup.h"

struct candidate {
    struct node *node;
    struct node_class *class; /* the class that the node represents; NULL: a single node */
    int64_t lack;             /* what is missing on the node now; 0: nothing */
};
struct node_heap {
    struct signature *signature; /* NULL: not filled yet */
    struct candidate *items;
    size_t n, cap;
};

/* Empties the heap, for candidates for this signature. */
void node_heap_reset(struct node_heap *h, struct signature *signature);
void node_heap_push(struct node_heap *h, struct candidate c);
void node_heap_sink_top(struct node_heap *h);
void node_heap_drop_top(struct node_heap *h);
void node_heap_done(struct node_heap *h);

#endif
