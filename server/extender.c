/* SPDX-License-Identifier: Apache-2.0 */
#include "server/extender.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <strings.h>

#include "k8s/decode.h"

const char *extender_verb_name(enum extender_verb verb)
{
    static const char *const names[] = {
#define X(id, name) name,
        EXTENDER_VERBS(X)
#undef X
    };
    return names[verb];
}

/* A parse in progress. */
struct parser {
    struct json_scan s;
    struct extender_args *args;
    struct buf key, value; /* the last key and string read */
    struct json_span pod;
    bool have_pod, have_names, have_nodes, have_victims, have_meta;
    /* What is found of each node; offsets, because the text moves while it grows. */
    size_t *name_at;
    size_t n, name_cap, span_cap;
};

static bool key_is(const struct parser *p, const char *name)
{
    return strcasecmp(buf_str(&p->key), name) == 0;
}

/* Appends p->value as the next name. */
static void add_name(struct parser *p)
{
    GROW(p->name_at, p->name_cap, p->n + 1);
    p->name_at[p->n++] = p->args->text.len;
    buf_append(&p->args->text, buf_str(&p->value), p->value.len + 1);
}

/* A key that may be there once. */
static bool once(struct parser *p, bool *seen)
{
    if (*seen)
        return json_scan_fail(&p->s, "this key is there twice");
    *seen = true;
    return true;
}

/* ---- filter and prioritize ---- */

static void parse_names(struct parser *p)
{
    if (json_scan_null(&p->s) || !once(p, &p->have_names) || !json_scan_array(&p->s))
        return;
    while (json_scan_item(&p->s) && json_scan_string(&p->s, &p->value)) {
        if (p->value.len == 0)
            json_scan_fail(&p->s, "an empty node name");
        else
            add_name(p);
    }
}

/* Reads the string `field` of the object at hand into p->value. */
static bool string_field(struct parser *p, const char *field)
{
    bool found = false;
    if (!json_scan_object(&p->s))
        return false;
    while (json_scan_key(&p->s, &p->key)) {
        if (!found && key_is(p, field) && json_scan_peek(&p->s) == '"')
            found = json_scan_string(&p->s, &p->value) && p->value.len > 0;
        else
            json_scan_skip(&p->s, NULL);
    }
    return found && !p->s.error;
}

/* Reads metadata.<field> of the Kubernetes object at hand into p->value. */
static bool metadata_field(struct parser *p, const char *field)
{
    bool found = false;
    if (!json_scan_object(&p->s))
        return false;
    while (json_scan_key(&p->s, &p->key)) {
        if (!found && key_is(p, "metadata") && json_scan_peek(&p->s) == '{')
            found = string_field(p, field);
        else
            json_scan_skip(&p->s, NULL);
    }
    return found && !p->s.error;
}

static bool parse_node(struct parser *p)
{
    json_scan_peek(&p->s); /* passes the white space before it */
    size_t from = (size_t)(p->s.p - p->s.start);
    if (!metadata_field(p, "name"))
        return json_scan_fail(&p->s, "the node that ends here has no metadata.name");
    struct extender_args *a = p->args;
    GROW(a->items, p->span_cap, p->n + 1);
    a->items[p->n] = (struct json_span){from, (size_t)(p->s.p - p->s.start) - from};
    add_name(p);
    return true;
}

static void parse_nodes(struct parser *p)
{
    bool have_items = false;
    if (json_scan_null(&p->s) || !once(p, &p->have_nodes) || !json_scan_object(&p->s))
        return;
    while (json_scan_key(&p->s, &p->key)) {
        if (!key_is(p, "items") || json_scan_peek(&p->s) == 'n') {
            json_scan_skip(&p->s, NULL);
            continue;
        }
        if (!once(p, &have_items) || !json_scan_array(&p->s))
            return;
        while (json_scan_item(&p->s) && parse_node(p))
            ;
    }
}

static void parse_pod_key(struct parser *p)
{
    if (once(p, &p->have_pod))
        json_scan_skip(&p->s, &p->pod);
}

static void parse_args(struct parser *p)
{
    if (!json_scan_object(&p->s))
        return;
    while (json_scan_key(&p->s, &p->key)) {
        if (key_is(p, "Pod"))
            parse_pod_key(p);
        else if (key_is(p, "NodeNames"))
            parse_names(p);
        else if (key_is(p, "Nodes"))
            parse_nodes(p);
        else
            json_scan_skip(&p->s, NULL);
        if (p->have_names && p->have_nodes)
            json_scan_fail(&p->s, "both NodeNames and Nodes are given");
    }
}

/* ---- preempt ---- */

static void put_uid(struct parser *p, size_t nth)
{
    struct buf *out = &p->args->victims_text;
    buf_puts(out, nth ? ",{\"UID\":" : "{\"UID\":");
    buf_json(out, buf_str(&p->value), p->value.len);
    buf_putc(out, '}');
}

/* The pods of one candidate: whole ones, or just {"UID": …}. */
static void parse_victim_pods(struct parser *p, bool meta)
{
    size_t n = 0;
    if (json_scan_null(&p->s) || !json_scan_array(&p->s))
        return;
    while (json_scan_item(&p->s)) {
        if (!(meta ? string_field(p, "UID") : metadata_field(p, "uid")))
            json_scan_fail(&p->s, "the victim that ends here has no UID");
        else
            put_uid(p, n++);
    }
}

/* The value of one candidate node; writes it as MetaVictims. */
static void parse_victims(struct parser *p, bool meta)
{
    struct extender_args *a = p->args;
    int64_t violations = 0;
    bool have_pods = false;
    size_t from = a->victims_text.len;
    buf_puts(&a->victims_text, "{\"Pods\":[");
    if (!json_scan_object(&p->s))
        return;
    while (json_scan_key(&p->s, &p->key)) {
        if (key_is(p, "Pods")) {
            if (once(p, &have_pods))
                parse_victim_pods(p, meta);
        } else if (key_is(p, "NumPDBViolations")) {
            json_scan_int(&p->s, &violations);
        } else {
            json_scan_skip(&p->s, NULL);
        }
    }
    buf_printf(&a->victims_text, "],\"NumPDBViolations\":%" PRId64 "}", violations);
    a->victims[p->n] = (struct json_span){from, a->victims_text.len - from};
}

static void parse_candidates(struct parser *p, bool meta)
{
    struct extender_args *a = p->args;
    if (json_scan_null(&p->s) || !once(p, meta ? &p->have_meta : &p->have_victims) ||
        !json_scan_object(&p->s))
        return;
    while (json_scan_key(&p->s, &p->value)) {
        GROW(a->victims, p->span_cap, p->n + 1);
        size_t name_at = a->text.len;
        buf_append(&a->text, buf_str(&p->value), p->value.len + 1);
        parse_victims(p, meta);
        GROW(p->name_at, p->name_cap, p->n + 1);
        p->name_at[p->n++] = name_at;
    }
}

static void parse_preempt(struct parser *p)
{
    if (!json_scan_object(&p->s))
        return;
    while (json_scan_key(&p->s, &p->key)) {
        if (key_is(p, "Pod"))
            parse_pod_key(p);
        else if (key_is(p, "NodeNameToVictims"))
            parse_candidates(p, false);
        else if (key_is(p, "NodeNameToMetaVictims"))
            parse_candidates(p, true);
        else
            json_scan_skip(&p->s, NULL);
        if (p->have_victims && p->have_meta)
            json_scan_fail(&p->s, "both NodeNameToVictims and NodeNameToMetaVictims are given");
    }
}

/* ---- bind ---- */

static void parse_bind(struct parser *p)
{
    struct {
        const char *key;
        char **to;
    } fields[] = {
        {"PodName", &p->args->name},
        {"PodNamespace", &p->args->ns},
        {"PodUID", &p->args->uid},
        {"Node", &p->args->node},
    };
    if (!json_scan_object(&p->s))
        return;
    while (json_scan_key(&p->s, &p->key)) {
        char **to = NULL;
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
            if (key_is(p, fields[i].key))
                to = fields[i].to;
        if (!to)
            json_scan_skip(&p->s, NULL);
        else if (*to)
            json_scan_fail(&p->s, "this key is there twice");
        else if (json_scan_string(&p->s, &p->value))
            *to = xstrdup(buf_str(&p->value));
    }
}

static int check_bind(const struct extender_args *a, struct err *err)
{
    const struct {
        const char *key, *value;
    } fields[] = {
        {"PodName", a->name}, {"PodNamespace", a->ns}, {"PodUID", a->uid}, {"Node", a->node}};
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (!fields[i].value || !*fields[i].value)
            return err_set(err, ERR_INVALID, "ExtenderBindingArgs: %s is missing", fields[i].key);
    return 0;
}

/* ---- all ---- */

static int decode_span(struct parser *p, const struct workload_rules *rules, struct err *err)
{
    if (!p->have_pod || p->pod.len <= strlen("null"))
        return err_set(err, ERR_INVALID, "Pod is missing");
    json_error_t e;
    /* Checked already, and no deeper than JSON_SCAN_DEPTH: only numbers can still be refused. */
    json_t *tree = json_loadb(p->s.start + p->pod.at, p->pod.len, 0, &e);
    if (!tree)
        return err_set(err, ERR_INVALID, "Pod: %s, at byte %zu", e.text,
                       p->pod.at + (size_t)e.position);
    p->args->pod = decode_pod(tree, err);
    if (p->args->pod)
        decode_awaits(rules, tree, p->args->pod);
    json_decref(tree);
    return p->args->pod ? 0 : -1;
}

/* The text has stopped moving: offsets become pointers. */
static void finish_names(struct parser *p)
{
    const char **names = xcalloc(p->n ? p->n : 1, sizeof *names);
    for (size_t i = 0; i < p->n; i++)
        names[i] = p->args->text.data + p->name_at[i];
    p->args->names = names;
    p->args->n_names = p->n;
}

static int finish(struct parser *p, enum extender_verb verb, const struct workload_rules *rules,
                  struct err *err)
{
    json_scan_end(&p->s);
    if (p->s.error)
        return err_set(err, ERR_INVALID, "%s, at byte %zu", p->s.error, p->s.at);
    if (verb == EXTENDER_BIND)
        return check_bind(p->args, err);
    if (verb == EXTENDER_PREEMPT && !p->have_victims && !p->have_meta)
        return err_set(err, ERR_INVALID,
                       "neither NodeNameToVictims nor NodeNameToMetaVictims is given");
    if (verb != EXTENDER_PREEMPT && !p->have_names && !p->have_nodes)
        return err_set(err, ERR_INVALID, "neither NodeNames nor Nodes is given");
    finish_names(p);
    return decode_span(p, rules, err);
}

int extender_parse(enum extender_verb verb, const char *body, size_t len,
                   const struct workload_rules *rules, struct extender_args *args, struct err *err)
{
    static void (*const parsers[])(struct parser *) = {
        [EXTENDER_FILTER] = parse_args,
        [EXTENDER_PRIORITIZE] = parse_args,
        [EXTENDER_PREEMPT] = parse_preempt,
        [EXTENDER_BIND] = parse_bind,
    };
    struct parser p = {.s = json_scan_new(body, len), .args = args};
    args->body = body;
    parsers[verb](&p);
    int r = finish(&p, verb, rules, err);
    buf_done(&p.key);
    buf_done(&p.value);
    free(p.name_at);
    return r;
}

void extender_args_done(struct extender_args *args)
{
    gang_pod_facts_free(args->pod);
    free((void *)(uintptr_t)args->names);
    free(args->items);
    free(args->victims);
    buf_done(&args->victims_text);
    buf_done(&args->text);
    free(args->ns);
    free(args->name);
    free(args->uid);
    free(args->node);
    *args = (struct extender_args){0};
}

/* ---- replies ---- */

static void put_text(struct buf *out, const char *s)
{
    buf_json(out, s, strlen(s));
}

static void put_passed(const struct extender_args *a, uint32_t i, size_t nth, struct buf *out)
{
    if (nth)
        buf_putc(out, ',');
    if (a->items)
        buf_append(out, a->body + a->items[i].at, a->items[i].len);
    else
        put_text(out, a->names[i]);
}

static void put_nodes(const struct extender_args *a, const struct gang_filter_reply *r,
                      struct buf *out)
{
    buf_puts(out, a->items ? "\"Nodes\":{\"metadata\":{},\"items\":[" : "\"NodeNames\":[");
    size_t n = r->pass_all ? a->n_names : r->n_passed;
    for (size_t i = 0; i < n; i++)
        put_passed(a, r->pass_all ? (uint32_t)i : r->passed[i], i, out);
    buf_puts(out, a->items ? "]},\"NodeNames\":null" : "],\"Nodes\":null");
}

void extender_write_filter(const struct extender_args *args, const struct gang_filter_reply *reply,
                           struct buf *out)
{
    if (reply->error) {
        extender_write_failure(EXTENDER_FILTER, reply->error, out);
        return;
    }
    buf_putc(out, '{');
    put_nodes(args, reply, out);
    buf_puts(out, ",\"FailedAndUnresolvableNodes\":{");
    for (size_t i = 0; i < reply->n_refused; i++) {
        if (i)
            buf_putc(out, ',');
        put_text(out, args->names[reply->refused[i].index]);
        buf_putc(out, ':');
        put_text(out, reply->refused[i].text);
    }
    buf_puts(out, "},\"Error\":\"\"}");
}

void extender_write_prioritize(const struct extender_args *args, const uint8_t *scores, size_t n,
                               struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? ",{\"Host\":" : "{\"Host\":");
        put_text(out, args->names[i]);
        buf_printf(out, ",\"Score\":%u}", scores[i]);
    }
    buf_putc(out, ']');
}

void extender_write_preempt(const struct extender_args *args, const uint32_t *kept, size_t n_kept,
                            struct buf *out)
{
    buf_puts(out, "{\"NodeNameToMetaVictims\":{");
    for (size_t i = 0; i < n_kept; i++) {
        const struct json_span *v = &args->victims[kept[i]];
        if (i)
            buf_putc(out, ',');
        put_text(out, args->names[kept[i]]);
        buf_putc(out, ':');
        buf_append(out, args->victims_text.data + v->at, v->len);
    }
    buf_puts(out, "}}");
}

void extender_write_bind(const char *error, struct buf *out)
{
    buf_puts(out, "{\"Error\":");
    put_text(out, error);
    buf_putc(out, '}');
}

int extender_write_failure(enum extender_verb verb, const char *error, struct buf *out)
{
    switch (verb) {
    case EXTENDER_PRIORITIZE:
        buf_puts(out, "[]");
        return 200;
    case EXTENDER_PREEMPT:
        extender_write_bind(error, out); /* kube-scheduler reads the status only */
        return 500;
    case EXTENDER_FILTER:
        buf_puts(out, "{\"Nodes\":null,\"NodeNames\":null,\"FailedAndUnresolvableNodes\":null,"
                      "\"Error\":");
        put_text(out, error);
        buf_putc(out, '}');
        return 200;
    default:
        extender_write_bind(error, out);
        return 200;
    }
}
