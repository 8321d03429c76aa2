/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usec.h - the one unit of time: microseconds in int64_t.
 *
 * gang/ never reads a clock: time comes in as an argument (monotonic, any origin). Only server/
 * and k8s/ call usec_now().
 */
#ifndef MUSTER_BASE_USEC_H
#define MUSTER_BASE_USEC_H

#include <stdint.h>

typedef int64_t usec_t;

#define USEC_PER_SEC  ((usec_t)1000000)
#define USEC_PER_MSEC ((usec_t)1000)
#define USEC_NEVER    INT64_MAX

/* The pause before attempt `n` (from 0): doubles from `first`, at most `most`. */
static inline usec_t usec_backoff(usec_t first, usec_t most, int n)
{
    usec_t t = first;
    while (n-- > 0 && t < most)
        t *= 2;
    return t < most ? t : most;
}

/* CLOCK_MONOTONIC. */
usec_t usec_now(void);
/* The same in nanoseconds, for measuring what is short. */
int64_t nsec_now(void);
/* CLOCK_REALTIME, since 1970. */
usec_t usec_wall(void);

#endif
