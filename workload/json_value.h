/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_value.h - typed values of untrusted JSON, for those who read fields by key
 * (k8s/encoding/field.h) and by path (workload/read.h).
 *
 * Each function takes a borrowed value, NULL where there is none, and `where`, the key or the path
 * that an error begins with. No value, or null, is not an error: *ret is left alone, so set the
 * default before. A value of another type is one. What is returned is borrowed from the value.
 * Pure, any thread.
 */
#ifndef MUSTER_WORKLOAD_JSON_VALUE_H
#define MUSTER_WORKLOAD_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* More entries than any sane object has in one list or map. */
#define JSON_MAX_ITEMS 4096

int json_value_string(const json_t *v, const char *where, const char **ret, struct err *err);
int json_value_bool(const json_t *v, const char *where, bool *ret, struct err *err);
/* A whole number, least to most. */
int json_value_int(const json_t *v, const char *where, int64_t least, int64_t most, int64_t *ret,
                   struct err *err);
/* However long they are. */
int json_value_object(const json_t *v, const char *where, const json_t **ret, struct err *err);
int json_value_array(const json_t *v, const char *where, const json_t **ret, struct err *err);

/* Says what v is and what it must be ("a string"). Always -1. */
int json_value_mismatch(const json_t *v, const char *where, const char *want, struct err *err);
int json_value_in_range(const char *where, int64_t n, int64_t least, int64_t most, struct err *err);

static inline void json_value_decref(json_t **json)
{
    json_decref(*json);
}
#define cleanup_json __attribute__((cleanup(json_value_decref)))

#endif
