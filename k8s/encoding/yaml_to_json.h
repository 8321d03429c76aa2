/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_to_json.h - YAML text (kubeconfig, manifests, scenario files) as jansson values, from the
 * trees of yaml/yaml_tree.h and within their bounds.
 *
 * Core schema as Kubernetes reads it (YAML 1.2 plain scalars: null, true/false, integers, floats,
 * everything else strings; quoted scalars are strings). An alias is a copy; merge keys are not
 * supported. Duplicate keys are an error. Pure but for reading the file, any thread.
 */
#ifndef MUSTER_K8S_ENCODING_YAML_TO_JSON_H
#define MUSTER_K8S_ENCODING_YAML_TO_JSON_H

#include <jansson.h>

#include "base/err.h"

/* All documents of a stream as an array, empty documents left out; NULL and "FILE:LINE: …" on
 * error. `name` is for messages. */
json_t *yaml_parse(const char *name, const char *text, size_t len, struct err *err);
/* The same for a file, up to 16 MiB. */
json_t *yaml_load(const char *path, struct err *err);

#endif
