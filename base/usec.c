/* SPDX-License-Identifier: Apache-2.0 */
#include "base/usec.h"

#include <time.h>

static usec_t read_clock(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (usec_t)ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
}

usec_t usec_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t nsec_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

usec_t usec_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}
