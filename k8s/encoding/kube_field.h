/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_field.h - reads fields of untrusted JSON objects that have a Kubernetes type: times,
 * quantities, maps.
 *
 * The rules of workload/json_field.h apply. Pure: no I/O, no state, any thread.
 */
#ifndef MUSTER_K8S_ENCODING_KUBE_FIELD_H
#define MUSTER_K8S_ENCODING_KUBE_FIELD_H

#include "base/err.h"
#include "base/usec.h"
#include "gang/facts.h"
#include "workload/json_field.h"

/* Frees *ret and replaces it with a copy of the string. The caller frees the copy. */
int field_copy(const json_t *object, const char *key, char **ret, struct err *err);
/* An RFC 3339 time, with or without a fraction, in microseconds since 1970. */
int field_time(const json_t *object, const char *key, usec_t *ret, struct err *err);
/* Appends a map of resource names to quantities: cpu in millicores, others in whole units. The
 * length of the map is not limited. */
int field_amounts(const json_t *object, const char *key, struct gang_amounts *ret, struct err *err);
/* Appends a map of strings to strings. The length of the map is not limited. */
int field_kvs(const json_t *object, const char *key, struct gang_kvs *ret, struct err *err);

/* The kind of the controller that decides what happens to the object; NULL: none. A CronJob leaves
 * its Jobs alone. */
const char *field_controller(const json_t *object);

/* Whether the object has the field, and it is not null. */
static inline bool field_is_set(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return v && !json_is_null(v);
}
/* The string at a path. The keys of the path are given one by one, with NULL at the end. NULL: it
 * is absent, or something on the path has another type. */
const char *field_peek(const json_t *object, const char *key, ...) __attribute__((sentinel));

/* Parses an RFC 3339 time, see field_time(). */
int time_parse(const char *text, usec_t *ret, struct err *err);
/* Writes a time such as "2026-11-20T21:39:11Z" to buf. `wall` is in microseconds since 1970. */
const char *time_format(usec_t wall, char buf[32]);

#endif
