/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - fields of untrusted objects by their path, "spec.runPolicy.suspend".
 *
 * A path is keys joined by dots. A field that is absent or null is no error: *ret is left alone,
 * so set the default before. A field of another type, here or on the way, is an error that begins
 * with its path. Returned pointers are borrowed from the object. Pure, any thread.
 */
#ifndef MUSTER_WORKLOAD_READ_H
#define MUSTER_WORKLOAD_READ_H

#include "workload/json_value.h"

/* No workload has more pods. */
#define READ_MAX_COUNT 1000000

int read_string(const json_t *object, const char *path, const char **ret, struct err *err);
int read_bool(const json_t *object, const char *path, bool *ret, struct err *err);
int read_object(const json_t *object, const char *path, const json_t **ret, struct err *err);
int read_array(const json_t *object, const char *path, const json_t **ret, struct err *err);
/* A number of things, least to READ_MAX_COUNT. */
int read_count(const json_t *object, const char *path, int64_t least, int64_t *ret,
               struct err *err);

/* The text at a path; NULL when there is none, or something else. */
const char *read_text(const json_t *object, const char *path);
/* Keys have dots in them, so these are no paths. NULL when absent or empty. */
const char *read_annotation(const json_t *object, const char *key);
const char *read_label(const json_t *object, const char *key);
/* A whole number as text, of an annotation or a label; absent is no error. */
int read_annotation_count(const json_t *object, const char *key, int64_t least, int64_t *ret,
                          struct err *err);
int read_label_count(const json_t *object, const char *key, int64_t *ret, struct err *err);

/* A value for an error text: in quotes, cut, control characters and what is no UTF-8 as "?". */
#define READ_QUOTED 96
const char *read_quote(const char *value, char buf[READ_QUOTED]);
/* A key on a path: in quotes only where it has to be. */
const char *read_key(const char *key, char buf[READ_QUOTED]);

/*
 * Every value that a path with wildcards leads to: "spec.groups[*].replicas" (each item of a
 * list), "spec.tasks.*.replicas" (each value of an object). `where` is the path of this value;
 * `value` is NULL where the last key is absent. Stops at the first visit that fails.
 */
typedef int read_visit(const json_t *value, const char *where, void *arg, struct err *err);
int read_each(const json_t *object, const char *path, read_visit *visit, void *arg,
              struct err *err);

#endif
