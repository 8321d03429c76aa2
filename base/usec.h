/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usec.h - the unit of time everywhere in muster: microseconds, as int64_t.
 *
 * gang/ never reads a clock. It gets the time as an argument, monotonic and of any origin.
 * Stateless; any thread.
 */
#ifndef MUSTER_BASE_USEC_H
#define MUSTER_BASE_USEC_H

#include <stdint.h>

typedef int64_t usec_t;

#define USEC_PER_SEC  ((usec_t)1000000)
#define USEC_PER_MSEC ((usec_t)1000)
#define USEC_NEVER    INT64_MAX

/* The pause before attempt `n`, which counts from 0. It doubles from `first` up to `most`. */
static inline usec_t usec_backoff(usec_t first, usec_t most, int n)
{
    usec_t t = first;
    while (n-- > 0 && t < most)
        t *= 2;
    return t < most ? t : most;
}

/* CLOCK_MONOTONIC. */
usec_t usec_now(void);
/* CLOCK_MONOTONIC in nanoseconds, to measure short times. */
int64_t nsec_now(void);
/* CLOCK_REALTIME: microseconds since 1970. */
usec_t usec_wall(void);

#endif
