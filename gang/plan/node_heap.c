/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/node_heap.h"

#include "gang/plan/node_score.h"

static bool before(const struct node_heap *h, size_t a, size_t b)
{
    const struct candidate *x = &h->items[a], *y = &h->items[b];
    return x->lack != y->lack ? x->lack < y->lack : node_better(h->signature, x->node, y->node);
}

static void swap(struct node_heap *h, size_t a, size_t b)
{
    struct candidate x = h->items[a];
    h->items[a] = h->items[b];
    h->items[b] = x;
}

void node_heap_reset(struct node_heap *h, struct signature *signature)
{
    h->n = 0;
    h->signature = signature;
}

void node_heap_push(struct node_heap *h, struct candidate c)
{
    GROW(h->items, h->cap, h->n + 1);
    h->items[h->n] = c;
    for (size_t at = h->n++; at && before(h, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(h, at, (at - 1) / 2);
}

void node_heap_sink_top(struct node_heap *h)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < h->n; at = child) {
        child += child + 1 < h->n && before(h, child + 1, child);
        if (!before(h, child, at))
            return;
        swap(h, at, child);
    }
}

void node_heap_drop_top(struct node_heap *h)
{
    h->items[0] = h->items[--h->n];
    node_heap_sink_top(h);
}

void node_heap_done(struct node_heap *h)
{
    free(h->items);
}
