/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_load.h - how the files scenario*.c read a scenario: values with their place in the file,
 * and its parts. For these files only.
 *
 * `place` is the place in the file, such as "timetable[2].create[0]". Errors are reported as -1,
 * with a text that names the file and the place. A missing key leaves *ret as it is, except in
 * load_list(), which sets *ret to NULL. Stateless; any thread.
 */
#ifndef MUSTER_SIMULATOR_SCENARIO_LOAD_H
#define MUSTER_SIMULATOR_SCENARIO_LOAD_H

#include "simulator/scenario.h"

struct scenario_loader {
    struct scenario *s;
    const char *dir;
    struct err *err;
    int files;
};

/* Sets the error and returns -1. */
int load_error(const struct scenario_loader *l, const char *place, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Fails if the object has a key that is not in `known`, which ends with NULL. */
int load_keys(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *const *known);
/* A duration, such as "30s" or a number of seconds. */
int load_time(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *key, usec_t *ret);
int load_count(const struct scenario_loader *l, const char *place, const json_t *object,
               const char *key, int64_t min, int64_t max, int64_t *ret);
int load_text(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *key, const char **ret);
int load_list(const struct scenario_loader *l, const char *place, const json_t *object,
              const char *key, const json_t **ret);
/* `otherwise` if it is missing or not a string. */
const char *load_text_at(const json_t *object, const char *key, const char *otherwise);

/* The keys `expect` and `config` of the file. */
int load_expects(const struct scenario_loader *l, const json_t *document);
int load_config(const struct scenario_loader *l, json_t *document);

#endif
