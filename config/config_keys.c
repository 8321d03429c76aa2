/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys.c - the table of settings, and what their values may be.
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

const struct config_entry *config_entry(enum config_type type)
{
    static const struct config_entry entries[] = {
        [CONFIG_SCHEDULERS] = {"the name of a scheduler", NULL},
        [CONFIG_NAMESPACES] = {"the name of a namespace", NULL},
        [CONFIG_WORKLOADS] = {"a kind of workload", check_workload},
    };
    return type < ARRAY_SIZE(entries) && entries[type].item ? &entries[type] : NULL;
}

#define AT(field) offsetof(struct config, field)
static const struct config_key keys[] = {
    {"listen", "listen", CONFIG_ADDRESS, AT(listen), "127.0.0.1:9910", 0, 0, NULL,
     "where kube-scheduler reaches the verbs"},
    {"opsListen", "ops-listen", CONFIG_ADDRESS, AT(ops_listen), "127.0.0.1:9911", 0, 0, NULL,
     "where metrics, health and the API are"},
    {"kubeconfig", "kubeconfig", CONFIG_TEXT, AT(kubeconfig), NULL, 0, 0, NULL,
     "kubeconfig file; without it the pod's service account"},
    {"logLevel", "log-level", CONFIG_CHOICE, AT(log_level), "info", 0, 0, log_levels,
     "error, warning, info or debug"},
    {"logFormat", "log-format", CONFIG_CHOICE, AT(log_format), "text", 0, 0, log_formats,
     "text or json"},
    {"holdSeconds", "hold-seconds", CONFIG_DURATION, AT(hold), "20", MSEC(100), SEC(3600), NULL,
     "longest time a bind call is held"},
    {"assembleSeconds", "assemble-seconds", CONFIG_DURATION, AT(assemble), "3", 0, SEC(60), NULL,
     "how long members that do not exist yet are planned for after the last one came; 0: not"},
    {"httpTimeoutSeconds", "http-timeout-seconds", CONFIG_DURATION, AT(http_timeout), "30", SEC(1),
     SEC(7200), NULL, "httpTimeout as registered with kube-scheduler"},
    {"scheduleTimeoutSeconds", "schedule-timeout-seconds", CONFIG_DURATION, AT(schedule_timeout),
     "60", SEC(1), SEC(604800), NULL, "length of an attempt where the PodGroup says none"},
    {"maxScheduleTimeoutSeconds", "max-schedule-timeout-seconds", CONFIG_DURATION,
     AT(max_schedule_timeout), "3600", SEC(1), SEC(604800), NULL,
     "longest attempt that a PodGroup may ask for"},
    {"backoffSeconds", "backoff-seconds", CONFIG_DURATION, AT(backoff), "5", MSEC(100), SEC(86400),
     NULL, "first wait after a failed attempt"},
    {"maxBackoffSeconds", "max-backoff-seconds", CONFIG_DURATION, AT(max_backoff), "300", MSEC(100),
     SEC(86400), NULL, "longest wait after failed attempts"},
    {"reasonRefreshSeconds", "reason-refresh-seconds", CONFIG_DURATION, AT(reason_refresh), "30",
     MSEC(100), SEC(86400), NULL, "shortest time between two texts for the same waiting pods"},
    {"requestTimeoutSeconds", "request-timeout-seconds", CONFIG_DURATION, AT(request_timeout), "10",
     MSEC(100), SEC(3600), NULL,
     "longest time a client may take to send headers, then a body, then to read the reply"},
    {"starvationSeconds", "starvation-seconds", CONFIG_DURATION, AT(starvation), "300", 0,
     SEC(2592000), NULL, "a gang that waits so long has freed capacity kept for it; 0: never"},
    {"strictOrder", "strict-order", CONFIG_BOOL, AT(strict_order), "false", 0, 0, NULL,
     "true: nothing goes ahead of a waiting gang that comes before it"},
    {"trustPodGroupPriority", "trust-pod-group-priority", CONFIG_BOOL, AT(trust_group_priority),
     "false", 0, 0, NULL,
     "true: the priority of a PodGroup counts everywhere, even above that of its pods"},
    {"onFailedCommit", "on-failed-commit", CONFIG_CHOICE, AT(on_failed_commit), "complete", 0, 0,
     failed_commits, "complete (elsewhere, first in line) or evict (what it bound)"},
    {"belowMinimum", "below-minimum", CONFIG_CHOICE, AT(below_minimum), "leave", 0, 0,
     below_minimums, "leave (replacements pass singly) or requeue (they wait for the minimum)"},
    {"steering", "steering", CONFIG_CHOICE, AT(steering), "auto", 0, 0, steerings,
     "nominate members to their planned nodes: auto (where it pays), always or never"},
    {"expressLane", "express-lane", CONFIG_BOOL, AT(express_lane), "false", 0, 0, NULL,
     "true: the first member at bind is enough where muster knows all of kube-scheduler's rules"},
    {"kubeSchedulerConfig", "kube-scheduler-config", CONFIG_TEXT, AT(kube_scheduler_config), NULL,
     0, 0, NULL,
     "the KubeSchedulerConfiguration file that kube-scheduler runs with; expressLane needs it"},
    {"maxHolds", "max-holds", CONFIG_COUNT, AT(max_holds), "10000", 1, 500000, NULL,
     "bind calls held at once, over all gangs"},
    {"commitBatchThreshold", "commit-batch-threshold", CONFIG_COUNT, AT(commit_batch_threshold),
     "500", 0, 500000, NULL,
     "when so many pods wait that were refused, complete gangs commit together; 0: never"},
    {"maxBodyMiB", "max-body-mib", CONFIG_COUNT, AT(max_body_mib), "128", 1, 2048, NULL,
     "largest request; 5,000 whole nodes (nodeCacheCapable: false) are about 70"},
    {"connectionLimit", "connection-limit", CONFIG_COUNT, AT(connection_limit), "16384", 128,
     1000000, NULL, "connections of the verbs listener, held binds included"},
    {"schedulerNames", "scheduler-names", CONFIG_SCHEDULERS, AT(scheduler_names), NULL, 0, 0, NULL,
     "schedulers whose pods are muster's; none named: all"},
    {"gates.enabled", "gates-enabled", CONFIG_BOOL, AT(gates), "false", 0, 0, NULL,
     "true: pods with the scheduling gate muster.dev/plan keep it until their gang has a plan"},
    {"gates.showToAutoscaler", "gates-show-to-autoscaler", CONFIG_BOOL, AT(gates_show), "false", 0,
     0, NULL, "true: gangs that lack room lose the gate, so that an autoscaler sees them"},
    {"createPodGroups", "create-pod-groups", CONFIG_BOOL, AT(create_pod_groups), "true", 0, 0, NULL,
     "false: no PodGroups are created for pods that have none"},
    {"podGroupSchedulers", "pod-group-schedulers", CONFIG_SCHEDULERS, AT(pod_group_schedulers),
     "kai-scheduler,volcano,muster", 0, 0, NULL, "schedulers whose pods get a PodGroup unasked"},
    {"podGroupNamespaces", "pod-group-namespaces", CONFIG_NAMESPACES, AT(pod_group_namespaces),
     NULL, 0, 0, NULL, "namespaces in which PodGroups are created; none named: all"},
    {"podGroupExcludedNamespaces", "pod-group-excluded-namespaces", CONFIG_NAMESPACES,
     AT(pod_group_excluded_namespaces), "kube-system", 0, 0, NULL,
     "namespaces in which no PodGroups are created"},
    {"podGroupDialect", "pod-group-dialect", CONFIG_CHOICE, AT(pod_group_dialect), "kai", 0, 0,
     config_dialects, "kai, volcano, x-k8s or sigs, for pods that ask for none"},
    {"workloads", "workloads", CONFIG_WORKLOADS, AT(workloads), NULL, 0, 0, NULL,
     "kinds to create PodGroups for: API-VERSION/KIND:PATH-OF-PODS[:PATH-OF-MINIMUM]"},
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
        return err_set(err, ERR_INVALID,
                       "\"%s\" is no address: write ADDR:PORT, such as 127.0.0.1:9910 or "
                       "[::1]:9910",
                       text);
    bool v6 = text[0] == '[' && colon > text + 1 && colon[-1] == ']';
    cleanup_free char *host = v6 ? xstrndup(text + 1, (size_t)(colon - text) - 2)
                                 : xstrndup(text, (size_t)(colon - text));
    unsigned char scratch[sizeof(struct in6_addr)];
    if (inet_pton(v6 ? AF_INET6 : AF_INET, host, scratch) != 1)
        return err_set(err, ERR_INVALID,
                       "\"%s\" is no IP address: write one, such as 127.0.0.1 (this machine "
                       "only), 0.0.0.0 (everywhere) or [::1]",
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
        return err_set(err, ERR_INVALID, "\"%s\" is no whole number", text);
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
        return err_set(err, ERR_INVALID, "%s is out of range: write %.10g to %.10g seconds", text,
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
    cleanup_buf struct buf words = BUF_INIT;
    put_choices(&words, key->choices);
    return err_set(err, ERR_INVALID, "\"%s\" is not one of: %s", text, buf_str(&words));
}

static int set_bool(const char *text, bool *ret, struct err *err)
{
    if (!str_eq(text, "true") && !str_eq(text, "false"))
        return err_set(err, ERR_INVALID, "\"%s\" is neither true nor false", text);
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
        return err_set(err, ERR_INVALID, "is empty: write a value or leave the key out");
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
                return err_set(err, ERR_INVALID, "\"%s\" is there twice: write it once", values[i]);
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
        config_mistake(l, where, "%s: unknown key; \"muster serve --help\" lists them all", name);
    return NULL;
}
