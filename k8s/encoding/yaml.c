/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/encoding/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/map.h"

enum {
    MAX_DEPTH = 128,     /* of nested collections */
    MAX_NODES = 1000000, /* of one stream, aliases counted as what they stand for */
    MAX_FILE = 16 << 20, /* bytes */
    TAG_PREFIX_LEN = 18, /* "tag:yaml.org,2002:" */
};

struct anchor {
    json_t *value;
    size_t nodes;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one, valid while have_event */
    bool have_event;
    const char *name;
    struct map anchors; /* of the document; name -> struct anchor */
    size_t nodes;
    int depth;
    struct err *err;
};

static json_t *read_node(struct reader *r);

static json_t *fail_at(struct reader *r, size_t line, const char *fmt, ...) PRINTF_LIKE(3, 4);

static json_t *fail_at(struct reader *r, size_t line, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(r->err, ERR_INVALID, "%s:%zu: %s", r->name, line, text);
    return NULL;
}

static size_t event_line(const struct reader *r)
{
    return r->event.start_mark.line + 1;
}

/* Moves on to the next event. */
static int next_event(struct reader *r)
{
    if (r->have_event)
        yaml_event_delete(&r->event);
    r->have_event = false;
    if (yaml_parser_parse(&r->parser, &r->event)) {
        r->have_event = true;
        return 0;
    }
    size_t line = r->parser.problem_mark.line + 1;
    if (r->parser.error == YAML_READER_ERROR)
        fail_at(r, line, "not valid UTF-8 text (%s at byte %zu)", r->parser.problem,
                r->parser.problem_offset);
    else
        fail_at(r, line, "%s%s%s", r->parser.context ? r->parser.context : "",
                r->parser.context ? ": " : "",
                r->parser.problem ? r->parser.problem : "cannot be read");
    return -1;
}

/* ---- plain scalars, core schema ---- */

static bool one_of(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(s, *words) == 0)
            return true;
    return false;
}

static bool is_null(const char *s)
{
    return one_of(s, (const char *const[]){"", "~", "null", "Null", "NULL", NULL});
}

static bool is_true(const char *s)
{
    return one_of(s, (const char *const[]){"true", "True", "TRUE", NULL});
}

static bool is_false(const char *s)
{
    return one_of(s, (const char *const[]){"false", "False", "FALSE", NULL});
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* [-+]?[0-9]+, 0o…, 0x… */
static bool is_integer(const char *s, int *ret_base, const char **ret_digits)
{
    const char *p = s + (*s == '-' || *s == '+');
    *ret_base = 10;
    *ret_digits = s;
    if (digits(p) && !p[digits(p)])
        return true;
    if (s[0] != '0' || (s[1] != 'o' && s[1] != 'x') || !s[2])
        return false;
    *ret_base = s[1] == 'o' ? 8 : 16;
    *ret_digits = s + 2;
    return !s[2 + strspn(s + 2, s[1] == 'o' ? "01234567" : "0123456789abcdefABCDEF")];
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(const char *s)
{
    s += *s == '-' || *s == '+';
    size_t whole = digits(s);
    s += whole;
    if (*s == '.') {
        size_t fraction = digits(++s);
        if (!whole && !fraction)
            return false;
        s += fraction;
    } else if (!whole) {
        return false;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        if (!digits(s))
            return false;
        s += digits(s);
    }
    return !*s;
}

static json_t *number(struct reader *r, const char *text)
{
    int base;
    const char *first;
    if (is_integer(text, &base, &first)) {
        errno = 0;
        long long v = strtoll(first, NULL, base);
        if (!errno)
            return json_integer(v);
    }
    /* The C locale is never changed, so the decimal point is a point. */
    json_t *real = json_real(strtod(text, NULL));
    return real ? real : fail_at(r, event_line(r), "the number %.40s is too large", text);
}

static json_t *string(struct reader *r, const char *text, size_t len)
{
    if (strlen(text) != len)
        return fail_at(r, event_line(r), "a string holds a NUL byte");
    json_t *s = json_stringn(text, len);
    return s ? s : fail_at(r, event_line(r), "a string is not valid UTF-8");
}

static json_t *plain(struct reader *r, const char *text, size_t len)
{
    int base;
    const char *first;
    if (is_null(text) && strlen(text) == len)
        return json_null();
    if (is_true(text))
        return json_true();
    if (is_false(text))
        return json_false();
    if (is_integer(text, &base, &first) || is_float(text))
        return number(r, text);
    return string(r, text, len);
}

static json_t *read_scalar(struct reader *r)
{
    const char *text = (const char *)r->event.data.scalar.value;
    size_t len = r->event.data.scalar.length;
    const char *tag = (const char *)r->event.data.scalar.tag;
    if (str_eq(tag, "!") || str_eq(tag, "tag:yaml.org,2002:str"))
        return string(r, text, len);
    if (r->event.data.scalar.plain_implicit)
        return plain(r, text, len);
    if (r->event.data.scalar.quoted_implicit)
        return string(r, text, len);
    static const char *const core[] = {"null", "bool", "int", "float", NULL};
    if (strncmp(tag, "tag:yaml.org,2002:", TAG_PREFIX_LEN) == 0 &&
        one_of(tag + TAG_PREFIX_LEN, core))
        return plain(r, text, len);
    return fail_at(r, event_line(r), "the tag %.80s is not supported: leave it out", tag);
}

/* ---- collections ---- */

static json_t *read_sequence(struct reader *r)
{
    json_t *array = json_array();
    while (next_event(r) == 0) {
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            return array;
        json_t *item = read_node(r);
        if (!item)
            break;
        json_array_append_new(array, item);
    }
    json_decref(array);
    return NULL;
}

/* The current event as a key of `object`; NULL and an error when it cannot be one. */
static char *read_key(struct reader *r, const json_t *object)
{
    if (r->event.type != YAML_SCALAR_EVENT) {
        fail_at(r, event_line(r), "a key must be a plain word or a quoted string");
        return NULL;
    }
    const char *text = (const char *)r->event.data.scalar.value;
    if (strlen(text) != r->event.data.scalar.length)
        fail_at(r, event_line(r), "a key holds a NUL byte");
    else if (r->event.data.scalar.plain_implicit && strcmp(text, "<<") == 0)
        fail_at(r, event_line(r), "merge keys (<<) are not supported: write the fields out");
    else if (json_object_get(object, text))
        fail_at(r, event_line(r), "the key \"%.100s\" is there twice: remove one", text);
    else
        return xstrdup(text);
    return NULL;
}

static json_t *read_mapping(struct reader *r)
{
    json_t *object = json_object();
    while (next_event(r) == 0) {
        if (r->event.type == YAML_MAPPING_END_EVENT)
            return object;
        cleanup_free char *key = read_key(r, object);
        if (!key || next_event(r) < 0)
            break;
        size_t line = event_line(r);
        json_t *value = read_node(r);
        if (!value)
            break;
        if (json_object_set_new(object, key, value) < 0) {
            fail_at(r, line, "a key is not valid UTF-8");
            break;
        }
    }
    json_decref(object);
    return NULL;
}

/* ---- anchors ---- */

static void anchors_clear(struct map *anchors)
{
    map_for_each (e, anchors) {
        struct anchor *a = e->value;
        json_decref(a->value);
        free(a);
    }
    map_done(anchors);
}

static void remember(struct reader *r, const char *name, json_t *value, size_t nodes)
{
    struct anchor *a = xmalloc(sizeof *a);
    *a = (struct anchor){json_incref(value), nodes};
    struct anchor *old = map_set(&r->anchors, name, a);
    if (old)
        json_decref(old->value);
    free(old);
}

/* A copy: whoever edits one place of the tree must not change another. */
static json_t *read_alias(struct reader *r)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    const struct anchor *a = map_get(&r->anchors, name);
    if (!a)
        return fail_at(r, event_line(r), "the alias *%.80s has no anchor before it", name);
    if (a->nodes > MAX_NODES - r->nodes)
        return fail_at(r, event_line(r), "more than %d values: too large", MAX_NODES);
    r->nodes += a->nodes;
    return json_deep_copy(a->value);
}

static json_t *read_value(struct reader *r)
{
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(r);
    case YAML_SEQUENCE_START_EVENT:
        return read_sequence(r);
    case YAML_MAPPING_START_EVENT:
        return read_mapping(r);
    default:
        return fail_at(r, event_line(r), "a value is missing");
    }
}

static char *anchor_name(const yaml_event_t *ev)
{
    const yaml_char_t *name = NULL;
    if (ev->type == YAML_SCALAR_EVENT)
        name = ev->data.scalar.anchor;
    else if (ev->type == YAML_SEQUENCE_START_EVENT)
        name = ev->data.sequence_start.anchor;
    else if (ev->type == YAML_MAPPING_START_EVENT)
        name = ev->data.mapping_start.anchor;
    return xstrdup_null((const char *)name);
}

/* The value that begins with the current event; afterwards the current event is its last. */
static json_t *read_node(struct reader *r)
{
    if (r->event.type == YAML_ALIAS_EVENT)
        return read_alias(r);
    size_t line = event_line(r);
    if (r->depth >= MAX_DEPTH)
        return fail_at(r, line, "nested deeper than %d levels", MAX_DEPTH);
    if (r->nodes >= MAX_NODES)
        return fail_at(r, line, "more than %d values: too large", MAX_NODES);
    size_t before = r->nodes++;
    cleanup_free char *anchor = anchor_name(&r->event);
    r->depth++;
    json_t *value = read_value(r);
    r->depth--;
    if (value && anchor)
        remember(r, anchor, value, r->nodes - before);
    return value;
}

/* ---- stream ---- */

/* The document whose DOCUMENT-START is the current event, appended unless empty. */
static int read_document(struct reader *r, json_t *documents)
{
    if (next_event(r) < 0)
        return -1;
    json_t *value = read_node(r);
    anchors_clear(&r->anchors);
    if (!value)
        return -1;
    if (json_is_null(value))
        json_decref(value);
    else
        json_array_append_new(documents, value);
    return next_event(r); /* DOCUMENT-END */
}

static int read_stream(struct reader *r, json_t *documents)
{
    for (;;) {
        if (next_event(r) < 0)
            return -1;
        if (r->event.type == YAML_STREAM_END_EVENT)
            return 0;
        if (r->event.type == YAML_DOCUMENT_START_EVENT && read_document(r, documents) < 0)
            return -1;
    }
}

json_t *yaml_parse(const char *name, const char *text, size_t len, struct err *err)
{
    struct reader r = {.name = name, .anchors = MAP_INIT, .err = err};
    if (!yaml_parser_initialize(&r.parser)) {
        err_set(err, ERR_INTERNAL, "%s: the YAML parser does not start", name);
        return NULL;
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    json_t *documents = json_array();
    if (read_stream(&r, documents) < 0) {
        json_decref(documents);
        documents = NULL;
    }
    if (r.have_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return documents;
}

static int read_file(const char *path, struct buf *out, struct err *err)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_errno(err, "open %s", path);
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0 && out->len <= MAX_FILE;)
        buf_append(out, chunk, n);
    int ret = 0;
    if (ferror(f))
        ret = err_errno(err, "read %s", path);
    else if (out->len > MAX_FILE)
        ret = err_set(err, ERR_INVALID, "%s: larger than %d MiB", path, MAX_FILE >> 20);
    fclose(f);
    return ret;
}

json_t *yaml_load(const char *path, struct err *err)
{
    cleanup_buf struct buf text = BUF_INIT;
    if (read_file(path, &text, err) < 0)
        return NULL;
    return yaml_parse(path, buf_str(&text), text.len, err);
}
