/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <inttypes.h>

#include "config/config_internal.h"

/* Connections that held calls cannot use, so that muster can always answer filter. */
#define HOLD_HEADROOM 64

#define AT(field) offsetof(struct config, field)

/* ---- loading ---- */

static const char *where_of(const struct config_loading *l, size_t offset)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++)
        if (keys[i].offset == offset && l->where[i])
            return l->where[i];
    return "default";
}

/* The place of the first of two settings that is not a default. */
static const char *where_of_two(const struct config_loading *l, size_t a, size_t b)
{
    const char *where = where_of(l, a);
    return str_eq(where, "default") ? where_of(l, b) : where;
}

static void check_combinations(struct config_loading *l)
{
    const struct config *c = l->config;
    if (c->hold > c->http_timeout - CONFIG_HOLD_MARGIN)
        config_mistake(l, where_of_two(l, AT(hold), AT(http_timeout)),
                       "holdSeconds: %g is too long for httpTimeoutSeconds %g: lower it to at "
                       "most %g, or raise httpTimeoutSeconds and kube-scheduler's httpTimeout",
                       (double)c->hold / 1e6, (double)c->http_timeout / 1e6,
                       (double)(c->http_timeout - CONFIG_HOLD_MARGIN) / 1e6);
    if (c->express_lane && !c->kube_scheduler_config)
        config_mistake(l, where_of(l, AT(express_lane)),
                       "expressLane: muster must know kube-scheduler's configuration: set "
                       "kubeSchedulerConfig to the path of kube-scheduler's configuration file");
    if (c->backoff > c->max_backoff)
        config_mistake(
            l, where_of_two(l, AT(backoff), AT(max_backoff)),
            "backoffSeconds: %g is longer than maxBackoffSeconds %g: lower backoffSeconds, "
            "or raise maxBackoffSeconds",
            (double)c->backoff / 1e6, (double)c->max_backoff / 1e6);
    if (c->max_holds > c->connection_limit - HOLD_HEADROOM)
        config_mistake(l, where_of_two(l, AT(max_holds), AT(connection_limit)),
                       "maxHolds: %" PRId64
                       " leaves too few connections for filter calls: lower it to at "
                       "most connectionLimit - %d = %" PRId64 ", or raise connectionLimit",
                       c->max_holds, HOLD_HEADROOM, c->connection_limit - HOLD_HEADROOM);
    if (str_eq(c->listen, c->ops_listen) && !str_eq(strrchr(c->listen, ':'), ":0"))
        config_mistake(l, where_of_two(l, AT(ops_listen), AT(listen)),
                       "opsListen: %s is also the address of listen: choose another port",
                       c->ops_listen);
    const struct config_list *in = &c->pod_group_namespaces,
                             *except = &c->pod_group_excluded_namespaces;
    for (size_t i = 0; i < in->n; i++)
        for (size_t j = 0; j < except->n; j++)
            if (str_eq(in->items[i], except->items[j]))
                config_mistake(
                    l, where_of_two(l, AT(pod_group_namespaces), AT(pod_group_excluded_namespaces)),
                    "podGroupNamespaces: %s is also in podGroupExcludedNamespaces: remove it from "
                    "one of the two",
                    in->items[i]);
}

void config_remarks(const struct config *c, struct buf *out)
{
    const struct {
        bool applies;
        const char *text;
    } remarks[] = {
        {c->strict_order,
         "strictOrder: a gang that does not fit holds back the gangs after it, and "
         "ordinary pods of the same or a lower priority"},
        {!c->strict_order && c->starvation == 0, "starvationSeconds: 0: a large gang may wait "
                                                 "forever while smaller gangs and pods pass it"},
        {c->on_failed_commit == CONFIG_EVICT,
         "onFailedCommit: evict: muster evicts members that have a controller, and needs the right "
         "to create pods/eviction. A Job counts each eviction as a failure (backoffLimit)"},
        {c->gates_show && !c->gates, "gates.showToAutoscaler: has no effect without gates.enabled"},
        {c->below_minimum == CONFIG_REQUEUE,
         "belowMinimum: requeue: replacements for lost members wait until enough members exist for "
         "the minimum of the gang"},
        {c->express_lane,
         "expressLane: a member that muster binds before kube-scheduler calls bind for it gets no "
         "Scheduled event. Such a member may take room that muster has just offered to another "
         "pod; kube-scheduler then tries that pod again"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(remarks); i++)
        if (remarks[i].applies)
            buf_printf(out, "%s\n", remarks[i].text);
}

static void set_flag(struct config_loading *l, const struct config_flag *flag)
{
    cleanup_free char *where = xasprintf("--%s", flag->key->flag);
    config_set_text(l, flag->key, where, flag->value);
}

struct config *config_load(const char *path, const struct config_flag *flags, size_t n_flags,
                           struct buf *mistakes)
{
    struct config_loading l = {.config = config_defaults(), .path = path, .mistakes = mistakes};
    if (path)
        config_read_file(&l);
    for (size_t i = 0; i < n_flags; i++)
        set_flag(&l, &flags[i]);
    /* A wrong value would make messages about combinations useless. */
    if (!l.failed)
        check_combinations(&l);
    for (size_t i = 0; i < CONFIG_MAX_KEYS; i++)
        free(l.where[i]);
    return l.failed ? config_free(l.config) : l.config;
}

struct config *config_defaults(void)
{
    struct config *c = xcalloc(1, sizeof *c);
    size_t n;
    const struct config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++)
        config_set_initial(c, &keys[i]);
    return c;
}

struct config *config_free(struct config *c)
{
    if (!c)
        return NULL;
    size_t n;
    const struct config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++)
        config_clear(c, &keys[i]);
    free(c);
    return NULL;
}

/* ---- printing ---- */

static void value_json(const struct config *c, const struct config_key *key, struct buf *out)
{
    const char *text = NULL;
    if (key->type == CONFIG_DURATION) {
        buf_printf(out, "%.10g", (double)*(usec_t *)config_field(c, key) / 1e6);
        return;
    }
    if (key->type == CONFIG_COUNT) {
        buf_printf(out, "%" PRId64, *(int64_t *)config_field(c, key));
        return;
    }
    if (key->type == CONFIG_BOOL) {
        buf_puts(out, *(bool *)config_field(c, key) ? "true" : "false");
        return;
    }
    if (config_entry(key->type)) {
        const struct config_list *list = config_field(c, key);
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
        text = key->choices[*(int64_t *)config_field(c, key)];
    else
        text = *(char **)config_field(c, key);
    if (text)
        buf_json(out, text, strlen(text));
    else
        buf_puts(out, "null");
}

/* The length of the section in the key's name, with the dot. */
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
    size_t n;
    const struct config_key *keys = config_keys(&n);
    buf_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        const struct config_key *key = &keys[i];
        size_t in = section_len(key);
        bool first = i == 0 || !same_section(key, key - 1);
        bool last = i + 1 == n || !same_section(key, key + 1);
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
