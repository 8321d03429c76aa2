/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_cost.h - CPU time of the calling thread, and bounds for it.
 *
 * A long run (the environment variable MUSTER_LONG is set) applies a bound unchanged. The gate also
 * runs on slow or busy machines, so it multiplies each bound by COST_IN_GATE. Builds with
 * sanitizers or without optimisation have no bounds.
 */
#ifndef MUSTER_TEST_CPU_COST_H
#define MUSTER_TEST_CPU_COST_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define COST_IN_GATE 4

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define IS_FAST_BUILD 0
#else
#define IS_FAST_BUILD 1
#endif

/* The CPU time that the calling thread has used so far, in milliseconds. */
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

/* The bound that a test applies in this run, in the unit of `bound`. */
static inline double cost_limit(double bound)
{
    if (!IS_FAST_BUILD)
        return HUGE_VAL;
    return cost_is_strict() ? bound : bound * COST_IN_GATE;
}

#endif
