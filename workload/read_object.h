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

/* The text at a path; NULL when there is none, or something else. */
const char *read_text(const json_t *object, const char *path);
/* Keys have dots in them, so these are no paths. NULL when absent or empty. */
const char *read_annotation(const json_t *object, const char *key);
const char *read_label(const json_t *object, const char *key);
/* A whole number as text, of an annotation or a label; absent is no error. */
int read_annotation_count(const json_t *object, const char *key, int64_t least, int64_t *ret,
                          struct err *err);
int read_label_count(const json_t *object, const char *key, int64_t *ret, struct err *err);

/* A key on a path: in quotes only where it has to be. */
const char *read_key(const char *key, char buf[FIELD_QUOTED]);

/*
 * Every value that a path with wildcards leads to: "spec.groups[*].replicas" (each item of a
 * list), "spec.tasks.*.replicas" (each value of an object). `where` is the path of this value;
 * `value` is NULL where the last key is absent. Stops at the first visit that fails.
 */
typedef int read_visit(const json_t *value, const char *where, void *arg, struct err *err);
int read_each(const json_t *object, const char *path, read_visit *visit, void *arg,
              struct err *err);

#endif
