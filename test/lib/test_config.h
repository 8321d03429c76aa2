/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_config.h - the core's configuration in tests: the defaults of `muster serve`.
 *
 * test_loop checks that these values match the table of settings.
 */
#ifndef MUSTER_TEST_LIB_TEST_CONFIG_H
#define MUSTER_TEST_LIB_TEST_CONFIG_H

#include "gang/gang.h"

static inline struct gang_config test_config(void)
{
    return (struct gang_config){
        .hold = 20 * USEC_PER_SEC,
        .assemble = 3 * USEC_PER_SEC,
        .schedule_timeout = 60 * USEC_PER_SEC,
        .schedule_timeout_max = 3600 * USEC_PER_SEC,
        .backoff_initial = 5 * USEC_PER_SEC,
        .backoff_max = 300 * USEC_PER_SEC,
        .reason_refresh = 30 * USEC_PER_SEC,
        .max_holds = 10000,
        .plan_work = GANG_PLAN_WORK,
        .commit_batch_threshold = 500,
        .preemption = true,
        .starvation = 300 * USEC_PER_SEC,
        .queue_half_life = 3600 * USEC_PER_SEC,
    };
}

#endif
