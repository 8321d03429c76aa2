/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_to_json.h - converts YAML (kubeconfigs, manifests, scenario files) into jansson values. It
 * uses the trees of yaml/yaml_tree.h, and their bounds apply.
 *
 * It reads the YAML 1.2 core schema, as Kubernetes does: a plain scalar is null, a boolean, an
 * integer, a float or else a string, and a quoted scalar is a string. An alias becomes a copy.
 * Merge keys are not supported. A duplicate key is an error. No state, any thread; only yaml_load()
 * does I/O.
 */
#ifndef MUSTER_K8S_ENCODING_YAML_TO_JSON_H
#define MUSTER_K8S_ENCODING_YAML_TO_JSON_H

#include <jansson.h>

#include "base/err.h"

/* Returns all documents of a stream, except empty ones, as an array that the caller owns. After an
 * error, returns NULL, and err is "FILE:LINE: …" with `name` as FILE. */
json_t *yaml_parse(const char *name, const char *text, size_t len, struct err *err);
/* The same for text from outside: at most `most` values. */
json_t *yaml_parse_most(const char *name, const char *text, size_t len, size_t most,
                        struct err *err);
/* The same for a file of at most 16 MiB. */
json_t *yaml_load(const char *path, struct err *err);

#endif
