/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/request_sums.h"

/* From this number of resources on, find() uses an index; for fewer, a linear search is fastest.
 * The API server serves names in order, so find() usually needs no search, and the index is only
 * made when it is needed. */
#define INDEXED_FROM 16

static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The index of the resource; r->n: there is none. */
static size_t find(struct request_sums *r, const char *resource)
{
    if (r->n && strcmp(resource, r->items[r->largest].resource) > 0)
        return r->n;
    if (r->n >= INDEXED_FROM) {
        for (; r->n_indexed < r->n; r->n_indexed++)
            map_set(&r->index, r->items[r->n_indexed].resource, (void *)(r->n_indexed + 1));
        uintptr_t known = (uintptr_t)map_get(&r->index, resource);
        return known ? known - 1 : r->n;
    }
    size_t at = 0;
    while (at < r->n && strcmp(r->items[at].resource, resource) != 0)
        at++;
    return at;
}

static size_t find_or_add(struct request_sums *r, const char *resource)
{
    size_t at = find(r, resource);
    if (at < r->n)
        return at;
    if (!r->n || strcmp(resource, r->items[r->largest].resource) > 0)
        r->largest = at;
    GROW(r->items, r->cap, r->n + 1);
    r->items[r->n++] = (struct request_sum){.resource = xstrdup(resource)};
    return at;
}

void request_sums_ask(struct request_sums *r, const char *resource, int64_t amount)
{
    size_t at = find_or_add(r, resource);
    struct request_sum *s = &r->items[at];
    if (!s->asked) {
        GROW(r->asked, r->cap_asked, r->n_asked + 1);
        r->asked[r->n_asked++] = at;
        s->asked = true;
        s->own = amount;
    } else if (s->own < amount) {
        s->own = amount;
    }
}

/* An init container runs together with the sidecars before it. The sums of a resource that this
 * container does not request stay the same, because their peak already covers the sidecars. */
void request_sums_container(struct request_sums *r, enum container_kind kind)
{
    for (size_t i = 0; i < r->n_asked; i++) {
        struct request_sum *s = &r->items[r->asked[i]];
        int64_t step = s->own;
        if (kind != CONTAINER_INIT)
            s->total = sum_of(s->total, s->own);
        if (kind == CONTAINER_SIDECAR)
            step = s->sidecars = sum_of(s->sidecars, s->own);
        else if (kind == CONTAINER_INIT)
            step = sum_of(s->own, s->sidecars);
        if (kind != CONTAINER_REGULAR && step > s->peak)
            s->peak = step;
        s->asked = false;
    }
    r->n_asked = 0;
}

int64_t request_sums_charged(const struct request_sum *s)
{
    return s->total > s->peak ? s->total : s->peak;
}

int64_t request_sums_get(struct request_sums *r, const char *resource)
{
    size_t at = find(r, resource);
    return at < r->n ? request_sums_charged(&r->items[at]) : -1;
}

void request_sums_set(struct request_sums *r, const char *resource, int64_t amount)
{
    size_t at = find_or_add(r, resource);
    struct request_sum *s = &r->items[at];
    s->total = amount;
    s->peak = 0;
}

void request_sums_add(struct request_sums *r, const char *resource, int64_t amount)
{
    size_t at = find_or_add(r, resource);
    struct request_sum *s = &r->items[at];
    s->total = sum_of(request_sums_charged(s), amount);
    s->peak = 0;
}

void request_sums_done(struct request_sums *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->items[i].resource);
    free(r->items);
    free(r->asked);
    map_done(&r->index);
    *r = (struct request_sums){0};
}
