/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/json_field.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"
#include "base/utf8.h"

/* ---- error texts ---- */

static const char *type_name(const json_t *v)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "a boolean",
        [JSON_FALSE] = "a boolean",  [JSON_NULL] = "null",
    };
    return names[json_typeof(v)];
}

/* Truncates the path, because it can contain keys of any length. */
int json_value_mismatch(const json_t *v, const char *where, const char *want, struct err *err)
{
    return err_set(err, ERR_INVALID, "%.200s is %s, must be %s", where, type_name(v), want);
}

int json_value_in_range(const char *where, int64_t n, int64_t least, int64_t most, struct err *err)
{
    if (n >= least && n <= most)
        return 0;
    return err_set(err, ERR_INVALID,
                   "%.200s is %" PRId64 ", must be between %" PRId64 " and %" PRId64, where, n,
                   least, most);
}

int json_value_bounded(const char *where, size_t n, struct err *err)
{
    if (n <= JSON_MAX_ITEMS)
        return 0;
    return err_set(err, ERR_INVALID, "%.200s has %zu entries, must be at most %d", where, n,
                   JSON_MAX_ITEMS);
}

const char *field_quote(const char *value, char buf[FIELD_QUOTED])
{
    enum { MOST = FIELD_QUOTED - 8 }; /* leave room for quotes, dots and NUL */
    const char *end = value + strlen(value), *p = value;
    while (p < end) {
        size_t n = utf8_len(p, end);
        n = n ? n : 1;
        if ((size_t)(p - value) + n > MOST)
            break;
        p += n;
    }
    snprintf(buf, FIELD_QUOTED, "\"%.*s%s\"", (int)(p - value), value, p < end ? "..." : "");
    utf8_clean(buf);
    return buf;
}

/* ---- values ---- */

/* null counts as absent. */
static const json_t *present(const json_t *v)
{
    return v && json_is_null(v) ? NULL : v;
}

int json_value_string(const json_t *v, const char *where, const char **ret, struct err *err)
{
    if (!present(v))
        return 0;
    if (!json_is_string(v))
        return json_value_mismatch(v, where, "a string", err);
    *ret = json_string_value(v);
    return 0;
}

int json_value_int(const json_t *v, const char *where, int64_t least, int64_t most, int64_t *ret,
                   struct err *err)
{
    if (!present(v))
        return 0;
    if (!json_is_integer(v))
        return json_value_mismatch(v, where, "a whole number", err);
    if (json_value_in_range(where, json_integer_value(v), least, most, err) < 0)
        return -1;
    *ret = json_integer_value(v);
    return 0;
}

/* The value can be a plain number, as in handwritten manifests. */
int json_value_amount(const json_t *v, const char *resource, int64_t *ret, struct err *err)
{
    char number[40];
    const char *text = number;
    if (json_is_string(v))
        text = json_string_value(v);
    else if (json_is_integer(v))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_real(v))
        snprintf(number, sizeof number, "%.15g", json_real_value(v));
    else
        return json_value_mismatch(v, resource, "a quantity (such as 2, 500m or 16Gi)", err);
    if (quantity_parse(text, str_eq(resource, "cpu") ? 1000 : 1, ret, err) < 0)
        return err_wrap(err, "%s", resource);
    if (*ret < 0)
        return err_set(err, ERR_INVALID, "%.200s is %.40s, must not be negative", resource, text);
    return 0;
}

/* ---- paths ---- */

/* *ret gets the value; NULL: it is absent or null. */
static int find(const json_t *object, const char *path, const json_t **ret, struct err *err)
{
    const json_t *v = present(object);
    for (const char *key = path;; key++) {
        if (v && !json_is_object(v)) {
            cleanup_free char *where =
                key == path ? xstrdup("the object") : xstrndup(path, (size_t)(key - path - 1));
            return json_value_mismatch(v, where, "an object", err);
        }
        size_t n = strcspn(key, ".");
        v = present(json_object_getn(v, key, n));
        key += n;
        if (!*key)
            break;
    }
    *ret = v;
    return 0;
}

int field_string(const json_t *object, const char *path, const char **ret, struct err *err)
{
    const json_t *v;
    return find(object, path, &v, err) < 0 ? -1 : json_value_string(v, path, ret, err);
}

int field_bool(const json_t *object, const char *path, bool *ret, struct err *err)
{
    const json_t *v;
    if (find(object, path, &v, err) < 0)
        return -1;
    if (v && !json_is_boolean(v))
        return json_value_mismatch(v, path, "true or false", err);
    *ret = v ? json_is_true(v) : *ret;
    return 0;
}

int field_int(const json_t *object, const char *path, int64_t least, int64_t most, int64_t *ret,
              struct err *err)
{
    const json_t *v;
    return find(object, path, &v, err) < 0 ? -1 : json_value_int(v, path, least, most, ret, err);
}

int field_count(const json_t *object, const char *path, int64_t least, int64_t *ret,
                struct err *err)
{
    return field_int(object, path, least, FIELD_MAX_COUNT, ret, err);
}

int field_whole_object(const json_t *object, const char *path, const json_t **ret, struct err *err)
{
    const json_t *v;
    if (find(object, path, &v, err) < 0)
        return -1;
    if (v && !json_is_object(v))
        return json_value_mismatch(v, path, "an object", err);
    *ret = v ? v : *ret;
    return 0;
}

int field_whole_array(const json_t *object, const char *path, const json_t **ret, struct err *err)
{
    const json_t *v;
    if (find(object, path, &v, err) < 0)
        return -1;
    if (v && !json_is_array(v))
        return json_value_mismatch(v, path, "a list", err);
    *ret = v ? v : *ret;
    return 0;
}

int field_object(const json_t *object, const char *path, const json_t **ret, struct err *err)
{
    const json_t *v = NULL;
    if (field_whole_object(object, path, &v, err) < 0 ||
        json_value_bounded(path, json_object_size(v), err) < 0)
        return -1;
    *ret = v ? v : *ret;
    return 0;
}

int field_array(const json_t *object, const char *path, const json_t **ret, struct err *err)
{
    const json_t *v = NULL;
    if (field_whole_array(object, path, &v, err) < 0 ||
        json_value_bounded(path, json_array_size(v), err) < 0)
        return -1;
    *ret = v ? v : *ret;
    return 0;
}
