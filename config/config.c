/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/duration.h"
#include "base/likeness.h"
#include "base/utf8.h"
#include "config/config_internal.h"

/* What kube-scheduler's own timeout must leave beside a hold: the reply has to arrive in time. */
#define HOLD_MARGIN (5 * USEC_PER_SEC)
/* Connections kept free of held calls, so that filter is always answered. */
#define HOLD_HEADROOM 64

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
    {"textRefreshSeconds", "text-refresh-seconds", CONFIG_DURATION, AT(text_refresh), "30",
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
    {"express", "express", CONFIG_BOOL, AT(express), "false", 0, 0, NULL,
     "true: the first member at bind is enough where muster knows all of kube-scheduler's rules"},
    {"schedulerConfig", "kube-scheduler-config", CONFIG_TEXT, AT(scheduler_config), NULL, 0, 0,
     NULL, "the KubeSchedulerConfiguration file that kube-scheduler runs with; express needs it"},
    {"maxHolds", "max-holds", CONFIG_COUNT, AT(max_holds), "10000", 1, 500000, NULL,
     "bind calls held at once, over all gangs"},
    {"commitTogether", "commit-together", CONFIG_COUNT, AT(together), "500", 0, 500000, NULL,
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
    {"makePodGroups", "make-pod-groups", CONFIG_BOOL, AT(make_pod_groups), "true", 0, 0, NULL,
     "false: no PodGroups are made for pods that have none"},
    {"podGroupSchedulers", "pod-group-schedulers", CONFIG_SCHEDULERS, AT(pod_group_schedulers),
     "kai-scheduler,volcano,muster", 0, 0, NULL, "schedulers whose pods get a PodGroup unasked"},
    {"podGroupNamespaces", "pod-group-namespaces", CONFIG_NAMESPACES, AT(pod_group_namespaces),
     NULL, 0, 0, NULL, "namespaces in which PodGroups are made; none named: all"},
    {"podGroupExceptNamespaces", "pod-group-except-namespaces", CONFIG_NAMESPACES,
     AT(pod_group_except_namespaces), "kube-system", 0, 0, NULL,
     "namespaces in which no PodGroups are made"},
    {"podGroupDialect", "pod-group-dialect", CONFIG_CHOICE, AT(pod_group_dialect), "kai", 0, 0,
     config_dialects, "kai, volcano, x-k8s or sigs, for pods that ask for none"},
    {"workloads", "workloads", CONFIG_WORKLOADS, AT(workloads), NULL, 0, 0, NULL,
     "kinds to make PodGroups for: API-VERSION/KIND:PATH-OF-PODS[:PATH-OF-MINIMUM]"},
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

static void *field(const struct config *c, const struct config_key *key)
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
    void *at = field(l->config, key);
    int r = config_entry(key->type) ? set_list(key, at, values, n, &err)
                                    : set_one(key, at, values[0], &err);
    note(l, key, where, r, &err);
}

/* ---- unknown keys ---- */

const struct config_key *config_key_find(struct config_loading *l, const char *where,
                                         const char *name)
{
    const struct config_key *nearest = NULL;
    size_t best = 4; /* further away is no likeness */
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (str_eq(keys[i].name, name))
            return &keys[i];
        size_t d = likeness_distance(name, keys[i].name);
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

/* ---- loading ---- */

static const char *where_of(const struct config_loading *l, size_t offset)
{
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (keys[i].offset == offset && l->where[i])
            return l->where[i];
    return "default";
}

/* The place of the first of two settings that was made by somebody. */
static const char *where_of_two(const struct config_loading *l, size_t a, size_t b)
{
    const char *where = where_of(l, a);
    return str_eq(where, "default") ? where_of(l, b) : where;
}

static void check_combinations(struct config_loading *l)
{
    const struct config *c = l->config;
    if (c->hold > c->http_timeout - HOLD_MARGIN)
        config_mistake(l, where_of_two(l, AT(hold), AT(http_timeout)),
                       "holdSeconds: %g is too long for an httpTimeoutSeconds of %g: write at most "
                       "%g, or raise httpTimeoutSeconds and kube-scheduler's httpTimeout",
                       (double)c->hold / 1e6, (double)c->http_timeout / 1e6,
                       (double)(c->http_timeout - HOLD_MARGIN) / 1e6);
    if (c->express && !c->scheduler_config)
        config_mistake(
            l, where_of(l, AT(express)),
            "express: needs schedulerConfig, to see that kube-scheduler has no rules that "
            "muster does not know: write the path of its configuration file");
    if (c->backoff > c->max_backoff)
        config_mistake(l, where_of_two(l, AT(backoff), AT(max_backoff)),
                       "backoffSeconds: %g is longer than maxBackoffSeconds %g: lower the one or "
                       "raise the other",
                       (double)c->backoff / 1e6, (double)c->max_backoff / 1e6);
    if (c->max_holds > c->connection_limit - HOLD_HEADROOM)
        config_mistake(l, where_of_two(l, AT(max_holds), AT(connection_limit)),
                       "maxHolds: %" PRId64 " leaves filter no connection: write at most "
                       "connectionLimit - %d = %" PRId64 ", or raise connectionLimit",
                       c->max_holds, HOLD_HEADROOM, c->connection_limit - HOLD_HEADROOM);
    if (str_eq(c->listen, c->ops_listen) && !str_eq(strrchr(c->listen, ':'), ":0"))
        config_mistake(l, where_of_two(l, AT(ops_listen), AT(listen)),
                       "opsListen: %s is the address of listen: write another port", c->ops_listen);
    const struct config_list *in = &c->pod_group_namespaces,
                             *except = &c->pod_group_except_namespaces;
    for (size_t i = 0; i < in->n; i++)
        for (size_t j = 0; j < except->n; j++)
            if (str_eq(in->items[i], except->items[j]))
                config_mistake(
                    l, where_of_two(l, AT(pod_group_namespaces), AT(pod_group_except_namespaces)),
                    "podGroupNamespaces: %s is in podGroupExceptNamespaces too: remove it from one "
                    "of the two",
                    in->items[i]);
}

void config_remarks(const struct config *c, struct buf *out)
{
    const struct {
        bool applies;
        const char *text;
    } remarks[] = {
        {c->strict_order, "strictOrder: one gang that does not fit holds back everything that "
                          "comes after it, ordinary pods too"},
        {!c->strict_order && c->starvation == 0,
         "starvationSeconds: 0: smaller work may go ahead of a large gang for ever"},
        {c->on_failed_commit == CONFIG_EVICT,
         "onFailedCommit: evict: members that have a controller are evicted (muster must be "
         "allowed to create pods/eviction), which a Job counts as failures (backoffLimit)"},
        {c->gates_show && !c->gates,
         "gates.showToAutoscaler: changes nothing without gates.enabled"},
        {c->below_minimum == CONFIG_REQUEUE,
         "belowMinimum: requeue: the replacement of a lost member waits until its gang can have "
         "its whole minimum again"},
        {c->express,
         "express: members that kube-scheduler did not bring to bind have no event Scheduled, and "
         "a pod that it had just let through elsewhere may be sent back once"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(remarks); i++)
        if (remarks[i].applies)
            buf_printf(out, "%s\n", remarks[i].text);
}

static void set_flag(struct config_loading *l, const struct config_flag *flag)
{
    cleanup_free char *where = xasprintf("--%s", flag->key->flag);
    struct err err;
    if (!config_entry(flag->key->type)) {
        config_set(l, flag->key, where, &flag->value, 1);
        return;
    }
    int r = set_list_text(flag->key, field(l->config, flag->key), flag->value, &err);
    note(l, flag->key, where, r, &err);
}

struct config *config_load(const char *path, const struct config_flag *flags, size_t n_flags,
                           struct buf *mistakes)
{
    struct config_loading l = {.config = config_defaults(), .path = path, .mistakes = mistakes};
    if (path)
        config_read_file(&l);
    for (size_t i = 0; i < n_flags; i++)
        set_flag(&l, &flags[i]);
    /* Combinations of values that are wrong themselves would only be noise. */
    if (!l.failed)
        check_combinations(&l);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        free(l.where[i]);
    return l.failed ? config_free(l.config) : l.config;
}

struct config *config_defaults(void)
{
    struct config *c = xcalloc(1, sizeof *c);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (keys[i].initial && config_entry(keys[i].type))
            set_list_text(&keys[i], field(c, &keys[i]), keys[i].initial, NULL);
        else if (keys[i].initial)
            set_one(&keys[i], field(c, &keys[i]), keys[i].initial, NULL);
    return c;
}

struct config *config_free(struct config *c)
{
    if (!c)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (keys[i].type == CONFIG_TEXT || keys[i].type == CONFIG_ADDRESS)
            free(*(char **)field(c, &keys[i]));
        else if (config_entry(keys[i].type))
            list_clear(field(c, &keys[i]));
    free(c);
    return NULL;
}

/* ---- printing ---- */

static void value_json(const struct config *c, const struct config_key *key, struct buf *out)
{
    const char *text = NULL;
    if (key->type == CONFIG_DURATION) {
        buf_printf(out, "%.10g", (double)*(usec_t *)field(c, key) / 1e6);
        return;
    }
    if (key->type == CONFIG_COUNT) {
        buf_printf(out, "%" PRId64, *(int64_t *)field(c, key));
        return;
    }
    if (key->type == CONFIG_BOOL) {
        buf_puts(out, *(bool *)field(c, key) ? "true" : "false");
        return;
    }
    if (config_entry(key->type)) {
        const struct config_list *list = field(c, key);
        buf_putc(out, '[');
        for (size_t i = 0; i < list->n; i++) {
            if (i)
                buf_putc(out, ',');
            buf_json(out, list->items[i], strlen(list->items[i]));
        }
        buf_putc(out, ']');
        return;
    }
    if (key->type == CONFIG_CHOICE)
        text = key->choices[*(int64_t *)field(c, key)];
    else
        text = *(char **)field(c, key);
    if (text)
        buf_json(out, text, strlen(text));
    else
        buf_puts(out, "null");
}

/* How much of the key's name is its section, with the dot. */
static size_t section_len(const struct config_key *key)
{
    const char *dot = strchr(key->name, '.');
    return dot ? (size_t)(dot - key->name) + 1 : 0;
}

static bool same_section(const struct config_key *a, const struct config_key *b)
{
    return section_len(a) == section_len(b) && strncmp(a->name, b->name, section_len(a)) == 0;
}

void config_json(const struct config *c, struct buf *out)
{
    buf_putc(out, '{');
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const struct config_key *key = &keys[i];
        size_t in = section_len(key);
        bool first = i == 0 || !same_section(key, key - 1);
        bool last = i + 1 == ARRAY_SIZE(keys) || !same_section(key, key + 1);
        if (i)
            buf_putc(out, ',');
        if (in && first) {
            buf_json(out, key->name, in - 1);
            buf_puts(out, ":{");
        }
        buf_json(out, key->name + in, strlen(key->name + in));
        buf_putc(out, ':');
        value_json(c, key, out);
        if (in && last)
            buf_putc(out, '}');
    }
    buf_putc(out, '}');
}
