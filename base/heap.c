/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

static bool before(const struct heap_node *a, const struct heap_node *b)
{
    return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void put(struct heap *h, size_t pos, struct heap_node *n)
{
    h->nodes[pos - 1] = n;
    n->pos = pos;
}

static void sift_up(struct heap *h, struct heap_node *n)
{
    size_t pos = n->pos;
    for (; pos > 1 && before(n, h->nodes[pos / 2 - 1]); pos /= 2)
        put(h, pos, h->nodes[pos / 2 - 1]);
    put(h, pos, n);
}

static void sift_down(struct heap *h, struct heap_node *n)
{
    size_t pos = n->pos;
    for (;;) {
        size_t child = pos * 2;
        if (child > h->count)
            break;
        if (child < h->count && before(h->nodes[child], h->nodes[child - 1]))
            child++;
        if (!before(h->nodes[child - 1], n))
            break;
        put(h, pos, h->nodes[child - 1]);
        pos = child;
    }
    put(h, pos, n);
}

void heap_set(struct heap *h, struct heap_node *n, usec_t at)
{
    n->at = at;
    n->seq = ++h->seq;
    if (!n->pos) {
        GROW(h->nodes, h->cap, h->count + 1);
        put(h, ++h->count, n);
    }
    sift_up(h, n);
    sift_down(h, n);
}

void heap_remove(struct heap *h, struct heap_node *n)
{
    if (!n->pos)
        return;
    size_t pos = n->pos;
    n->pos = 0;
    struct heap_node *last = h->nodes[--h->count];
    if (last == n)
        return;
    put(h, pos, last);
    sift_up(h, last);
    sift_down(h, last);
}

struct heap_node *heap_top(const struct heap *h)
{
    return h->count ? h->nodes[0] : NULL;
}

void heap_done(struct heap *h)
{
    free(h->nodes);
    *h = (struct heap)HEAP_INIT;
}
