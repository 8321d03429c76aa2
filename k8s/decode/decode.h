/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - Kubernetes objects (jansson trees) to facts. Pure: no I/O, no state, any thread.
 *
 * Every decoder takes a borrowed object and returns new facts, or NULL with an error that names
 * the object and the field. Unknown fields are skipped; a missing optional field is absent. What
 * a decoder cannot read but the object may live without (one odd quantity) is an error all the
 * same: a pod that is counted wrongly is worse than a pod that is reported.
 */
#ifndef MUSTER_K8S_DECODE_DECODE_H
#define MUSTER_K8S_DECODE_DECODE_H

#include <jansson.h>

#include "base/err.h"
#include "gang/facts.h"
#include "workload/workload.h"

struct dialect;

struct gang_node_facts *decode_node(const json_t *node, struct err *err);
/* Also finds the pod's link by asking every dialect, see dialect.h. */
struct gang_pod_facts *decode_pod(const json_t *pod, struct err *err);
/* A resourceVersion as in struct gang_pod_facts: 0 for NULL and what is no number. */
int64_t decode_version_text(const char *text);
/* Whether a PodGroup is (or may be) to be created for a pod that is not bound; awaits_group is set
 * then, and the pod does not count as an ordinary pod. rules NULL: for none. */
bool decode_awaits(const struct workload_rules *rules, const json_t *pod,
                   struct gang_pod_facts *facts);
/* Fails only if the name is missing. `invalid` says what else is wrong, so that the author learns
 * why the gang waits. */
struct gang_group_facts *decode_group(const struct dialect *dialect, const json_t *group,
                                      struct err *err);

/* Of an object of which only a part is known: `why` goes to `invalid`. */
struct gang_pod_facts *decode_pod_part(const json_t *pod, const struct err *why, struct err *err);
struct gang_group_facts *decode_group_part(const struct dialect *dialect, const json_t *group,
                                           const struct err *why, struct err *err);

struct gang_priority_class_facts *decode_class(const json_t *class, struct err *err);

#endif
