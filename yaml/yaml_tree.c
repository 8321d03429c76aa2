/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/map.h"

enum {
    MAX_DEPTH = 128,       /* of nested collections */
    TEXT_PER_WEIGHT = 256, /* an alias copies this many bytes of text as cheaply as a value */
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current event; valid if have_event */
    bool have_event;
    struct map anchors; /* of the document; name -> item */
    size_t weight, most, depth;
    size_t *line; /* of the current item, or of the error */
    struct err *err;
};

static int next_event(struct reader *r)
{
    if (r->have_event)
        yaml_event_delete(&r->event);
    r->have_event = false;
    if (yaml_parser_parse(&r->parser, &r->event)) {
        r->have_event = true;
        return 0;
    }
    const yaml_parser_t *p = &r->parser;
    *r->line = p->problem_mark.line + 1;
    if (p->error == YAML_READER_ERROR)
        return err_set(r->err, ERR_INVALID, "not valid UTF-8 text (%s at byte %zu)", p->problem,
                       p->problem_offset);
    return err_set(r->err, ERR_INVALID, "%s%s%s", p->context ? p->context : "",
                   p->context ? ": " : "", p->problem ? p->problem : "cannot be read");
}

/* ---- items ---- */

static void item_free(struct yaml_item *item)
{
    if (!item)
        return;
    for (size_t i = 0; i < item->n; i++)
        item_free(item->items[i]);
    free(item->items);
    free(item->text);
    free(item->tag);
    free(item);
}

static struct yaml_item *read_item(struct reader *r);

static void read_scalar(const yaml_event_t *event, struct yaml_item *item)
{
    item->text = xcalloc(event->data.scalar.length + 1, 1);
    item->len = event->data.scalar.length;
    memcpy(item->text, event->data.scalar.value, item->len);
    item->tag = xstrdup_null((const char *)event->data.scalar.tag);
    item->plain = event->data.scalar.plain_implicit && !item->tag;
    item->weight += item->len / TEXT_PER_WEIGHT;
}

static int read_alias(struct reader *r, struct yaml_item *item)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    item->target = map_get(&r->anchors, name);
    if (!item->target)
        return err_set(r->err, ERR_INVALID, "the alias *%.80s has no anchor before it", name);
    item->weight = item->target->weight;
    item->height = item->target->height;
    return 0;
}

/* Reads up to the end of the list or map. */
static int read_items(struct reader *r, struct yaml_item *item, yaml_event_type_t end)
{
    while (next_event(r) == 0) {
        if (r->event.type == end)
            return 0;
        size_t before = r->weight;
        struct yaml_item *child = read_item(r);
        if (!child)
            return -1;
        GROW(item->items, item->cap, item->n + 1);
        item->items[item->n++] = child;
        bool key = item->kind == ITEM_MAP && item->n % 2 && child->kind == ITEM_SCALAR;
        size_t weight =
            child->weight - key; /* a key does not count as a value, but its text does */
        if (key)
            r->weight = before + weight;
        item->weight += weight;
        item->height = child->height >= item->height ? child->height + 1 : item->height;
    }
    return -1;
}

static int read_kind(struct reader *r, struct yaml_item *item)
{
    switch (r->event.type) {
    case YAML_ALIAS_EVENT:
        item->kind = ITEM_ALIAS;
        return read_alias(r, item);
    case YAML_SCALAR_EVENT:
        item->kind = ITEM_SCALAR;
        read_scalar(&r->event, item);
        return 0;
    case YAML_SEQUENCE_START_EVENT:
        item->kind = ITEM_LIST;
        return read_items(r, item, YAML_SEQUENCE_END_EVENT);
    case YAML_MAPPING_START_EVENT:
        item->kind = ITEM_MAP;
        return read_items(r, item, YAML_MAPPING_END_EVENT);
    default:
        return err_set(r->err, ERR_INVALID, "a value is missing");
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

static int read_whole(struct reader *r, struct yaml_item *item)
{
    cleanup_free char *anchor = anchor_name(&r->event);
    *r->line = item->line;
    if (r->depth >= MAX_DEPTH)
        return err_set(r->err, ERR_INVALID, "nested deeper than %d levels", MAX_DEPTH);
    r->depth++;
    int ret = read_kind(r, item);
    r->depth--;
    if (ret < 0)
        return -1;
    *r->line = item->line;
    if (r->depth + item->height >= MAX_DEPTH)
        return err_set(r->err, ERR_INVALID, "nested deeper than %d levels", MAX_DEPTH);
    bool leaf = item->kind == ITEM_ALIAS || item->kind == ITEM_SCALAR;
    r->weight += leaf ? item->weight : 1;
    if (r->weight > r->most)
        return err_set(r->err, ERR_INVALID, "more than %zu values: too large", r->most);
    if (anchor)
        map_set(&r->anchors, anchor, item);
    return 0;
}

/* Reads the item that begins with the current event, and stops at its last event. */
static struct yaml_item *read_item(struct reader *r)
{
    struct yaml_item *item = xcalloc(1, sizeof *item);
    item->line = r->event.start_mark.line + 1;
    item->weight = 1;
    if (read_whole(r, item) == 0)
        return item;
    item_free(item);
    return NULL;
}

/* ---- trees ---- */

/* The current event is DOCUMENT-START. */
static int read_document(struct reader *r, struct yaml_tree *t)
{
    size_t line = r->event.start_mark.line + 1;
    if (next_event(r) < 0)
        return -1;
    struct yaml_item *root = read_item(r);
    map_done(&r->anchors);
    r->anchors = (struct map)MAP_INIT;
    if (!root)
        return -1;
    GROW(t->documents, t->cap, t->n + 1);
    t->documents[t->n++] = (struct yaml_document){root, line};
    return next_event(r); /* DOCUMENT-END */
}

static int read_stream(struct reader *r, struct yaml_tree *t)
{
    for (;;) {
        if (next_event(r) < 0)
            return -1;
        if (r->event.type == YAML_STREAM_END_EVENT)
            return 0;
        if (r->event.type == YAML_DOCUMENT_START_EVENT && read_document(r, t) < 0)
            return -1;
    }
}

struct yaml_tree *yaml_tree_parse(const char *text, size_t len, size_t most, size_t *ret_line,
                                  struct err *err)
{
    struct reader r = {.anchors = MAP_INIT, .most = most, .line = ret_line, .err = err};
    struct yaml_tree *t = xcalloc(1, sizeof *t);
    if (!yaml_parser_initialize(&r.parser))
        abort(); /* out of memory, as in base/mem.h */
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    if (read_stream(&r, t) < 0)
        t = yaml_tree_free(t);
    if (r.have_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return t;
}

static int read_file(const char *path, size_t most_mib, struct buf *out, struct err *err)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_errno(err, "cannot be opened");
    const size_t most = most_mib << 20;
    char chunk[65536];
    errno = 0;
    for (size_t n; out->len <= most && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(out, chunk, n);
    int ret = ferror(f) ? err_errno(err, "cannot be read") : 0;
    fclose(f);
    if (ret == 0 && out->len > most)
        ret = err_set(err, ERR_INVALID, "is larger than %zu MiB", most_mib);
    return ret;
}

struct yaml_tree *yaml_tree_load(const char *path, size_t most_mib, size_t *ret_line,
                                 struct err *err)
{
    cleanup_buf struct buf text = BUF_INIT;
    *ret_line = 0;
    if (read_file(path, most_mib, &text, err) < 0)
        return NULL;
    return yaml_tree_parse(buf_str(&text), text.len, YAML_VALUES, ret_line, err);
}

struct yaml_tree *yaml_tree_free(struct yaml_tree *t)
{
    if (!t)
        return NULL;
    for (size_t i = 0; i < t->n; i++)
        item_free(t->documents[i].root);
    free(t->documents);
    free(t);
    return NULL;
}

const struct yaml_item *yaml_item_real(const struct yaml_item *item)
{
    return item && item->kind == ITEM_ALIAS ? item->target : item;
}

bool yaml_item_says_null(const struct yaml_item *item)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strlen(words[i]) == item->len && strcmp(item->text, words[i]) == 0)
            return true;
    return false;
}
