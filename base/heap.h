/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - intrusive binary min-heap of deadlines.
 *
 * The node lives in the object; the heap owns only its table of pointers. A node is in at most one
 * heap; heap_set() inserts or moves it, heap_remove() on an absent node does nothing. Equal
 * deadlines leave in the order they were set, so that a run repeats exactly. Not thread-safe.
 */
#ifndef MUSTER_BASE_HEAP_H
#define MUSTER_BASE_HEAP_H

#include "base/mem.h"
#include "base/usec.h"

struct heap_node {
    usec_t at;
    uint64_t seq;
    size_t pos; /* 1-based; 0: in no heap */
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

void heap_set(struct heap *h, struct heap_node *n, usec_t at);
void heap_remove(struct heap *h, struct heap_node *n);
/* The earliest node, or NULL. */
struct heap_node *heap_top(const struct heap *h);
void heap_done(struct heap *h);

#endif
