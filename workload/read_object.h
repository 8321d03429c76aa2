/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_object.h - reads labels, annotations, and all values at a path with wildcards from
 * untrusted objects. json_field.h reads single fields.
 *
 * Returned pointers are borrowed from the object. Pure, any thread.
 */
#ifndef MUSTER_WORKLOAD_READ_OBJECT_H
#define MUSTER_WORKLOAD_READ_OBJECT_H

#include "workload/json_field.h"

/* The string at a path; NULL: it is absent or has another type. */
const char *read_text(const json_t *object, const char *path);
/* NULL if absent or empty. Keys can contain dots, so they are not paths. */
const char *read_annotation(const json_t *object, const char *key);
const char *read_label(const json_t *object, const char *key);
/* A whole number in an annotation or label. If it is absent, they return 0 and keep *ret. */
int read_annotation_count(const json_t *object, const char *key, int64_t least, int64_t *ret,
                          struct err *err);
int read_label_count(const json_t *object, const char *key, int64_t *ret, struct err *err);

/* A key for a path in an error text. Quotes it only if necessary. */
const char *read_key(const char *key, char buf[FIELD_QUOTED]);

/*
 * Visits every value at a path with wildcards: "spec.groups[*].replicas" (each item of a list),
 * "spec.tasks.*.replicas" (each value of an object). `where` is the path of the value; `value` is
 * NULL if the last key is absent. Stops at the first visit that fails.
 */
typedef int read_visit(const json_t *value, const char *where, void *arg, struct err *err);
int read_each(const json_t *object, const char *path, read_visit *visit, void *arg,
              struct err *err);

#endif
