/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_cost.h - the CPU time that a thread spends on something, and its bound.
 *
 * Long runs (MUSTER_LONG) apply the bound as it is. The gate also runs on slow or busy machines,
 * so it allows four times as much.
 */
#ifndef MUSTER_TEST_CPU_COST_H
#define MUSTER_TEST_CPU_COST_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define COST_IN_GATE 4

/* CPU of this thread so far, in milliseconds. */
static inline double cost_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline bool cost_is_strict(void)
{
    return getenv("MUSTER_LONG") != NULL;
}

/* The most that a test allows, in the unit of the bound. */
static inline double cost_limit(double bound)
{
    return cost_is_strict() ? bound : bound * COST_IN_GATE;
}

#endif
