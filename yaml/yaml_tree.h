/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_tree.h - YAML files as trees of which each item knows its line, through libyaml.
 *
 * For muster's own settings, kube-scheduler's configuration, manifests and scenarios: what the text
 * means is theirs to say. Keys stay in order, and may be there twice. An alias is an item of its
 * own and refers to what it stands for. Depth and number of items are bounded, aliases counted as
 * what they stand for, so a small file costs whoever walks through it no more than a large one.
 *
 * Life cycle: yaml_tree_parse() or yaml_tree_load(), then const, yaml_tree_free(). The tree owns
 * all in it. Any thread.
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
    char *text; /* NUL behind it, and maybe in it */
    size_t len;
    char *tag;  /* NULL: none */
    bool plain; /* without quotes and tag: may be a number, null, … */
    /* lists; maps: key, value, key, value, … */
    struct yaml_item **items;
    size_t n, cap;
    const struct yaml_item *target; /* aliases */
    size_t weight, height;          /* values in it, and levels, aliases followed */
};

struct yaml_tree {
    struct yaml_document {
        struct yaml_item *root;
        size_t line; /* where it begins */
    } * documents;
    size_t n, cap;
};

/* NULL on error: what is wrong in *err, and where in *ret_line. */
struct yaml_tree *yaml_tree_parse(const char *text, size_t len, size_t *ret_line, struct err *err);
/* The same of a file of at most so many MiB. *ret_line 0: it cannot be read at all. */
struct yaml_tree *yaml_tree_load(const char *path, size_t most_mib, size_t *ret_line,
                                 struct err *err);
struct yaml_tree *yaml_tree_free(struct yaml_tree *t);

/* What an alias stands for, any other item itself; NULL: NULL. */
const struct yaml_item *yaml_item_real(const struct yaml_item *item);
/* Whether a scalar's text is empty, "~", "null", "Null" or "NULL". */
bool yaml_item_says_null(const struct yaml_item *item);

static inline void yaml_tree_freep(struct yaml_tree **t)
{
    yaml_tree_free(*t);
}
#define cleanup_yaml __attribute__((cleanup(yaml_tree_freep)))

#endif
