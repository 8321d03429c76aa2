/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_tree.h - YAML files as trees, in which each item has its line number. Uses libyaml.
 *
 * The tree is used for muster's settings, kube-scheduler's configuration, manifests and scenarios.
 * These callers interpret the text. Keys keep their order, and a key can occur twice. An alias is
 * an item that points to its target. The depth and the number of values are bounded. An alias
 * counts with all values of its target, and a long text as several values, so a small file with
 * many aliases cannot cost more than a large file.
 *
 * Life cycle: yaml_tree_parse() or yaml_tree_load(), then yaml_tree_free(). The tree owns its items
 * and does not change. Any thread.
 */
#ifndef MUSTER_YAML_YAML_TREE_H
#define MUSTER_YAML_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct yaml_item {
    enum yaml_item_kind { ITEM_SCALAR, ITEM_LIST, ITEM_MAP, ITEM_ALIAS } kind;
    size_t line; /* from 1 */
    /* scalars */
    char *text; /* a NUL follows it; it may also contain NULs */
    size_t len;
    char *tag;  /* NULL: none */
    bool plain; /* has no quotes and no tag, so it can be a number, null or a boolean */
    /* lists; maps: key, value, key, value, … */
    struct yaml_item **items;
    size_t n, cap;
    const struct yaml_item *target; /* aliases */
    size_t weight, height;          /* the number of values and of levels, with alias targets */
};

struct yaml_tree {
    struct yaml_document {
        struct yaml_item *root;
        size_t line; /* its first line */
    } * documents;
    size_t n, cap;
};

/* The most values of a file. */
#define YAML_VALUES 1000000

/* Reads at most `most` values. NULL on error, with the error in *err and its line in *ret_line. */
struct yaml_tree *yaml_tree_parse(const char *text, size_t len, size_t most, size_t *ret_line,
                                  struct err *err);
/* Like yaml_tree_parse(), for a file of at most most_mib MiB. *ret_line is 0 if the file cannot be
 * read. */
struct yaml_tree *yaml_tree_load(const char *path, size_t most_mib, size_t *ret_line,
                                 struct err *err);
struct yaml_tree *yaml_tree_free(struct yaml_tree *t);

/* The target of an alias, otherwise the item itself; NULL for NULL. */
const struct yaml_item *yaml_item_real(const struct yaml_item *item);
/* Whether a scalar means null: its text is empty, "~", "null", "Null" or "NULL". */
bool yaml_item_says_null(const struct yaml_item *item);

static inline void yaml_tree_freep(struct yaml_tree **t)
{
    yaml_tree_free(*t);
}
#define cleanup_yaml __attribute__((cleanup(yaml_tree_freep)))

#endif
