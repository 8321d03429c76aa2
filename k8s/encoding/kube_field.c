/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/encoding/kube_field.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

int field_copy(const json_t *object, const char *key, char **ret, struct err *err)
{
    const char *s = NULL;
    if (field_string(object, key, &s, err) < 0)
        return -1;
    if (s) {
        free(*ret);
        *ret = xstrdup(s);
    }
    return 0;
}

int field_time(const json_t *object, const char *key, usec_t *ret, struct err *err)
{
    const char *s = NULL;
    if (field_string(object, key, &s, err) < 0)
        return -1;
    if (s && time_parse(s, ret, err) < 0)
        return err_wrap(err, "%s", key);
    return 0;
}

int field_amounts(const json_t *object, const char *key, struct gang_amounts *ret, struct err *err)
{
    const json_t *map = NULL;
    if (field_whole_object(object, key, &map, err) < 0)
        return -1;
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)map, name, v)
    {
        int64_t n;
        if (json_value_amount(v, name, &n, err) < 0)
            return err_wrap(err, "%s", key);
        gang_amounts_add(ret, name, n);
    }
    return 0;
}

int field_kvs(const json_t *object, const char *key, struct gang_kvs *ret, struct err *err)
{
    const json_t *map = NULL;
    if (field_whole_object(object, key, &map, err) < 0)
        return -1;
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)map, name, v)
    {
        if (!json_is_string(v)) {
            json_value_mismatch(v, name, "a string", err);
            return err_wrap(err, "%s", key);
        }
        gang_kvs_add(ret, name, json_string_value(v));
    }
    return 0;
}

const char *field_peek(const json_t *object, const char *key, ...)
{
    va_list ap;
    va_start(ap, key);
    const json_t *v = object;
    for (; key; key = va_arg(ap, const char *))
        v = json_object_get(v, key);
    va_end(ap);
    return json_string_value(v);
}

/* Whether text begins with `shape`, in which "0" stands for any digit. */
static bool has_shape(const char *text, const char *shape)
{
    for (; *shape; shape++, text++)
        if (*shape == '0' ? *text < '0' || *text > '9' : *text != *shape)
            return false;
    return true;
}

/* Parses what follows the seconds: an optional fraction, then Z or an offset. */
static bool scan_zone(const char *p, usec_t *fraction, int *offset_minutes)
{
    if (*p == '.') {
        usec_t unit = USEC_PER_SEC / 10;
        const char *first = ++p;
        for (; *p >= '0' && *p <= '9'; p++, unit /= 10)
            *fraction += (*p - '0') * unit;
        if (p == first)
            return false;
    }
    if (strcmp(p, "Z") == 0 || strcmp(p, "z") == 0)
        return true;
    int hours, minutes;
    if ((!has_shape(p, "+00:00") && !has_shape(p, "-00:00")) || p[6] ||
        sscanf(p + 1, "%2d:%2d", &hours, &minutes) != 2 || hours > 23 || minutes > 59)
        return false;
    *offset_minutes = (*p == '-' ? -1 : 1) * (hours * 60 + minutes);
    return true;
}

int time_parse(const char *text, usec_t *ret, struct err *err)
{
    struct tm tm = {0};
    int offset = 0;
    usec_t fraction = 0;
    if (!has_shape(text, "0000-00-00T00:00:00") ||
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6 ||
        tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60 || !scan_zone(text + 19, &fraction, &offset))
        return err_set(err, ERR_INVALID, "\"%.40s\" is not a time (such as 2026-11-20T21:39:11Z)",
                       text);
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ret = ((usec_t)timegm(&tm) - offset * 60) * USEC_PER_SEC + fraction;
    return 0;
}

const char *time_format(usec_t wall, char buf[32])
{
    time_t t = (time_t)(wall / USEC_PER_SEC);
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return buf;
}

const char *field_controller(const json_t *object)
{
    size_t i;
    const json_t *ref;
    json_array_foreach(json_object_get(json_object_get(object, "metadata"), "ownerReferences"), i,
                       ref)
    {
        const char *kind = field_peek(ref, "kind", NULL);
        if (json_is_true(json_object_get(ref, "controller")) && !str_eq(kind, "CronJob"))
            return kind;
    }
    return NULL;
}
