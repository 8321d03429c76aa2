/* SPDX-License-Identifier: Apache-2.0 */
#include "server/extender/extender_request.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <strings.h>

#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_json.h"

const char *extender_verb_name(enum extender_verb verb)
{
    static const char *const names[] = {
#define X(id, name) name,
        EXTENDER_VERBS(X)
#undef X
    };
    return names[verb];
}

/* What preempt says about a candidate node besides its name. */
struct candidate {
    size_t uids_end; /* the end of its victims in parser.uids */
    int64_t violations;
};

struct parser {
    struct json_scan s;
    char *body;
    struct extender_args *args;
    bool have_pod, have_names, have_nodes, have_victims, have_meta;
    struct buf key, value; /* the last key and value that were read */
    size_t *found;         /* the offset of each name in the body, or in args->text if copied */
    size_t n, found_cap, span_cap;
    size_t *uids; /* offsets in args->uid_text */
    size_t n_uids, uids_cap, candidates_cap;
    struct candidate *candidates;
    bool copied; /* the names are in args->text, which moves while it grows */
};

static bool key_is(const struct parser *p, const char *name)
{
    return strcasecmp(buf_str(&p->key), name) == 0;
}

/* Appends p->value as the next name. */
static void copy_name(struct parser *p)
{
    GROW(p->found, p->found_cap, p->n + 1);
    p->found[p->n++] = p->args->text.len;
    buf_append(&p->args->text, buf_str(&p->value), p->value.len + 1);
    p->copied = true;
}

/* For a key that may occur only once. */
static bool once(struct parser *p, bool *seen)
{
    if (*seen)
        return json_scan_fail(&p->s, "duplicate key");
    *seen = true;
    return true;
}

/* ---- filter and prioritize ---- */

/* Unescapes a string in place. Unescaping never makes it longer. */
static void unescape(struct parser *p, struct json_span at)
{
    struct json_scan again = json_scan_new(p->body + at.at - 1, at.len + 2);
    json_scan_string(&again, &p->value);
    memcpy(p->body + at.at, buf_str(&p->value), p->value.len + 1);
}

/* Keeps the next name in the body. A NUL replaces the closing quote, which is already scanned. */
static bool keep_name(struct parser *p)
{
    struct json_span at;
    bool plain;
    if (!json_scan_text(&p->s, &at, &plain))
        return false;
    if (at.len == 0)
        return json_scan_fail(&p->s, "empty node name");
    if (plain)
        p->body[at.at + at.len] = '\0';
    else
        unescape(p, at);
    GROW(p->found, p->found_cap, p->n + 1);
    p->found[p->n++] = at.at;
    return true;
}

static void parse_names(struct parser *p)
{
    if (json_scan_null(&p->s) || !once(p, &p->have_names) || !json_scan_array(&p->s))
        return;
    while (json_scan_item(&p->s) && keep_name(p))
        ;
}

/* Reads the string `field` of the next object into p->value. */
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

/* Reads metadata.<field> of the next object into p->value. */
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
    json_scan_peek(&p->s); /* skips the white space before the node */
    size_t from = (size_t)(p->s.p - p->s.start);
    if (!metadata_field(p, "name"))
        return json_scan_fail(&p->s, "the node that ends here has no metadata.name");
    struct extender_args *a = p->args;
    GROW(a->items, p->span_cap, p->n + 1);
    a->items[p->n] = (struct json_span){from, (size_t)(p->s.p - p->s.start) - from};
    copy_name(p); /* the reply repeats the node's bytes, so they must not change */
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

/* Reads the next value into out if it is a short string without escapes. Otherwise skips it. */
static void short_text(struct parser *p, char out[EXTENDER_TEXT + 1])
{
    struct json_span at;
    bool plain;
    if (json_scan_peek(&p->s) != '"') {
        json_scan_skip(&p->s, NULL);
    } else if (json_scan_text(&p->s, &at, &plain) && plain && at.len <= EXTENDER_TEXT) {
        memcpy(out, p->s.start + at.at, at.len);
        out[at.len] = '\0';
    }
}

/* Reads the fields that identify a version of a pod, from its metadata or status. */
static void parse_identity(struct parser *p, bool status)
{
    char version[EXTENDER_TEXT + 1] = "";
    if (json_scan_peek(&p->s) != '{') {
        json_scan_skip(&p->s, NULL);
        return;
    }
    json_scan_object(&p->s);
    while (json_scan_key(&p->s, &p->key)) {
        if (status && key_is(p, "nominatedNodeName"))
            short_text(p, p->args->pod_nominated);
        else if (!status && key_is(p, "uid"))
            short_text(p, p->args->pod_uid);
        else if (!status && key_is(p, "resourceVersion"))
            short_text(p, version);
        else
            json_scan_skip(&p->s, NULL);
    }
    if (!status)
        p->args->pod_version = decode_version_text(version);
}

static void parse_pod_key(struct parser *p)
{
    if (!once(p, &p->have_pod))
        return;
    if (json_scan_peek(&p->s) != '{') {
        json_scan_skip(&p->s, &p->args->pod_span);
        return;
    }
    const char *from = p->s.p;
    json_scan_object(&p->s);
    while (json_scan_key(&p->s, &p->key)) {
        if (key_is(p, "metadata"))
            parse_identity(p, /* status= */ false);
        else if (key_is(p, "status"))
            parse_identity(p, /* status= */ true);
        else
            json_scan_skip(&p->s, NULL);
    }
    p->args->pod_span = (struct json_span){(size_t)(from - p->s.start), (size_t)(p->s.p - from)};
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
    GROW(p->uids, p->uids_cap, p->n_uids + 1);
    p->uids[p->n_uids++] = p->args->uid_text.len;
    buf_append(&p->args->uid_text, buf_str(&p->value), p->value.len + 1);
}

/* Reads the victims of a candidate node: complete pods, or {"UID": …} if `meta`. */
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

/* Reads the value of a candidate node, and writes it as MetaVictims. */
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
    GROW(p->candidates, p->candidates_cap, p->n + 1);
    p->candidates[p->n].uids_end = p->n_uids;
    p->candidates[p->n].violations = violations;
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
        GROW(p->found, p->found_cap, p->n + 1);
        p->found[p->n++] = name_at;
        p->copied = true;
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
            json_scan_fail(&p->s, "duplicate key");
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

/* ---- all verbs ---- */

int extender_decode_pod(struct extender_args *a, const struct workload_rules *rules,
                        struct err *err)
{
    if (!a->pod_span.len)
        return 0;
    struct err unread;
    json_t *tree = kube_json_object(a->body + a->pod_span.at, a->pod_span.len, &unread);
    if (unread.code != ERR_NONE) {
        json_decref(tree);
        return err_set(err, unread.code, "Pod: %s", unread.text);
    }
    a->pod = decode_pod(tree, err);
    if (a->pod)
        decode_awaits(rules, tree, a->pod);
    json_decref(tree);
    return a->pod ? 0 : -1;
}

/* Turns offsets into pointers. args->text no longer grows, so it does not move. */
static void finish_names(struct parser *p)
{
    struct extender_args *a = p->args;
    const char *from = p->copied ? a->text.data : p->body;
    a->names = xcalloc(p->n, sizeof *a->names);
    for (size_t i = 0; i < p->n; i++)
        a->names[i] = from + p->found[i];
    a->n_names = p->n;
}

/* The same for the victims. */
static void finish_victims(struct parser *p)
{
    struct extender_args *a = p->args;
    a->uid_list = xcalloc(p->n_uids + 1, sizeof *a->uid_list);
    for (size_t i = 0; i < p->n_uids; i++)
        a->uid_list[i] = a->uid_text.data + p->uids[i];
    a->victim_uids = xcalloc(p->n + 1, sizeof *a->victim_uids);
    size_t from = 0;
    for (size_t i = 0; i < p->n; i++) {
        size_t to = p->candidates[i].uids_end;
        a->victim_uids[i] =
            (struct gang_victims){a->uid_list + from, to - from, p->candidates[i].violations};
        from = to;
    }
}

static int finish(struct parser *p, enum extender_verb verb, struct err *err)
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
    if (verb == EXTENDER_PREEMPT)
        finish_victims(p);
    if (!p->have_pod || p->args->pod_span.len <= strlen("null"))
        return err_set(err, ERR_INVALID, "Pod is missing");
    return 0;
}

int extender_parse(enum extender_verb verb, char *body, size_t len, struct extender_args *args,
                   struct err *err)
{
    static void (*const parsers[])(struct parser *) = {
        [EXTENDER_FILTER] = parse_args,
        [EXTENDER_PRIORITIZE] = parse_args,
        [EXTENDER_PREEMPT] = parse_preempt,
        [EXTENDER_BIND] = parse_bind,
    };
    struct parser p = {.s = json_scan_new(body, len), .body = body, .args = args};
    args->body = body;
    parsers[verb](&p);
    int r = finish(&p, verb, err);
    buf_done(&p.key);
    buf_done(&p.value);
    free(p.found);
    free(p.uids);
    free(p.candidates);
    return r;
}

void extender_args_done(struct extender_args *a)
{
    gang_pod_facts_free(a->pod);
    free(a->names);
    free(a->items);
    free(a->victims);
    buf_done(&a->victims_text);
    free(a->victim_uids);
    free(a->uid_list);
    buf_done(&a->uid_text);
    free(a->ns);
    free(a->name);
    free(a->uid);
    free(a->node);
    buf_done(&a->text);
    *a = (struct extender_args){0};
}
