/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eviction_cost.h - the cost of a set of victims, by which two sets are compared.
 *
 * Pure functions. preemption.c compares sets with them during a search, and the events and `muster
 * explain` show the cost of the chosen set (docs/preemption.md, "What is evicted").
 */
#ifndef MUSTER_GANG_PLAN_EVICTION_COST_H
#define MUSTER_GANG_PLAN_EVICTION_COST_H

#include "gang/plan/victims.h"

/* The sum, at most INT64_MAX. */
static inline int64_t eviction_sum(int64_t a, int64_t b)
{
    return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a;
}

/* The cost of a set of victims. A later part counts only if all earlier parts are equal. */
struct eviction_cost {
    bool ends_job; /* a victim ends its Job */
    int32_t last;  /* the highest priority of such victims, or of all if there are none; INT32_MIN:
                      the set is empty */
    int gangs;     /* how many gangs and ordinary pods are hit, see preemption.h */
    int64_t lost, ran; /* sums of those of the victims */
    int32_t priority;  /* the highest priority of a victim. Does not count in comparisons */
};
/* `chosen` says for each of the first n victims whether it is in the set. */
struct eviction_cost eviction_cost(const struct victims *victims, const bool *chosen, size_t n);
/* Negative: a is cheaper. */
int eviction_cost_compare(const struct eviction_cost *a, const struct eviction_cost *b);

#endif
