/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scenario_load.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/duration.h"
#include "workload/json_field.h"

int load_error(const struct scenario_loader *l, const char *place, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(l->err, ERR_INVALID, "%s: %s%s%s", l->s->name, place, *place ? ": " : "", text);
}

int load_keys(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *const *k = known;
        while (*k && strcmp(*k, key) != 0)
            k++;
        if (*k)
            continue;
        cleanup_buf struct buf list = BUF_INIT;
        for (k = known; *k; k++)
            buf_printf(&list, "%s%s", k == known ? "" : ", ", *k);
        return load_error(l, place, "unknown key \"%.80s\": valid keys are %s", key,
                          buf_str(&list));
    }
    return 0;
}

int load_time(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *key, usec_t *ret)
{
    const json_t *v = json_object_get(object, key);
    char number[64];
    const char *text = json_string_value(v);
    if (!v)
        return 0;
    if (json_is_integer(v))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else
        snprintf(number, sizeof number, "%.6f", json_number_value(v));
    if (!text && !json_is_number(v))
        return load_error(l, place, "%s must be a duration such as 30s", key);
    struct err err;
    if (duration_parse(text ? text : number, ret, &err) < 0)
        return load_error(l, place, "%s: %s", key, err.text);
    return 0;
}

/* json_field.h takes null for a missing key. In a handwritten file, a key without a value is an
 * error. */
static int refuse_null(const json_t *object, const char *key, struct err *err)
{
    bool empty = json_is_null(json_object_get(object, key));
    return empty ? err_set(err, ERR_INVALID, "%s has no value", key) : 0;
}

int load_count(const struct scenario_loader *l, const char *place, const json_t *object,
               const char *key, int64_t min, int64_t max, int64_t *ret)
{
    struct err err;
    if (refuse_null(object, key, &err) < 0 || field_int(object, key, min, max, ret, &err) < 0)
        return load_error(l, place, "%s", err.text);
    return 0;
}

int load_text(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *key, const char **ret)
{
    struct err err;
    if (refuse_null(object, key, &err) < 0 || field_string(object, key, ret, &err) < 0)
        return load_error(l, place, "%s", err.text);
    return 0;
}

int load_list(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *key, const json_t **ret)
{
    struct err err;
    *ret = NULL;
    if (refuse_null(object, key, &err) < 0 || field_whole_array(object, key, ret, &err) < 0)
        return load_error(l, place, "%s", err.text);
    return 0;
}

const char *load_text_at(const json_t *object, const char *key, const char *otherwise)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : otherwise;
}
