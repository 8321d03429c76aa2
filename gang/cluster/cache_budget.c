/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/cache_budget.h"

struct cache_budget *cache_budget_new(void)
{
    struct cache_budget *budget = xcalloc(1, sizeof *budget);
    list_init(&budget->used);
    return budget;
}

void cached_begin(struct cached *cached, struct cache_budget *budget,
                  void (*drop)(struct cached *cached))
{
    *cached = (struct cached){.budget = budget, .drop = drop};
    list_init(&cached->in_used);
}

void cached_end(struct cached *cached)
{
    list_remove(&cached->in_used);
    cached->budget->bytes -= cached->bytes;
    cached->bytes = 0;
}

void cached_use(struct cached *cached, size_t bytes)
{
    struct cache_budget *budget = cached->budget;
    if (budget->used.prev == &cached->in_used && cached->bytes == bytes)
        return;
    cached_end(cached);
    list_push(&budget->used, &cached->in_used);
    cached->bytes = bytes;
    budget->bytes += bytes;
    while (budget->bytes > CACHE_BYTES_MAX && budget->used.next != &cached->in_used) {
        struct cached *oldest = CONTAINER_OF(budget->used.next, struct cached, in_used);
        cached_end(oldest);
        oldest->drop(oldest);
    }
}
