/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/requests.h"

/* Most pods name so few resources that a look at each is the fastest. More have an index, which is
 * made when it is needed: the API server serves names in order, so most often each is new. */
#define INDEXED_FROM 16

static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The place of the resource; r->n: it has none. */
static size_t find(struct gang_requests *r, const char *resource)
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

static size_t find_or_add(struct gang_requests *r, const char *resource)
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

void gang_requests_ask(struct gang_requests *r, const char *resource, int64_t amount)
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

/* An init step needs itself and the sidecars before it. Of a resource that the container does not
 * ask for nothing changes: its peak covers the sidecars already. */
void gang_requests_container(struct gang_requests *r, enum gang_container_kind kind)
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

static int64_t charged(const struct request_sum *s)
{
    return s->total > s->peak ? s->total : s->peak;
}

int64_t gang_requests_get(struct gang_requests *r, const char *resource)
{
    size_t at = find(r, resource);
    return at < r->n ? charged(&r->items[at]) : -1;
}

void gang_requests_set(struct gang_requests *r, const char *resource, int64_t amount)
{
    size_t at = find_or_add(r, resource);
    struct request_sum *s = &r->items[at];
    s->total = amount;
    s->peak = 0;
}

void gang_requests_add(struct gang_requests *r, const char *resource, int64_t amount)
{
    size_t at = find_or_add(r, resource);
    struct request_sum *s = &r->items[at];
    s->total = sum_of(charged(s), amount);
    s->peak = 0;
}

void gang_requests_end(struct gang_requests *r, struct gang_amounts *ret)
{
    if (ret)
        *ret = (struct gang_amounts){xcalloc(r->n, sizeof *ret->items), r->n};
    for (size_t i = 0; i < r->n; i++)
        if (ret)
            ret->items[i] = (struct gang_amount){r->items[i].resource, charged(&r->items[i])};
        else
            free(r->items[i].resource);
    free(r->items);
    free(r->asked);
    map_done(&r->index);
    *r = (struct gang_requests){0};
}
