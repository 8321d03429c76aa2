/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys.c - the table of settings, and the checks of single values.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/duration.h"
#include "base/edit_distance.h"
#include "base/utf8.h"
#include "config/config_internal.h"

#define MSEC(n) ((n)*USEC_PER_MSEC)
#define SEC(n)  ((n)*USEC_PER_SEC)

static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static const char *const failed_commits[] = {"complete", "evict", NULL};
const char *const config_dialects[] = {"kai", "volcano", "x-k8s", "sigs", NULL};
static const char *const runtime_methods[] = {"lca", "queue", NULL};
static const char *const below_minimums[] = {"leave", "requeue", NULL};
static const char *const steerings[] = {"auto", "always", "never", NULL};

static int check_workload(const char *text, struct err *err)
{
    struct config_workload w;
    if (config_workload(text, &w, err) < 0)
        return -1;
    config_workload_done(&w);
    return 0;
}

static int check_grant(const char *text, struct err *err)
{
    const char *colon = strchr(text, ':');
    if (!colon || colon == text || !colon[1] || strchr(colon + 1, ':'))
        return err_set(err, ERR_INVALID,
                       "\"%s\" is not a queue and a namespace: write QUEUE:NAMESPACE, such as "
                       "training:ml, or QUEUE:* for all namespaces",
                       text);
    return 0;
}

const struct config_entry *config_entry(enum config_type type)
{
    static const struct config_entry entries[] = {
        [CONFIG_SCHEDULERS] = {"a schedulerName", "a list of schedulerNames", NULL},
        [CONFIG_NAMESPACES] = {"a namespace", "a list of namespaces", NULL},
        [CONFIG_WORKLOADS] = {"a kind of workload", "a list of kinds of workloads", check_workload},
        [CONFIG_GRANTS] = {"a queue and a namespace", "a list of queues and namespaces",
                           check_grant},
    };
    return type < ARRAY_SIZE(entries) && entries[type].item ? &entries[type] : NULL;
}

#define AT(field) offsetof(struct config, field)
static const struct config_key keys[] = {
    {ABOUT_ACCESS, "listen", "listen", CONFIG_ADDRESS, AT(listen), "127.0.0.1:9910", 0, 0, NULL,
     "address of the extender port, which kube-scheduler calls"},
    {ABOUT_ACCESS, "opsListen", "ops-listen", CONFIG_ADDRESS, AT(ops_listen), "127.0.0.1:9911", 0,
     0, NULL, "address of the ops port, which serves metrics, health checks and the API"},
    {ABOUT_ACCESS, "kubeconfig", "kubeconfig", CONFIG_TEXT, AT(kubeconfig), NULL, 0, 0, NULL,
     "path of a kubeconfig file. If not set, muster uses the service account of its pod"},
    {ABOUT_LOG, "logLevel", "log-level", CONFIG_CHOICE, AT(log_level), "info", 0, 0, log_levels,
     "least severe log lines to write: error, warning, info or debug"},
    {ABOUT_LOG, "logFormat", "log-format", CONFIG_CHOICE, AT(log_format), "text", 0, 0, log_formats,
     "format of the log: text or json"},
    {ABOUT_HOLDS, "holdSeconds", "hold-seconds", CONFIG_DURATION, AT(hold), "20", MSEC(100),
     SEC(3600), NULL,
     "longest time to hold a bind call. Must be at least 5 s shorter than httpTimeoutSeconds"},
    {ABOUT_ATTEMPTS, "assembleSeconds", "assemble-seconds", CONFIG_DURATION, AT(assemble), "3", 0,
     SEC(60), NULL,
     "muster reserves room for members that do not exist yet until this much time has passed since "
     "the gang's newest pod was created (0 disables)"},
    {ABOUT_SCHEDULER, "httpTimeoutSeconds", "http-timeout-seconds", CONFIG_DURATION,
     AT(http_timeout), "30", SEC(1), SEC(7200), NULL,
     "must equal the httpTimeout of the muster extender in kube-scheduler's configuration"},
    {ABOUT_ATTEMPTS, "scheduleTimeoutSeconds", "schedule-timeout-seconds", CONFIG_DURATION,
     AT(schedule_timeout), "60", SEC(1), SEC(604800), NULL,
     "timeout of an attempt, if neither the PodGroup nor its dialect sets one"},
    {ABOUT_ATTEMPTS, "maxScheduleTimeoutSeconds", "max-schedule-timeout-seconds", CONFIG_DURATION,
     AT(max_schedule_timeout), "3600", SEC(1), SEC(604800), NULL,
     "longest timeout that a PodGroup may set for an attempt"},
    {ABOUT_ATTEMPTS, "backoffSeconds", "backoff-seconds", CONFIG_DURATION, AT(backoff), "5",
     MSEC(100), SEC(86400), NULL,
     "pause after the first failed attempt of a gang. Each further failure doubles it"},
    {ABOUT_ATTEMPTS, "maxBackoffSeconds", "max-backoff-seconds", CONFIG_DURATION, AT(max_backoff),
     "300", MSEC(100), SEC(86400), NULL, "longest pause after a failed attempt"},
    {ABOUT_LOG, "reasonRefreshSeconds", "reason-refresh-seconds", CONFIG_DURATION,
     AT(reason_refresh), "30", MSEC(100), SEC(86400), NULL,
     "shortest time between updates of the message on waiting pods, while the reason stays the "
     "same. The first updates may come sooner"},
    {ABOUT_LIMITS, "requestTimeoutSeconds", "request-timeout-seconds", CONFIG_DURATION,
     AT(request_timeout), "10", MSEC(100), SEC(3600), NULL,
     "time limit for each part of a request: sending the headers after the request line, sending "
     "the body, and reading the reply"},
    {ABOUT_ORDER, "starvationSeconds", "starvation-seconds", CONFIG_DURATION, AT(starvation), "300",
     0, SEC(2592000), NULL,
     "time that a gang waits before muster sets capacity aside for it (0 disables)"},
    {ABOUT_ORDER, "strictOrder", "strict-order", CONFIG_BOOL, AT(strict_order), "false", 0, 0, NULL,
     "true: only an ordinary pod of a higher priority may start ahead of the first waiting gang"},
    {ABOUT_ORDER, "trustPodGroupPriority", "trust-pod-group-priority", CONFIG_BOOL,
     AT(trust_group_priority), "false", 0, 0, NULL,
     "true: when muster compares gangs of different namespaces, it uses a PodGroup's priority even "
     "if that is higher than the priority of its pods"},
    {ABOUT_ORDER, "preemption", "preemption", CONFIG_BOOL, AT(preemption), "true", 0, 0, NULL,
     "true: muster evicts gangs and pods of a lower priority to make room for a gang"},
    {ABOUT_HOLDS, "onFailedCommit", "on-failed-commit", CONFIG_CHOICE, AT(on_failed_commit),
     "complete", 0, 0, failed_commits,
     "what to do if the API server refuses a Binding of a commit: complete (place the refused "
     "members again, before other gangs) or evict (evict the members that the commit has bound and "
     "that have a controller)"},
    {ABOUT_HOLDS, "belowMinimum", "below-minimum", CONFIG_CHOICE, AT(below_minimum), "leave", 0, 0,
     below_minimums,
     "how to schedule replacements if a gang has fallen below its minimum: leave (one by one) or "
     "requeue (together, once enough members exist)"},
    {ABOUT_SCHEDULER, "steering", "steering", CONFIG_CHOICE, AT(steering), "auto", 0, 0, steerings,
     "when to nominate members to their planned nodes: auto (if it saves time), always, or never "
     "(except if a member could not reach its node otherwise)"},
    {ABOUT_SCHEDULER, "expressLane", "express-lane", CONFIG_BOOL, AT(express_lane), "false", 0, 0,
     NULL,
     "true: commit a gang as soon as kube-scheduler calls bind for its first member, if muster "
     "knows all rules that apply to the gang. Requires kubeSchedulerConfig"},
    {ABOUT_SCHEDULER, "kubeSchedulerConfig", "kube-scheduler-config", CONFIG_TEXT,
     AT(kube_scheduler_config), NULL, 0, 0, NULL,
     "path of the KubeSchedulerConfiguration file that kube-scheduler uses. If not set, muster "
     "assumes kube-scheduler's defaults"},
    {ABOUT_HOLDS, "maxHolds", "max-holds", CONFIG_COUNT, AT(max_holds), "10000", 1, 500000, NULL,
     "largest number of bind calls to hold at once, for all gangs together"},
    {ABOUT_HOLDS, "commitBatchThreshold", "commit-batch-threshold", CONFIG_COUNT,
     AT(commit_batch_threshold), "500", 0, 500000, NULL,
     "muster commits gangs in batches while the number of waiting pods that filter has refused is "
     "at least this high (0 disables)"},
    {ABOUT_LIMITS, "maxBodyMiB", "max-body-mib", CONFIG_COUNT, AT(max_body_mib), "128", 1, 2048,
     NULL,
     "largest request body on the extender port, in MiB. A request for 5,000 nodes can take 70 MiB "
     "if nodeCacheCapable is false"},
    {ABOUT_LIMITS, "connectionLimit", "connection-limit", CONFIG_COUNT, AT(connection_limit),
     "16384", 128, 1000000, NULL,
     "largest number of connections on the extender port, including those of held bind calls"},
    {ABOUT_SCHEDULER, "schedulerNames", "scheduler-names", CONFIG_SCHEDULERS, AT(scheduler_names),
     NULL, 0, 0, NULL,
     "muster schedules only pods with one of these schedulerNames. If empty, muster schedules all "
     "pods"},
    {ABOUT_GATES, "gates.enabled", "gates-enabled", CONFIG_BOOL, AT(gates), "false", 0, 0, NULL,
     "true: pods keep the scheduling gate muster.dev/plan until their gang has a plan. false: "
     "muster removes this gate from all pods"},
    {ABOUT_GATES, "gates.showToAutoscaler", "gates-show-to-autoscaler", CONFIG_BOOL, AT(gates_show),
     "false", 0, 0, NULL,
     "true: muster also removes the gate from gangs that lack room, so that a cluster autoscaler "
     "sees their pods"},
    {ABOUT_PODGROUPS, "createPodGroups", "create-pod-groups", CONFIG_BOOL, AT(create_pod_groups),
     "true", 0, 0, NULL, "true: muster creates PodGroups for pods that have none"},
    {ABOUT_PODGROUPS, "podGroupSchedulers", "pod-group-schedulers", CONFIG_SCHEDULERS,
     AT(pod_group_schedulers), "kai-scheduler,volcano,muster", 0, 0, NULL,
     "muster creates PodGroups for pods with one of these schedulerNames. Other pods get a "
     "PodGroup only if an annotation asks for it"},
    {ABOUT_PODGROUPS, "podGroupNamespaces", "pod-group-namespaces", CONFIG_NAMESPACES,
     AT(pod_group_namespaces), NULL, 0, 0, NULL,
     "namespaces in which muster creates PodGroups. If empty, all namespaces"},
    {ABOUT_PODGROUPS, "podGroupExcludedNamespaces", "pod-group-excluded-namespaces",
     CONFIG_NAMESPACES, AT(pod_group_excluded_namespaces), "kube-system", 0, 0, NULL,
     "namespaces in which muster never creates PodGroups. If empty, no namespace is excluded"},
    {ABOUT_PODGROUPS, "podGroupDialect", "pod-group-dialect", CONFIG_CHOICE, AT(pod_group_dialect),
     "kai", 0, 0, config_dialects,
     "default dialect of the PodGroups that muster creates. A pod can select another one"},
    {ABOUT_QUEUES, "queueNamespaces", "queue-namespaces", CONFIG_GRANTS, AT(queue_namespaces), NULL,
     0, 0, NULL,
     "which namespaces may use which queues, as QUEUE:NAMESPACE or QUEUE:*. A queue that the list "
     "does not name is open to all namespaces"},
    {ABOUT_QUEUES, "queueHalfLifeSeconds", "queue-half-life-seconds", CONFIG_DURATION,
     AT(queue_half_life), "3600", SEC(10), SEC(2592000), NULL,
     "half-life of a queue's past use and of its credit. Credit decides the order of queues whose "
     "next gang is larger than their share"},
    {ABOUT_QUEUES, "queueTimeFactorPercent", "queue-time-factor-percent", CONFIG_COUNT,
     AT(queue_time_factor), "0", 0, 1000, NULL,
     "effect of past use on a queue's weight, in percent (0 disables time-based fair share)"},
    {ABOUT_QUEUES, "reclaimLimitPercent", "reclaim-limit-percent", CONFIG_COUNT,
     AT(reclaim_limit_percent), "0", 0, 100, NULL,
     "average part of what a queue uses that it can lose to reclaim in 10 minutes, in percent. A "
     "gang that needs more still gets its room at once, and the queue then rests for longer (0 "
     "disables the limit)"},
    {ABOUT_QUEUES, "reclaimMinRuntimeFrom", "reclaim-min-runtime-from", CONFIG_CHOICE,
     AT(reclaim_runtime_from), "lca", 0, 0, runtime_methods,
     "which queue's reclaimMinRuntime protects a victim: lca (that of the queue just below the "
     "lowest common ancestor of the gang and the victim) or queue (that of the victim's queue). If "
     "that queue does not set it, the nearest ancestor that sets it decides"},
    {ABOUT_QUEUES, "maxMetricsQueues", "max-metrics-queues", CONFIG_COUNT, AT(max_metrics_queues),
     "200", 0, 1000, NULL,
     "largest number of queues that have metrics of their own (0 disables these metrics)"},
    {ABOUT_PODGROUPS, "workloads", "workloads", CONFIG_WORKLOADS, AT(workloads), NULL, 0, 0, NULL,
     "further kinds of workloads for which muster creates PodGroups, each as "
     "API-VERSION/KIND:PATH-OF-REPLICAS[:PATH-OF-MINIMUM]"},
};
_Static_assert(ARRAY_SIZE(keys) <= CONFIG_MAX_KEYS, "CONFIG_MAX_KEYS is too small");

const struct config_key *config_keys(size_t *ret_n)
{
    *ret_n = ARRAY_SIZE(keys);
    return keys;
}

bool config_is_section(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (strncmp(keys[i].name, name, n) == 0 && keys[i].name[n] == '.')
            return true;
    return false;
}

void *config_field(const struct config *c, const struct config_key *key)
{
    return (char *)(uintptr_t)c + key->offset;
}

void config_mistake(struct config_loading *l, const char *where, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    utf8_clean(text);
    buf_printf(l->mistakes, "%s: %s\n", where, text);
    l->failed = true;
}

/* ---- values ---- */

int config_address(const char *text, char **ret_host, int *ret_port, struct err *err)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    long port = colon && colon[1] >= '0' && colon[1] <= '9' ? strtol(colon + 1, &end, 10) : -1;
    if (port < 0 || port > 65535 || *end)
        return err_set(
            err, ERR_INVALID,
            "\"%s\" is not an address: write ADDR:PORT, such as 127.0.0.1:9910 or [::1]:9910",
            text);
    bool v6 = text[0] == '[' && colon > text + 1 && colon[-1] == ']';
    cleanup_free char *host = v6 ? xstrndup(text + 1, (size_t)(colon - text) - 2)
                                 : xstrndup(text, (size_t)(colon - text));
    unsigned char scratch[sizeof(struct in6_addr)];
    if (inet_pton(v6 ? AF_INET6 : AF_INET, host, scratch) != 1)
        return err_set(err, ERR_INVALID,
                       "\"%s\" is not an IP address: write one, such as 127.0.0.1 (this machine "
                       "only), 0.0.0.0 (all interfaces) or [::1]",
                       host);
    *ret_host = STEAL(host);
    *ret_port = (int)port;
    return 0;
}

static int set_count(const struct config_key *key, const char *text, int64_t *ret, struct err *err)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return err_set(err, ERR_INVALID,
                       "\"%s\" is not a whole number: write a number from %" PRId64 " to %" PRId64,
                       text, key->min, key->max);
    if (n < key->min || n > key->max)
        return err_set(err, ERR_INVALID,
                       "%s is out of range: write a number from %" PRId64 " to %" PRId64, text,
                       key->min, key->max);
    *ret = n;
    return 0;
}

static int set_duration(const struct config_key *key, const char *text, usec_t *ret,
                        struct err *err)
{
    usec_t value;
    if (duration_parse(text, &value, err) < 0)
        return -1;
    if (value < key->min || value > key->max)
        return err_set(err, ERR_INVALID,
                       "%s is out of range: write a value from %.10g to %.10g seconds", text,
                       (double)key->min / 1e6, (double)key->max / 1e6);
    *ret = value;
    return 0;
}

/* "a, b or c". */
static void put_choices(struct buf *out, const char *const *choices)
{
    for (size_t i = 0; choices[i]; i++)
        buf_printf(out, "%s%s", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
}

static int set_choice(const struct config_key *key, const char *text, int64_t *ret, struct err *err)
{
    for (int64_t i = 0; key->choices[i]; i++) {
        if (str_eq(key->choices[i], text)) {
            *ret = i;
            return 0;
        }
    }
    cleanup_buf struct buf choices = BUF_INIT;
    put_choices(&choices, key->choices);
    return err_set(err, ERR_INVALID, "\"%s\" is not a valid value: write %s", text,
                   buf_str(&choices));
}

static int set_bool(const char *text, bool *ret, struct err *err)
{
    if (!str_eq(text, "true") && !str_eq(text, "false"))
        return err_set(err, ERR_INVALID, "\"%s\" is not a valid value: write true or false", text);
    *ret = str_eq(text, "true");
    return 0;
}

static int set_one(const struct config_key *key, void *at, const char *text, struct err *err)
{
    char **string = at;
    if (key->type == CONFIG_DURATION)
        return set_duration(key, text, at, err);
    if (key->type == CONFIG_COUNT)
        return set_count(key, text, at, err);
    if (key->type == CONFIG_CHOICE)
        return set_choice(key, text, at, err);
    if (key->type == CONFIG_BOOL)
        return set_bool(text, at, err);
    if (key->type == CONFIG_ADDRESS) {
        cleanup_free char *host = NULL;
        int port;
        if (config_address(text, &host, &port, err) < 0)
            return -1;
    } else if (!*text) {
        return err_set(err, ERR_INVALID, "the value is empty: write a value, or remove the key");
    }
    free(*string);
    *string = xstrdup(text);
    return 0;
}

static void list_clear(struct config_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct config_list){NULL, 0};
}

static int set_list(const struct config_key *key, struct config_list *list,
                    const char *const *values, size_t n, struct err *err)
{
    const struct config_entry *entry = config_entry(key->type);
    for (size_t i = 0; i < n; i++) {
        if (!values[i][0])
            return err_set(err, ERR_INVALID, "an entry is empty: write %s", entry->item);
        for (size_t j = 0; j < i; j++)
            if (str_eq(values[i], values[j]))
                return err_set(err, ERR_INVALID, "\"%s\" is listed twice: keep one", values[i]);
        if (entry->check && entry->check(values[i], err) < 0)
            return -1;
    }
    list_clear(list);
    list->items = n ? xcalloc(n, sizeof *list->items) : NULL;
    for (size_t i = 0; i < n; i++)
        list->items[i] = xstrdup(values[i]);
    list->n = n;
    return 0;
}

/* Entries with commas between them. */
static int set_list_text(const struct config_key *key, struct config_list *list, const char *text,
                         struct err *err)
{
    cleanup_free char *copy = xstrdup(text);
    cleanup_free const char **values = NULL;
    size_t n = 0, cap = 0;
    for (char *rest = copy, *item; rest && *text && (item = strsep(&rest, ",")) != NULL;) {
        GROW(values, cap, n + 1);
        values[n++] = item;
    }
    return set_list(key, list, values, n, err);
}

static void note(struct config_loading *l, const struct config_key *key, const char *where, int r,
                 const struct err *err)
{
    char **place = &l->where[key - keys];
    free(*place);
    *place = xstrdup(where);
    if (r < 0)
        config_mistake(l, where, "%s: %s", key->name, err->text);
}

void config_set(struct config_loading *l, const struct config_key *key, const char *where,
                const char *const *values, size_t n)
{
    struct err err;
    void *at = config_field(l->config, key);
    int r = config_entry(key->type) ? set_list(key, at, values, n, &err)
                                    : set_one(key, at, values[0], &err);
    note(l, key, where, r, &err);
}

void config_set_text(struct config_loading *l, const struct config_key *key, const char *where,
                     const char *text)
{
    struct err err;
    if (!config_entry(key->type)) {
        config_set(l, key, where, &text, 1);
        return;
    }
    int r = set_list_text(key, config_field(l->config, key), text, &err);
    note(l, key, where, r, &err);
}

void config_set_initial(struct config *c, const struct config_key *key)
{
    void *at = config_field(c, key);
    if (key->initial && config_entry(key->type))
        set_list_text(key, at, key->initial, NULL);
    else if (key->initial)
        set_one(key, at, key->initial, NULL);
}

void config_clear(struct config *c, const struct config_key *key)
{
    if (key->type == CONFIG_TEXT || key->type == CONFIG_ADDRESS)
        free(*(char **)config_field(c, key));
    else if (config_entry(key->type))
        list_clear(config_field(c, key));
}

/* ---- unknown keys ---- */

const struct config_key *config_key_find(struct config_loading *l, const char *where,
                                         const char *name)
{
    const struct config_key *nearest = NULL;
    size_t best = 4; /* names farther apart are unrelated */
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (str_eq(keys[i].name, name))
            return &keys[i];
        size_t d = edit_distance(name, keys[i].name);
        if (d < best) {
            best = d;
            nearest = &keys[i];
        }
    }
    if (nearest)
        config_mistake(l, where, "%s: unknown key; did you mean %s?", name, nearest->name);
    else
        config_mistake(l, where, "%s: unknown key; \"muster serve --help\" lists all keys", name);
    return NULL;
}
