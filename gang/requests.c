/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/predicates.h"

static int64_t *slot_of(struct gang_amounts *a, const char *resource)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].resource, resource) == 0)
            return &a->items[i].amount;
    gang_amounts_add(a, resource, 0);
    return &a->items[a->n - 1].amount;
}

static void add_all(struct gang_amounts *to, const struct gang_amounts *from)
{
    for (size_t i = 0; i < from->n; i++) {
        int64_t *have = slot_of(to, from->items[i].resource);
        if (__builtin_add_overflow(*have, from->items[i].amount, have))
            *have = INT64_MAX;
    }
}

static void max_all(struct gang_amounts *to, const struct gang_amounts *from)
{
    for (size_t i = 0; i < from->n; i++) {
        int64_t *have = slot_of(to, from->items[i].resource);
        if (from->items[i].amount > *have)
            *have = from->items[i].amount;
    }
}

void gang_amounts_done(struct gang_amounts *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->items[i].resource);
    free(a->items);
    *a = (struct gang_amounts){NULL, 0};
}

/* What one container counts for: the larger of its spec and, for those that may be resized in
 * place, what its status says is allocated or in force. */
static void container_requests(const struct gang_container *c, struct gang_amounts *ret)
{
    add_all(ret, &c->requests);
    if (!c->init || c->sidecar)
        max_all(ret, &c->status);
}

/* Source: AggregateContainerRequests. An init step needs itself plus the sidecars before it. */
static void sum_containers(const struct gang_pod_facts *pod, struct gang_amounts *total)
{
    struct gang_amounts sidecars = {NULL, 0}, init_peak = {NULL, 0};
    for (size_t i = 0; i < pod->n_containers; i++) {
        const struct gang_container *c = &pod->containers[i];
        struct gang_amounts own = {NULL, 0};
        container_requests(c, &own);
        if (!c->init) {
            add_all(total, &own);
        } else if (c->sidecar) {
            add_all(total, &own);
            add_all(&sidecars, &own);
            max_all(&init_peak, &sidecars);
        } else {
            add_all(&own, &sidecars);
            max_all(&init_peak, &own);
        }
        gang_amounts_done(&own);
    }
    max_all(total, &init_peak);
    gang_amounts_done(&sidecars);
    gang_amounts_done(&init_peak);
}

static bool pod_level_counts(const char *resource)
{
    return strcmp(resource, "cpu") == 0 || strcmp(resource, "memory") == 0 ||
           strncmp(resource, "hugepages-", 10) == 0;
}

void gang_pod_requests(const struct gang_pod_facts *pod, struct gang_amounts *ret)
{
    sum_containers(pod, ret);
    if (pod->has_pod_level)
        for (size_t i = 0; i < pod->pod_level.n; i++)
            if (pod_level_counts(pod->pod_level.items[i].resource))
                *slot_of(ret, pod->pod_level.items[i].resource) = pod->pod_level.items[i].amount;
    add_all(ret, &pod->overhead);
}
