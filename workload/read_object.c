/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/read_object.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"

/* More than the depth of any field that a rule reads. */
#define MAX_DEPTH 16

const char *read_text(const json_t *object, const char *path)
{
    const char *text = NULL;
    return field_string(object, path, &text, NULL) < 0 ? NULL : text;
}

/* ---- labels and annotations ---- */

static const char *of_map(const json_t *object, const char *map, const char *key)
{
    const json_t *meta = json_object_get(object, "metadata");
    const char *s = json_string_value(json_object_get(json_object_get(meta, map), key));
    return s && *s ? s : NULL;
}

const char *read_annotation(const json_t *object, const char *key)
{
    return of_map(object, "annotations", key);
}

const char *read_label(const json_t *object, const char *key)
{
    return of_map(object, "labels", key);
}

static int text_count(const char *what, const char *key, const char *text, int64_t least,
                      int64_t *ret, struct err *err)
{
    char where[160], q[FIELD_QUOTED], *end;
    snprintf(where, sizeof where, "%s %s", what, key);
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (errno || *end || !strchr("-0123456789", text[0]))
        return err_set(err, ERR_INVALID, "%s is %s, must be a whole number", where,
                       field_quote(text, q));
    if (json_value_in_range(where, n, least, FIELD_MAX_COUNT, err) < 0)
        return -1;
    *ret = n;
    return 0;
}

int read_annotation_count(const json_t *object, const char *key, int64_t least, int64_t *ret,
                          struct err *err)
{
    const char *text = read_annotation(object, key);
    return text ? text_count("annotation", key, text, least, ret, err) : 0;
}

int read_label_count(const json_t *object, const char *key, int64_t *ret, struct err *err)
{
    const char *text = read_label(object, key);
    return text ? text_count("label", key, text, 0, ret, err) : 0;
}

/* ---- paths ---- */

const char *read_key(const char *key, char buf[FIELD_QUOTED])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/";
    size_t len = strlen(key);
    if (len == 0 || len >= FIELD_QUOTED || strspn(key, plain) != len)
        return field_quote(key, buf);
    return strcpy(buf, key);
}

struct walk {
    read_visit *visit;
    void *arg;
    struct err *err;
};

static int walk_on(const struct walk *w, const json_t *v, const char *path, const char *where,
                   int depth);

/* The length of the next key of a path. *each: the key ends with "[*]". *rest: the following keys;
 * NULL: none. */
static size_t next_key(const char *path, bool *each, const char **rest)
{
    size_t n = strcspn(path, ".");
    *rest = path[n] ? path + n + 1 : NULL;
    *each = n >= 3 && strncmp(path + n - 3, "[*]", 3) == 0;
    return *each ? n - 3 : n;
}

static int walk_items(const struct walk *w, const json_t *list, const char *rest, const char *where,
                      int depth)
{
    if (!list)
        return w->visit(NULL, where, w->arg, w->err);
    if (!json_is_array(list))
        return json_value_mismatch(list, where, "a list", w->err);
    if (json_value_bounded(where, json_array_size(list), w->err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        cleanup_free char *here = xasprintf("%s[%zu]", where, i);
        if (walk_on(w, json_array_get(list, i), rest, here, depth + 1) < 0)
            return -1;
    }
    return 0;
}

static int walk_values(const struct walk *w, const json_t *object, const char *rest,
                       const char *where, int depth)
{
    const char *key;
    json_t *v;
    char q[FIELD_QUOTED]; /* a key can be any text */
    if (json_value_bounded(where, json_object_size(object), w->err) < 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)object, key, v)
    {
        cleanup_free char *here = xasprintf("%s.%s", where, read_key(key, q));
        if (walk_on(w, v, rest, here, depth + 1) < 0)
            return -1;
    }
    return 0;
}

static int walk_on(const struct walk *w, const json_t *v, const char *path, const char *where,
                   int depth)
{
    v = v && json_is_null(v) ? NULL : v;
    if (!path)
        return w->visit(v, where, w->arg, w->err);
    if (v && !json_is_object(v))
        return json_value_mismatch(v, *where ? where : "the object", "an object", w->err);
    if (depth > MAX_DEPTH)
        return err_set(w->err, ERR_INVALID,
                       "%.200s is nested too deeply, must be at most %d levels", where, MAX_DEPTH);
    bool each;
    const char *rest;
    size_t len = next_key(path, &each, &rest);
    if (len == 1 && *path == '*')
        return walk_values(w, v, rest, where, depth);
    cleanup_free char *key = xstrndup(path, len);
    cleanup_free char *here = xasprintf("%s%s%s", where, *where ? "." : "", key);
    const json_t *child = json_object_get(v, key);
    child = child && json_is_null(child) ? NULL : child;
    if (each)
        return walk_items(w, child, rest, here, depth);
    return walk_on(w, child, rest, here, depth + 1);
}

int read_each(const json_t *object, const char *path, read_visit *visit, void *arg, struct err *err)
{
    return walk_on(&(struct walk){visit, arg, err}, object, path, "", 0);
}
