/* SPDX-License-Identifier: Apache-2.0 */
#include "server/loop/core_config.h"

#include "config/scheduler_config.h"

/* The plugins that kubeSchedulerConfig disables, as the core numbers their rules. */
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
    struct gang_config cc = gang_config_default();
    cc.hold = c->hold;
    cc.assemble = c->assemble;
    cc.schedule_timeout = c->schedule_timeout;
    cc.schedule_timeout_max = c->max_schedule_timeout;
    cc.backoff_initial = c->backoff;
    cc.backoff_max = c->max_backoff;
    cc.reason_refresh = c->reason_refresh;
    cc.max_holds = (size_t)c->max_holds;
    cc.commit_batch_threshold = (size_t)c->commit_batch_threshold;
    cc.starvation = c->starvation;
    cc.strict_order = c->strict_order;
    cc.trust_group_priority = c->trust_group_priority;
    cc.evict_on_failed_commit = c->on_failed_commit == CONFIG_EVICT;
    cc.requeue_below_minimum = c->below_minimum == CONFIG_REQUEUE;
    cc.steering = (enum gang_steering)c->steering;
    cc.gates = c->gates;
    cc.show_gated = c->gates_show;
    cc.express_lane = c->express_lane;
    cc.rules_off = rules_off(c);
    cc.whole_lists = c->whole_lists;
    cc.scheduler_names = (const char *const *)c->scheduler_names.items;
    cc.n_scheduler_names = c->scheduler_names.n;
    return cc;
}
