/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_field.h - fields of untrusted JSON objects that have a Kubernetes type: times, quantities,
 * maps.
 *
 * The rules of workload/json_field.h apply. Pure, any thread.
 */
#ifndef MUSTER_K8S_ENCODING_KUBE_FIELD_H
#define MUSTER_K8S_ENCODING_KUBE_FIELD_H

#include "base/err.h"
#include "base/usec.h"
#include "gang/facts.h"
#include "workload/json_field.h"

/* A copy of the string into *ret (which the caller frees; the old value is freed first). */
int field_copy(const json_t *object, const char *key, char **ret, struct err *err);
/* RFC 3339 with or without a fraction, as microseconds since 1970. */
int field_time(const json_t *object, const char *key, usec_t *ret, struct err *err);
/* A map of resource names to quantities, appended: cpu in millicores, others in whole units. This
 * and a map of strings may be as long as they like. */
int field_amounts(const json_t *object, const char *key, struct gang_amounts *ret, struct err *err);
/* A map of strings to strings, appended. */
int field_kvs(const json_t *object, const char *key, struct gang_kvs *ret, struct err *err);

/* The string at path "a" or "a.b" keys given one by one and closed by NULL; NULL when anything on
 * the way is absent or of another type. */
const char *field_peek(const json_t *object, const char *key, ...) __attribute__((sentinel));

/* Also used for times that are not fields. */
int time_parse(const char *text, usec_t *ret, struct err *err);
/* "2026-11-20T21:39:11Z" into buf. */
const char *time_format(usec_t wall, char buf[32]);

#endif
