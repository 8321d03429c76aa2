/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - intrusive binary min-heap of deadlines.
 *
 * The node is a member of the caller's object. The heap owns only its table of pointers. A node can
 * be in one heap at most. Nodes with equal deadlines leave in the order in which they were set, so
 * that a run repeats exactly. Not thread-safe.
 */
#ifndef MUSTER_BASE_HEAP_H
#define MUSTER_BASE_HEAP_H

#include "base/mem.h"
#include "base/usec.h"

struct heap_node {
    usec_t at;
    uint64_t seq;
    size_t pos; /* from 1; 0: not in a heap */
};

struct heap {
    struct heap_node **nodes;
    size_t count, cap;
    uint64_t seq;
};
#define HEAP_INIT                                                                                  \
    {                                                                                              \
        NULL, 0, 0, 0                                                                              \
    }

/* Inserts the node, or moves it if it is in the heap. */
void heap_set(struct heap *h, struct heap_node *n, usec_t at);
/* Does nothing if the node is not in the heap. */
void heap_remove(struct heap *h, struct heap_node *n);
/* The earliest node; NULL: the heap is empty. */
struct heap_node *heap_top(const struct heap *h);
void heap_done(struct heap *h);

#endif
