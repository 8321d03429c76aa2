/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_field.h - reads typed fields of untrusted JSON objects, by path ("replicas",
 * "spec.replicas").
 *
 * A path is a constant of the program: keys joined by dots. A key from outside, such as the key of
 * an annotation, can contain dots; for such a key, get the value yourself and use the json_value
 * functions.
 *
 * NULL counts as an object without fields. If a field is absent or null, the functions return 0 and
 * do not change *ret, so set the default first. It is an error if a value on the path has the wrong
 * type, or if a list or map has more than JSON_MAX_ITEMS entries. The error begins with the path.
 *
 * Returned pointers are borrowed from the object. Nothing is allocated. Pure: no I/O, no state, any
 * thread.
 */
#ifndef MUSTER_WORKLOAD_JSON_FIELD_H
#define MUSTER_WORKLOAD_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The most entries in one list or map. */
#define JSON_MAX_ITEMS 4096
/* The most pods in a workload. */
#define FIELD_MAX_COUNT 1000000

int field_string(const json_t *object, const char *path, const char **ret, struct err *err);
int field_bool(const json_t *object, const char *path, bool *ret, struct err *err);
/* A whole number from `least` to `most`. */
int field_int(const json_t *object, const char *path, int64_t least, int64_t most, int64_t *ret,
              struct err *err);
/* A count from `least` to FIELD_MAX_COUNT. */
int field_count(const json_t *object, const char *path, int64_t least, int64_t *ret,
                struct err *err);
int field_object(const json_t *object, const char *path, const json_t **ret, struct err *err);
int field_array(const json_t *object, const char *path, const json_t **ret, struct err *err);
/* The same, but without a limit on the length. */
int field_whole_object(const json_t *object, const char *path, const json_t **ret, struct err *err);
int field_whole_array(const json_t *object, const char *path, const json_t **ret, struct err *err);

/* ---- values; errors begin with `where` ---- */

int json_value_string(const json_t *v, const char *where, const char **ret, struct err *err);
int json_value_int(const json_t *v, const char *where, int64_t least, int64_t most, int64_t *ret,
                   struct err *err);
/* A quantity of a resource, as a string or a number: cpu in millicores, others in whole units. It
 * must not be null or negative. Errors begin with the resource. */
int json_value_amount(const json_t *v, const char *resource, int64_t *ret, struct err *err);
/* Sets an error with the type of v and the wanted type ("a string"). Returns -1. */
int json_value_mismatch(const json_t *v, const char *where, const char *want, struct err *err);
int json_value_in_range(const char *where, int64_t n, int64_t least, int64_t most, struct err *err);
/* -1: n, the length of a list or map, exceeds JSON_MAX_ITEMS. */
int json_value_bounded(const char *where, size_t n, struct err *err);

/* Quotes a value for an error text. It truncates the value, and replaces control characters and
 * bytes that are not UTF-8 with "?". */
#define FIELD_QUOTED 96
const char *field_quote(const char *value, char buf[FIELD_QUOTED]);

static inline void json_value_decref(json_t **json)
{
    json_decref(*json);
}
#define cleanup_json __attribute__((cleanup(json_value_decref)))

#endif
