/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_field.h - typed fields of untrusted JSON objects, by path ("replicas", "spec.replicas").
 *
 * A path is keys joined by dots, and is written in the code: a key that comes from outside, of an
 * annotation or of a map, may have dots in it. For such a key there are the json_value functions,
 * which take the value. NULL is an object without fields. A field that is absent or null is no
 * error: *ret is left alone, so set the default before. A field of another type, here or on the
 * way, is an error that begins with its path, and so is a list or map beyond JSON_MAX_ITEMS. What
 * is returned is borrowed from the object. Nothing is allocated. Pure, any thread.
 */
#ifndef MUSTER_WORKLOAD_JSON_FIELD_H
#define MUSTER_WORKLOAD_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* More entries than any sane object has in one list or map. */
#define JSON_MAX_ITEMS 4096
/* No workload has more pods. */
#define FIELD_MAX_COUNT 1000000

int field_string(const json_t *object, const char *path, const char **ret, struct err *err);
int field_bool(const json_t *object, const char *path, bool *ret, struct err *err);
/* A whole number, least to most. */
int field_int(const json_t *object, const char *path, int64_t least, int64_t most, int64_t *ret,
              struct err *err);
/* A number of things, least to FIELD_MAX_COUNT. */
int field_count(const json_t *object, const char *path, int64_t least, int64_t *ret,
                struct err *err);
int field_object(const json_t *object, const char *path, const json_t **ret, struct err *err);
int field_array(const json_t *object, const char *path, const json_t **ret, struct err *err);
/* The same, however long the list or map is. */
int field_whole_object(const json_t *object, const char *path, const json_t **ret, struct err *err);
int field_whole_array(const json_t *object, const char *path, const json_t **ret, struct err *err);

/* ---- values; `where` is what an error begins with ---- */

int json_value_string(const json_t *v, const char *where, const char **ret, struct err *err);
int json_value_int(const json_t *v, const char *where, int64_t least, int64_t most, int64_t *ret,
                   struct err *err);
/* A quantity of a resource, a string or a number: cpu in millicores, others in whole units. Null
 * and negative ones are errors. They begin with the resource. */
int json_value_amount(const json_t *v, const char *resource, int64_t *ret, struct err *err);
/* Says what v is and what it must be ("a string"). Always -1. */
int json_value_mismatch(const json_t *v, const char *where, const char *want, struct err *err);
int json_value_in_range(const char *where, int64_t n, int64_t least, int64_t most, struct err *err);
/* n entries of a list or map. */
int json_value_bounded(const char *where, size_t n, struct err *err);

/* A value for an error text: in quotes, cut, control characters and what is no UTF-8 as "?". */
#define FIELD_QUOTED 96
const char *field_quote(const char *value, char buf[FIELD_QUOTED]);

static inline void json_value_decref(json_t **json)
{
    json_decref(*json);
}
#define cleanup_json __attribute__((cleanup(json_value_decref)))

#endif
