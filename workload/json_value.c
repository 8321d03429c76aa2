/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/json_value.h"

#include <inttypes.h>

static const char *type_name(const json_t *v)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "a boolean",
        [JSON_FALSE] = "a boolean",  [JSON_NULL] = "null",
    };
    return names[json_typeof(v)];
}

int json_value_mismatch(const json_t *v, const char *where, const char *want, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s is %s, must be %s", where, type_name(v), want);
}

int json_value_in_range(const char *where, int64_t n, int64_t least, int64_t most, struct err *err)
{
    if (n >= least && n <= most)
        return 0;
    return err_set(err, ERR_INVALID, "%s is %" PRId64 ", must be between %" PRId64 " and %" PRId64,
                   where, n, least, most);
}

int json_value_string(const json_t *v, const char *where, const char **ret, struct err *err)
{
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_string(v))
        return json_value_mismatch(v, where, "a string", err);
    *ret = json_string_value(v);
    return 0;
}

int json_value_bool(const json_t *v, const char *where, bool *ret, struct err *err)
{
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_boolean(v))
        return json_value_mismatch(v, where, "true or false", err);
    *ret = json_is_true(v);
    return 0;
}

int json_value_int(const json_t *v, const char *where, int64_t least, int64_t most, int64_t *ret,
                   struct err *err)
{
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_integer(v))
        return json_value_mismatch(v, where, "a whole number", err);
    if (json_value_in_range(where, json_integer_value(v), least, most, err) < 0)
        return -1;
    *ret = json_integer_value(v);
    return 0;
}

int json_value_object(const json_t *v, const char *where, const json_t **ret, struct err *err)
{
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_object(v))
        return json_value_mismatch(v, where, "an object", err);
    *ret = v;
    return 0;
}

int json_value_array(const json_t *v, const char *where, const json_t **ret, struct err *err)
{
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_array(v))
        return json_value_mismatch(v, where, "a list", err);
    *ret = v;
    return 0;
}
