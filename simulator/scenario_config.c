/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the core that a scenario file contains.
 */
#include "gang/gang.h"
#include "k8s/encoding/kube_field.h"
#include "simulator/scenario_load.h"

#define HALF_LIFE_MAX (720 * 3600 * USEC_PER_SEC)

static const struct config_time {
    const char *key;
    size_t offset; /* in struct gang_config */
} config_times[] = {
    {"holdSeconds", offsetof(struct gang_config, hold)},
    {"assembleSeconds", offsetof(struct gang_config, assemble)},
    {"scheduleTimeoutSeconds", offsetof(struct gang_config, schedule_timeout)},
    {"maxScheduleTimeoutSeconds", offsetof(struct gang_config, schedule_timeout_max)},
    {"backoffSeconds", offsetof(struct gang_config, backoff_initial)},
    {"maxBackoffSeconds", offsetof(struct gang_config, backoff_max)},
    {"reasonRefreshSeconds", offsetof(struct gang_config, reason_refresh)},
    {"starvationSeconds", offsetof(struct gang_config, starvation)},
    {"queueHalfLifeSeconds", offsetof(struct gang_config, queue_half_life)},
};

static const struct config_count {
    const char *key;
    int64_t least, most;
    int64_t unit; /* of the field, for 1 */
    size_t offset;
} config_counts[] = {
    {"maxHolds", 1, 500000, 1, offsetof(struct gang_config, max_holds)},
    {"commitBatchThreshold", 0, 500000, 1, offsetof(struct gang_config, commit_batch_threshold)},
    {"queueTimeFactorPercent", 0, 1000, 10, offsetof(struct gang_config, queue_time_factor)},
    {"reclaimLimitPercent", 0, 100, 1, offsetof(struct gang_config, reclaim_limit)},
};

/* A setting with two values: `off` and `on`, or true and false if both are NULL. */
static const struct config_switch {
    const char *key, *off, *on;
    size_t offset;
} config_switches[] = {
    {"strictOrder", NULL, NULL, offsetof(struct gang_config, strict_order)},
    {"trustPodGroupPriority", NULL, NULL, offsetof(struct gang_config, trust_group_priority)},
    {"preemption", NULL, NULL, offsetof(struct gang_config, preemption)},
    {"onFailedCommit", "complete", "evict", offsetof(struct gang_config, evict_on_failed_commit)},
    {"belowMinimum", "leave", "requeue", offsetof(struct gang_config, requeue_below_minimum)},
    {"reclaimMinRuntimeFrom", "lca", "queue",
     offsetof(struct gang_config, reclaim_runtime_of_queue)},
    {"expressLane", NULL, NULL, offsetof(struct gang_config, express_lane)},
    {"gates.enabled", NULL, NULL, offsetof(struct gang_config, gates)},
    {"gates.showToAutoscaler", NULL, NULL, offsetof(struct gang_config, show_gated)},
};

static int read_switch(const struct scenario_loader *l, const struct config_switch *s, bool *ret)
{
    const json_t *v = json_object_get(l->s->config, s->key);
    const char *word = json_string_value(v);
    if (!v)
        return 0;
    bool on = s->on ? str_eq(word, s->on) : json_is_true(v);
    bool off = s->on ? str_eq(word, s->off) : json_is_false(v);
    if (!on && !off)
        return load_error(l, "config", "%s must be %s or %s", s->key, s->on ? s->off : "false",
                          s->on ? s->on : "true");
    *ret = on;
    return 0;
}

/* Fills the scenario's queue_grants. */
static int read_grants(const struct scenario_loader *l)
{
    struct scenario *s = l->s;
    const json_t *list;
    if (load_list(l, "config", s->config, "queueNamespaces", &list) < 0)
        return -1;
    s->queue_grants = xcalloc(json_array_size(list) + 1, sizeof *s->queue_grants);
    for (size_t i = 0; i < json_array_size(list); i++) {
        s->queue_grants[i] = json_string_value(json_array_get(list, i));
        const char *colon = s->queue_grants[i] ? strchr(s->queue_grants[i], ':') : NULL;
        if (!colon)
            return load_error(l, "config",
                              "queueNamespaces[%zu] must be QUEUE:NAMESPACE, such as training:ml",
                              i);
    }
    return 0;
}

static int apply_config(const struct scenario_loader *l, struct gang_config *config)
{
    const json_t *json = l->s->config;
    enum { N_TIMES = ARRAY_SIZE(config_times), N_SWITCHES = ARRAY_SIZE(config_switches) };
    enum { N_COUNTS = ARRAY_SIZE(config_counts) };
    const char *keys[N_TIMES + N_SWITCHES + N_COUNTS + 2] = {"queueNamespaces"};
    for (size_t i = 0; i < N_TIMES; i++)
        keys[1 + i] = config_times[i].key;
    for (size_t i = 0; i < N_SWITCHES; i++)
        keys[1 + N_TIMES + i] = config_switches[i].key;
    for (size_t i = 0; i < N_COUNTS; i++)
        keys[1 + N_TIMES + N_SWITCHES + i] = config_counts[i].key;
    if (load_keys(l, "config", json, keys) < 0)
        return -1;
    for (size_t i = 0; i < N_TIMES; i++) {
        usec_t *field = (usec_t *)(void *)((char *)config + config_times[i].offset);
        if (load_time(l, "config", json, config_times[i].key, field) < 0)
            return -1;
    }
    for (size_t i = 0; i < N_SWITCHES; i++) {
        bool *field = (bool *)(void *)((char *)config + config_switches[i].offset);
        if (read_switch(l, &config_switches[i], field) < 0)
            return -1;
    }
    for (size_t i = 0; i < N_COUNTS; i++) {
        const struct config_count *c = &config_counts[i];
        size_t *field = (size_t *)(void *)((char *)config + c->offset);
        int64_t count = (int64_t)*field / c->unit;
        if (load_count(l, "config", json, c->key, c->least, c->most, &count) < 0)
            return -1;
        *field = (size_t)(count * c->unit);
    }
    config->queue_grants = l->s->queue_grants;
    config->n_queue_grants = json_array_size(json_object_get(json, "queueNamespaces"));
    return 0;
}

void scenario_config(const struct scenario *s, struct gang_config *config)
{
    /* No error is possible, because the loader has checked it. */
    struct scenario_loader l = {.s = (struct scenario *)(uintptr_t)s};
    if (s->config)
        apply_config(&l, config);
}

int load_config(const struct scenario_loader *l, json_t *document)
{
    json_t *json = json_object_get(document, "config");
    struct gang_config scratch = {.hold = 0};
    if (!json)
        return 0;
    if (!json_is_object(json))
        return load_error(l, "config", "must be a mapping such as {holdSeconds: 20}");
    l->s->config = json_incref(json);
    if (read_grants(l) < 0 || apply_config(l, &scratch) < 0)
        return -1;
    if (json_object_get(json, "queueHalfLifeSeconds") &&
        (scratch.queue_half_life < 10 * USEC_PER_SEC || scratch.queue_half_life > HALF_LIFE_MAX))
        return load_error(l, "config", "queueHalfLifeSeconds must be from 10s to 720h");
    return 0;
}
