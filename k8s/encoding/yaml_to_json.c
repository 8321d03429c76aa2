/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/encoding/yaml_to_json.h"

#include <errno.h>

#include "workload/json_field.h"
#include "yaml/yaml_tree.h"

enum {
    MAX_FILE_MIB = 16,
    TAG_PREFIX_LEN = 18, /* "tag:yaml.org,2002:" */
};

struct reader {
    size_t line; /* of the current item; after an error, of the error */
    struct err *err;
};

static json_t *to_json(struct reader *r, const struct yaml_item *item);

/* ---- plain scalars, core schema ---- */

static bool one_of(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(s, *words) == 0)
            return true;
    return false;
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

static json_t *number(struct reader *r, const struct yaml_item *item)
{
    int base;
    const char *first;
    if (is_integer(item->text, &base, &first)) {
        errno = 0;
        long long v = strtoll(first, NULL, base);
        if (!errno)
            return json_integer(v);
    }
    /* muster never calls setlocale(), so strtod() expects a point. */
    json_t *real = json_real(strtod(item->text, NULL));
    if (!real)
        err_set(r->err, ERR_INVALID, "the number %.40s is too large", item->text);
    return real;
}

static json_t *string(struct reader *r, const struct yaml_item *item)
{
    bool whole = strlen(item->text) == item->len;
    json_t *s = whole ? json_stringn(item->text, item->len) : NULL;
    if (!s)
        err_set(r->err, ERR_INVALID, "a string %s",
                whole ? "is not valid UTF-8" : "contains a NUL byte");
    return s;
}

static json_t *plain(struct reader *r, const struct yaml_item *item)
{
    int base;
    const char *first, *text = item->text;
    if (yaml_item_says_null(item))
        return json_null();
    if (is_true(text))
        return json_true();
    if (is_false(text))
        return json_false();
    if (is_integer(text, &base, &first) || is_float(text))
        return number(r, item);
    return string(r, item);
}

static json_t *scalar(struct reader *r, const struct yaml_item *item)
{
    static const char *const core[] = {"null", "bool", "int", "float", NULL};
    const char *tag = item->tag;
    if (item->plain)
        return plain(r, item);
    if (!tag || str_eq(tag, "!") || str_eq(tag, "tag:yaml.org,2002:str"))
        return string(r, item);
    if (strncmp(tag, "tag:yaml.org,2002:", TAG_PREFIX_LEN) == 0 &&
        one_of(tag + TAG_PREFIX_LEN, core))
        return plain(r, item);
    err_set(r->err, ERR_INVALID, "the tag %.80s is not supported: remove it", tag);
    return NULL;
}

/* ---- collections ---- */

static json_t *list(struct reader *r, const struct yaml_item *item)
{
    cleanup_json json_t *array = json_array();
    for (size_t i = 0; i < item->n; i++) {
        json_t *value = to_json(r, item->items[i]);
        if (!value)
            return NULL;
        json_array_append_new(array, value);
    }
    return STEAL(array);
}

static int check_key(struct reader *r, const struct yaml_item *key, const json_t *object)
{
    const char *text = key->text;
    r->line = key->line;
    if (key->kind != ITEM_SCALAR)
        return err_set(r->err, ERR_INVALID, "a key must be a plain word or a quoted string");
    if (strlen(text) != key->len)
        return err_set(r->err, ERR_INVALID, "a key contains a NUL byte");
    if (key->plain && strcmp(text, "<<") == 0)
        return err_set(r->err, ERR_INVALID,
                       "merge keys (<<) are not supported: write the fields out");
    if (json_object_get(object, text))
        return err_set(r->err, ERR_INVALID, "the key \"%.100s\" appears twice: remove one", text);
    return 0;
}

static json_t *map(struct reader *r, const struct yaml_item *item)
{
    cleanup_json json_t *object = json_object();
    for (size_t i = 0; i < item->n; i += 2) {
        const struct yaml_item *key = item->items[i];
        json_t *value = check_key(r, key, object) < 0 ? NULL : to_json(r, item->items[i + 1]);
        if (!value)
            return NULL;
        if (json_object_set_new(object, key->text, value) < 0) {
            err_set(r->err, ERR_INVALID, "a key is not valid UTF-8");
            return NULL;
        }
    }
    return STEAL(object);
}

/* Converts an alias into a copy, so that a later change of one place does not change another. */
static json_t *to_json(struct reader *r, const struct yaml_item *item)
{
    static json_t *(*const kinds[])(struct reader * r, const struct yaml_item *item) = {
        [ITEM_SCALAR] = scalar, [ITEM_LIST] = list, [ITEM_MAP] = map};
    r->line = item->line;
    item = yaml_item_real(item);
    return kinds[item->kind](r, item);
}

/* ---- streams ---- */

static json_t *documents_of(struct reader *r, const struct yaml_tree *t)
{
    cleanup_json json_t *documents = json_array();
    for (size_t i = 0; i < t->n; i++) {
        json_t *value = to_json(r, t->documents[i].root);
        if (!value)
            return NULL;
        if (!json_is_null(value))
            json_array_append(documents, value);
        json_decref(value);
    }
    return STEAL(documents);
}

/* Converts and frees the tree. After an error, returns NULL and adds the place to the error. */
static json_t *finish(const char *name, struct yaml_tree *t, struct reader *r)
{
    json_t *documents = t ? documents_of(r, t) : NULL;
    if (!documents && r->line)
        err_wrap(r->err, "%s:%zu", name, r->line);
    else if (!documents)
        err_wrap(r->err, "%s", name);
    yaml_tree_free(t);
    return documents;
}

json_t *yaml_parse_most(const char *name, const char *text, size_t len, size_t most,
                        struct err *err)
{
    struct reader r = {.err = err};
    return finish(name, yaml_tree_parse(text, len, most, &r.line, err), &r);
}

json_t *yaml_parse(const char *name, const char *text, size_t len, struct err *err)
{
    return yaml_parse_most(name, text, len, YAML_VALUES, err);
}

json_t *yaml_load(const char *path, struct err *err)
{
    struct reader r = {.err = err};
    return finish(path, yaml_tree_load(path, MAX_FILE_MIB, &r.line, err), &r);
}
