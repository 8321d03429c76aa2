/* SPDX-License-Identifier: Apache-2.0 */
/* The file is one mapping. Its values are settings, or sections with settings. */
#include <stdio.h>

#include "config/config_internal.h"
#include "yaml/yaml_tree.h"

#define MAX_FILE_MIB 1
#define MAX_LIST     1024

struct reader {
    struct config_loading *loading;
    size_t seen[CONFIG_MAX_KEYS]; /* line that first sets the key; 0: none yet */
};

static char *at_line(const struct reader *r, size_t line)
{
    return xasprintf("%s:%zu", r->loading->path, line);
}

static void mistake_at(struct reader *r, const struct yaml_item *item, const char *text)
{
    cleanup_free char *where = at_line(r, item->line);
    config_mistake(r->loading, where, "%s", text);
}

static bool is_null(const struct yaml_item *item)
{
    return item->kind == ITEM_SCALAR && item->plain && yaml_item_says_null(item);
}

static void wrong_shape(struct reader *r, const struct config_key *key, const char *where)
{
    const struct config_entry *entry = config_entry(key->type);
    static const char *const wanted[] = {
        [CONFIG_TEXT] = "a text",          [CONFIG_ADDRESS] = "ADDR:PORT",
        [CONFIG_CHOICE] = "one word",      [CONFIG_DURATION] = "a duration, such as 20 or 20s",
        [CONFIG_COUNT] = "a whole number", [CONFIG_BOOL] = "true or false",
    };
    config_mistake(r->loading, where, "%s: the value has the wrong type: write %s", key->name,
                   entry ? entry->list : wanted[key->type]);
}

static void read_list(struct reader *r, const struct config_key *key, const struct yaml_item *list,
                      const char *where)
{
    cleanup_free const char **values = xcalloc(list->n, sizeof *values);
    for (size_t i = 0; i < list->n; i++) {
        const struct yaml_item *item = list->items[i];
        if (i < MAX_LIST && item->kind == ITEM_SCALAR && !is_null(item)) {
            values[i] = item->text;
            continue;
        }
        cleanup_free char *text =
            i < MAX_LIST ? xasprintf("%s: an entry is not a string: write %s", key->name,
                                     config_entry(key->type)->item)
                         : xasprintf("%s: the list has more than %d entries", key->name, MAX_LIST);
        mistake_at(r, item, text);
        return;
    }
    config_set(r->loading, key, where, values, list->n);
}

static void read_value(struct reader *r, const struct config_key *key,
                       const struct yaml_item *value, const char *where)
{
    bool many = config_entry(key->type) != NULL;
    const char *text = value->text;
    if (is_null(value))
        return; /* "key:" alone leaves the default */
    if (value->kind == ITEM_LIST && many)
        read_list(r, key, value, where);
    else if (value->kind != ITEM_SCALAR || many)
        wrong_shape(r, key, where);
    else
        config_set(r->loading, key, where, &text, 1);
}

static void read_section(struct reader *r, const char *section, const struct yaml_item *value);

/* A key and its value. section NULL: at the top level. */
static void read_entry(struct reader *r, const char *section, const struct yaml_item *word,
                       const struct yaml_item *value)
{
    if (word->kind != ITEM_SCALAR) {
        mistake_at(r, word, "the key is not a string: write \"key: value\"");
        return;
    }
    cleanup_free char *where = at_line(r, word->line);
    cleanup_free char *name =
        xasprintf("%s%s%s", section ? section : "", section ? "." : "", word->text);
    if (!section && config_is_section(name)) {
        read_section(r, name, value);
        return;
    }
    const struct config_key *key = config_key_find(r->loading, where, name);
    size_t n;
    if (!key)
        return;
    size_t *seen = &r->seen[key - config_keys(&n)];
    if (*seen) {
        config_mistake(r->loading, where, "%s: is set twice (first on line %zu): keep one",
                       key->name, *seen);
        return;
    }
    *seen = word->line;
    read_value(r, key, value, where);
}

static void read_entries(struct reader *r, const char *section, const struct yaml_item *map)
{
    for (size_t i = 0; i < map->n; i += 2)
        read_entry(r, section, map->items[i], map->items[i + 1]);
}

static void read_section(struct reader *r, const char *section, const struct yaml_item *value)
{
    cleanup_free char *text =
        xasprintf("%s: is a section: write its settings below it, indented", section);
    if (value->kind == ITEM_MAP)
        read_entries(r, section, value);
    else if (!is_null(value))
        mistake_at(r, value, text);
}

static void read_tree(struct reader *r, const struct yaml_tree *t)
{
    const struct yaml_item *root = t->n ? t->documents[0].root : NULL;
    if (!root)
        return;
    if (root->kind == ITEM_MAP)
        read_entries(r, NULL, root);
    else if (!is_null(root))
        mistake_at(r, root, "the file is not a mapping: write lines of the form \"key: value\"");
    if (t->n > 1) {
        cleanup_free char *where = at_line(r, t->documents[1].line);
        config_mistake(r->loading, where, "a second YAML document begins here: keep one document");
    }
}

void config_read_file(struct config_loading *l)
{
    size_t line;
    struct err err;
    struct reader r = {.loading = l};
    cleanup_yaml struct yaml_tree *t = yaml_tree_load(l->path, MAX_FILE_MIB, &line, &err);
    if (t) {
        read_tree(&r, t);
    } else if (line) {
        cleanup_free char *where = at_line(&r, line);
        config_mistake(l, where, "the file is not valid YAML: %s", err.text);
    } else {
        config_mistake(l, l->path, "%s", err.text);
    }
}
