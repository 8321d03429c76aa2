/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_budget.h - bounds the memory of results that are cached for each pair of a signature and a
 * node. A tenant decides how many signatures there are, so the least recently used caches are
 * dropped. They are computed again when they are needed.
 *
 * A cache is one block of memory, which belongs to a struct cached. The owner of the struct calls
 * cached_end() before it frees the struct. The core creates the budget and frees it after all
 * caches.
 */
#ifndef MUSTER_GANG_CLUSTER_CACHE_BUDGET_H
#define MUSTER_GANG_CLUSTER_CACHE_BUDGET_H

#include "base/list.h"

/* What all caches together may hold, in bytes. One cache may exceed it alone. */
#define CACHE_BYTES_MAX ((size_t)64 << 20)

struct cache_budget {
    struct list used; /* the caches that hold memory, the last used one last */
    size_t bytes;     /* what they hold together */
};

struct cached {
    struct cache_budget *budget;
    struct list in_used;
    void *memory; /* NULL: nothing is cached, or the cache was dropped */
    size_t bytes;
};

struct cache_budget *cache_budget_new(void);
void cached_begin(struct cached *cached, struct cache_budget *budget);
/* Enlarges the memory to so many bytes, and returns it. The new part is 0. Counts as a use. Drops
 * other caches if all together hold too much. */
void *cached_grow(struct cached *cached, size_t bytes);
/* The cache, which has memory, was used. */
void cached_use(struct cached *cached);
/* Frees the memory. */
void cached_end(struct cached *cached);

#endif
