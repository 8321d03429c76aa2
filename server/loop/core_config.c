/* SPDX-License-Identifier: Apache-2.0 */
#include "server/loop/core_config.h"

#include "config/scheduler_config.h"

/* The plugins that kubeSchedulerConfig disables, as bits of enum gang_predicate. */
static int32_t rules_off(const struct config *c)
{
    int32_t off = 0;
    for (unsigned r = 0; scheduler_config_rules[r]; r++)
        for (int p = PREDICATE_NONE; p < PREDICATE_MAX; p++)
            if (c->rules_off >> r & 1 &&
                str_eq(scheduler_config_rules[r], gang_predicate_name((enum gang_predicate)p)))
                off |= INT32_C(1) << p;
    return off;
}

struct gang_config core_config(const struct config *c)
{
    return (struct gang_config){
        .hold = c->hold,
        .assemble = c->assemble,
        .schedule_timeout = c->schedule_timeout,
        .schedule_timeout_max = c->max_schedule_timeout,
        .backoff_initial = c->backoff,
        .backoff_max = c->max_backoff,
        .reason_refresh = c->reason_refresh,
        .plan_work = GANG_PLAN_WORK,
        .max_holds = (size_t)c->max_holds,
        .commit_batch_threshold = (size_t)c->commit_batch_threshold,
        .starvation = c->starvation,
        .strict_order = c->strict_order,
        .trust_group_priority = c->trust_group_priority,
        .preemption = c->preemption,
        .evict_on_failed_commit = c->on_failed_commit == CONFIG_EVICT,
        .requeue_below_minimum = c->below_minimum == CONFIG_REQUEUE,
        .steering = (enum gang_steering)c->steering,
        .gates = c->gates,
        .show_gated = c->gates_show,
        .express_lane = c->express_lane,
        .rules_off = rules_off(c),
        .whole_lists = c->whole_lists,
        .scheduler_names = (const char *const *)c->scheduler_names.items,
        .n_scheduler_names = c->scheduler_names.n,
        .queue_grants = (const char *const *)c->queue_namespaces.items,
        .n_queue_grants = c->queue_namespaces.n,
        .queue_half_life = c->queue_half_life,
        .queue_time_factor = c->queue_time_factor * 10,
        .reclaim_limit = c->reclaim_limit_percent,
        .reclaim_runtime_of_queue = c->reclaim_runtime_from == CONFIG_FROM_QUEUE,
    };
}
