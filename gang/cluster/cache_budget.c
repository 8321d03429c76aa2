/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/cache_budget.h"

struct cache_budget *cache_budget_new(void)
{
    struct cache_budget *budget = xcalloc(1, sizeof *budget);
    list_init(&budget->used);
    return budget;
}

void cached_begin(struct cached *cached, struct cache_budget *budget)
{
    *cached = (struct cached){.budget = budget};
    list_init(&cached->in_used);
}

void cached_end(struct cached *cached)
{
    list_remove(&cached->in_used);
    cached->budget->bytes -= cached->bytes;
    cached->bytes = 0;
    free(STEAL(cached->memory));
}

void cached_use(struct cached *cached)
{
    struct list *used = &cached->budget->used;
    if (used->prev == &cached->in_used)
        return;
    list_remove(&cached->in_used);
    list_push(used, &cached->in_used);
}

void *cached_grow(struct cached *cached, size_t bytes)
{
    struct cache_budget *budget = cached->budget;
    cached->memory = xrealloc(cached->memory, bytes);
    memset((char *)cached->memory + cached->bytes, 0, bytes - cached->bytes);
    budget->bytes += bytes - cached->bytes;
    cached->bytes = bytes;
    cached_use(cached);
    while (budget->bytes > CACHE_BYTES_MAX && budget->used.next != &cached->in_used)
        cached_end(CONTAINER_OF(budget->used.next, struct cached, in_used));
    return cached->memory;
}
