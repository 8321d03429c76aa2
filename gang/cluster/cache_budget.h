/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_budget.h - bounds the memory of results that are cached for each pair of a signature and a
 * node. A tenant decides how many signatures there are, so the least recently used caches are
 * dropped. They are computed again when they are needed.
 *
 * A cache embeds a struct cached. The budget owns nothing; the owner of a cache calls cached_end()
 * before it frees the cache. The core creates the budget and frees it after all caches.
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
    size_t bytes;
    void (*drop)(struct cached *cached); /* frees the results; must not call the budget */
};

struct cache_budget *cache_budget_new(void);
void cached_begin(struct cached *cached, struct cache_budget *budget,
                  void (*drop)(struct cached *cached));
/* The cache was used, and holds so many bytes now. Drops other caches if all together hold too
 * much. */
void cached_use(struct cached *cached, size_t bytes);
void cached_end(struct cached *cached);

#endif
