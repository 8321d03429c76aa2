/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is a mapping, flat but for sections, so it is read from libyaml's events: they carry the
 * line of every key, which trees of other YAML readers do not.
 */
#include <errno.h>
#include <stdio.h>
#include <yaml.h>

#include "config/config_internal.h"

#define MAX_FILE_BYTES (1 << 20)
#define MAX_LIST       1024

struct reader {
    struct config_loading *loading;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; owned */
    bool have_event;
    int seen[CONFIG_MAX_KEYS]; /* line where a key was first set; 0: not yet */
};

static char *at_line(const struct reader *r, size_t line)
{
    return xasprintf("%s:%zu", r->loading->path, line + 1);
}

static size_t event_line(const struct reader *r)
{
    return r->event.start_mark.line;
}

static const char *event_text(const struct reader *r)
{
    return (const char *)r->event.data.scalar.value;
}

static void mistake_here(struct reader *r, const char *text)
{
    cleanup_free char *where = at_line(r, event_line(r));
    config_mistake(r->loading, where, "%s", text);
}

static void drop_event(struct reader *r)
{
    if (r->have_event)
        yaml_event_delete(&r->event);
    r->have_event = false;
}

/* Moves to the next event; false at the end of what can be read. */
static bool next_event(struct reader *r)
{
    drop_event(r);
    if (yaml_parser_parse(&r->parser, &r->event)) {
        r->have_event = true;
        return true;
    }
    cleanup_free char *where = at_line(r, r->parser.problem_mark.line);
    config_mistake(r->loading, where, "is no YAML: %s%s%s",
                   r->parser.problem ? r->parser.problem : "cannot be read",
                   r->parser.context ? " " : "", r->parser.context ? r->parser.context : "");
    return false;
}

/* Skips the rest of the mapping or sequence whose start is the current event. */
static bool skip_nested(struct reader *r)
{
    for (int depth = 1; depth > 0;) {
        if (!next_event(r))
            return false;
        if (r->event.type == YAML_MAPPING_START_EVENT || r->event.type == YAML_SEQUENCE_START_EVENT)
            depth++;
        if (r->event.type == YAML_MAPPING_END_EVENT || r->event.type == YAML_SEQUENCE_END_EVENT)
            depth--;
    }
    return true;
}

static bool is_null(const struct reader *r)
{
    const char *s = event_text(r);
    return r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*s || str_eq(s, "~") || str_eq(s, "null") || str_eq(s, "Null") || str_eq(s, "NULL"));
}

#define LIST "a list of which each entry is "

static void wrong_shape(struct reader *r, const struct config_key *key, const char *where)
{
    const struct config_entry *entry = config_entry(key->type);
    static const char *const wanted[] = {
        [CONFIG_TEXT] = "a text",          [CONFIG_ADDRESS] = "ADDR:PORT",
        [CONFIG_CHOICE] = "one word",      [CONFIG_DURATION] = "a duration, such as 20 or 20s",
        [CONFIG_COUNT] = "a whole number", [CONFIG_SCHEDULERS] = LIST,
        [CONFIG_NAMESPACES] = LIST,        [CONFIG_WORKLOADS] = LIST,
        [CONFIG_BOOL] = "true or false",
    };
    config_mistake(r->loading, where, "%s: has the wrong shape: write %s%s", key->name,
                   wanted[key->type], entry ? entry->item : "");
}

static void mistake_in_list(struct reader *r, const struct config_key *key, const char *what,
                            const char *item)
{
    cleanup_free char *text = xasprintf("%s: %s%s", key->name, what, item);
    mistake_here(r, text);
}

/* The current event starts a sequence. */
static bool read_list(struct reader *r, const struct config_key *key, const char *where)
{
    cleanup_free char **values = NULL;
    size_t n = 0, cap = 0;
    bool good = true, alive;
    while ((alive = next_event(r)) && r->event.type != YAML_SEQUENCE_END_EVENT) {
        if (r->event.type == YAML_SCALAR_EVENT && !is_null(r) && n < MAX_LIST) {
            GROW(values, cap, n + 1);
            values[n++] = xstrdup(event_text(r));
            continue;
        }
        if (good && n < MAX_LIST)
            mistake_in_list(r, key, "an entry is no text: write ", config_entry(key->type)->item);
        else if (good)
            mistake_in_list(r, key, "more than 1024 entries", "");
        good = false;
        if ((r->event.type == YAML_MAPPING_START_EVENT ||
             r->event.type == YAML_SEQUENCE_START_EVENT) &&
            !(alive = skip_nested(r)))
            break;
    }
    if (alive && good)
        config_set(r->loading, key, where, (const char *const *)values, n);
    for (size_t i = 0; i < n; i++)
        free(values[i]);
    return alive;
}

/* key NULL: an unknown one, its value is passed over. */
static bool read_value(struct reader *r, const struct config_key *key, const char *where)
{
    if (!next_event(r))
        return false;
    bool nested =
        r->event.type == YAML_MAPPING_START_EVENT || r->event.type == YAML_SEQUENCE_START_EVENT;
    if (!key)
        return nested ? skip_nested(r) : true;
    if (r->event.type == YAML_SEQUENCE_START_EVENT && config_entry(key->type))
        return read_list(r, key, where);
    if (r->event.type != YAML_SCALAR_EVENT) {
        wrong_shape(r, key, where);
        return nested ? skip_nested(r) : true;
    }
    if (is_null(r))
        return true; /* "key:" alone leaves the default */
    if (config_entry(key->type)) {
        wrong_shape(r, key, where);
        return true;
    }
    const char *text = event_text(r);
    config_set(r->loading, key, where, &text, 1);
    return true;
}

static bool read_section(struct reader *r, const char *section);

/* The current event is a key, of a section or (NULL) of none. */
static bool read_entry(struct reader *r, const char *section)
{
    size_t line = event_line(r);
    cleanup_free char *where = at_line(r, line);
    if (r->event.type != YAML_SCALAR_EVENT) {
        mistake_here(r, "a key must be a plain word");
        if (r->event.type != YAML_ALIAS_EVENT && !skip_nested(r))
            return false;
        return read_value(r, NULL, where);
    }
    cleanup_free char *name =
        xasprintf("%s%s%s", section ? section : "", section ? "." : "", event_text(r));
    if (!section && config_is_section(name))
        return read_section(r, name);
    const struct config_key *key = config_key_find(r->loading, where, name);
    size_t n;
    int *seen = key ? &r->seen[key - config_keys(&n)] : NULL;
    if (seen && *seen) {
        config_mistake(r->loading, where, "%s: is set twice, first in line %d: keep one", key->name,
                       *seen);
        key = NULL;
    } else if (seen) {
        *seen = (int)line + 1;
    }
    return read_value(r, key, where);
}

static bool read_entries(struct reader *r, const char *section)
{
    while (next_event(r)) {
        if (r->event.type == YAML_MAPPING_END_EVENT)
            return true;
        if (!read_entry(r, section))
            return false;
    }
    return false;
}

/* The current event is the name of a section. */
static bool read_section(struct reader *r, const char *section)
{
    if (!next_event(r))
        return false;
    if (r->event.type == YAML_MAPPING_START_EVENT)
        return read_entries(r, section);
    if (r->event.type == YAML_SCALAR_EVENT && is_null(r))
        return true;
    cleanup_free char *text =
        xasprintf("%s: has the wrong shape: write its settings below it, indented", section);
    mistake_here(r, text);
    return r->event.type == YAML_SEQUENCE_START_EVENT ? skip_nested(r) : true;
}

/* The current event is the root of the document. */
static bool read_root(struct reader *r)
{
    if (r->event.type == YAML_SCALAR_EVENT && is_null(r))
        return true; /* an empty document */
    if (r->event.type != YAML_MAPPING_START_EVENT) {
        mistake_here(r, "is no mapping: write lines of the form \"key: value\"");
        return false;
    }
    return read_entries(r, NULL);
}

static void read_stream(struct reader *r)
{
    bool have_document = false;
    while (next_event(r) && r->event.type != YAML_STREAM_END_EVENT) {
        if (r->event.type != YAML_DOCUMENT_START_EVENT)
            continue;
        if (have_document) {
            mistake_here(r, "a second document begins here: a config file has one");
            return;
        }
        have_document = true;
        if (!next_event(r) || !read_root(r))
            return;
    }
}

static int read_bytes(const char *path, struct buf *ret, struct err *err)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_errno(err, "cannot be opened");
    char chunk[4096];
    size_t n;
    errno = 0;
    while (ret->len <= MAX_FILE_BYTES && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_append(ret, chunk, n);
    int r = ferror(f) ? err_errno(err, "cannot be read") : 0;
    fclose(f);
    if (!r && ret->len > MAX_FILE_BYTES)
        r = err_set(err, ERR_INVALID, "is larger than 1 MiB: this is no muster config");
    return r;
}

void config_read_file(struct config_loading *l)
{
    cleanup_buf struct buf text = BUF_INIT;
    struct err err;
    if (read_bytes(l->path, &text, &err) < 0) {
        config_mistake(l, l->path, "%s", err.text);
        return;
    }
    struct reader r = {.loading = l};
    if (!yaml_parser_initialize(&r.parser))
        abort(); /* out of memory, as in base/mem.h */
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)buf_str(&text), text.len);
    read_stream(&r);
    drop_event(&r);
    yaml_parser_delete(&r.parser);
}
