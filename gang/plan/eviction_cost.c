/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/eviction_cost.h"

#include "gang/cluster/compare.h"

struct eviction_cost eviction_cost(const struct victims *victims, const bool *chosen, size_t n)
{
    struct eviction_cost cost = {.last = INT32_MIN, .priority = INT32_MIN};
    for (size_t i = 0; i < n; i++) {
        const struct victim *v = &victims->items[i];
        if (!chosen[i])
            continue;
        if (v->ends_job > cost.ends_job ||
            (v->ends_job == cost.ends_job && v->priority > cost.last))
            cost.last = v->priority;
        cost.ends_job |= v->ends_job;
        cost.priority = v->priority > cost.priority ? v->priority : cost.priority;
        cost.gangs += !victims->hit[v->owner];
        victims->hit[v->owner] = true;
        cost.lost = eviction_sum(cost.lost, v->lost);
        cost.ran = eviction_sum(cost.ran, v->ran);
    }
    for (size_t i = 0; i < n; i++)
        victims->hit[victims->items[i].owner] = false;
    return cost;
}

int eviction_cost_compare(const struct eviction_cost *a, const struct eviction_cost *b)
{
    int order = compare(a->ends_job, b->ends_job);
    if (!order)
        order = compare(a->last, b->last);
    if (!order)
        order = compare(a->gangs, b->gangs);
    if (!order)
        order = compare(a->lost, b->lost);
    return order ? order : compare(a->ran, b->ran);
}
