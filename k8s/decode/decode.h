/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - decodes Kubernetes objects (jansson trees) into facts. Pure: no I/O, no state, any
 * thread.
 *
 * Every decoder takes a borrowed object. It returns new facts, which the caller owns, or NULL with
 * an error that names the object and the field. Decoders skip unknown fields. They report every
 * field that is invalid, even if it is optional: it is better to report a pod than to count it
 * wrongly. For pods and PodGroups, `invalid` in the facts records such an error (gang/facts.h).
 */
#ifndef MUSTER_K8S_DECODE_DECODE_H
#define MUSTER_K8S_DECODE_DECODE_H

#include <jansson.h>

#include "base/err.h"
#include "gang/queue_facts.h"
#include "workload/workload.h"

struct dialect;

struct gang_node_facts *decode_node(const json_t *node, struct err *err);
/* Also finds the pod's link to a PodGroup, in any dialect (dialect.h). */
struct gang_pod_facts *decode_pod(const json_t *pod, struct err *err);
/* A resourceVersion as in struct gang_pod_facts: 0 if it is NULL or not a number. */
int64_t decode_version_text(const char *text);
/* Whether muster creates, or may create, a PodGroup for a pod that is not bound. If so, sets
 * awaits_group, and the pod does not count as an ordinary pod. rules NULL: for no pod. */
bool decode_awaits(const struct workload_rules *rules, const json_t *pod,
                   struct gang_pod_facts *facts);
/* Fails only if the metadata is invalid. Any other error goes to `invalid`, so that the user sees
 * why the gang waits. */
struct gang_group_facts *decode_group(const struct dialect *dialect, const json_t *group,
                                      struct err *err);

/* For an object that could be read only in part. `why` goes to `invalid`. */
struct gang_pod_facts *decode_pod_part(const json_t *pod, const struct err *why, struct err *err);
struct gang_group_facts *decode_group_part(const struct dialect *dialect, const json_t *group,
                                           const struct err *why, struct err *err);

struct queue_dialect;

/* Fails only if the name is missing. `invalid` says what else is wrong: the queue stays known, so
 * its gangs wait and say why. */
struct gang_queue_facts *decode_queue(const struct queue_dialect *dialect, const json_t *object,
                                      struct err *err);
struct gang_queue_facts *decode_queue_part(const struct queue_dialect *dialect,
                                           const json_t *object, const struct err *why,
                                           struct err *err);
/* The queue that the namespace names by the dialect's annotation, if any. */
struct gang_namespace_facts *decode_namespace(const struct queue_dialect *dialect,
                                              const json_t *object, struct err *err);

struct gang_priority_class_facts *decode_class(const json_t *class, struct err *err);

/* Fails only if the metadata is invalid. Sets err->code; ERR_NONE: all of it could be read. A
 * selector that exceeds a bound or cannot be read becomes one of all pods, and no eviction is
 * allowed. Sources: policy/v1, and the eviction subresource (checkAndDecrement). */
struct gang_budget_facts *decode_budget(const json_t *budget, struct err *err);
/* For a budget that could be read only in part. */
struct gang_budget_facts *decode_budget_part(const json_t *budget, struct err *err);
/* NULL: it cannot be read. */
struct gang_job_facts *decode_job(const json_t *job, struct err *err);

#endif
