/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - turns Kubernetes objects as people write them into what an API server stores.
 *
 * For the built-in cluster and scenario files. Pure, any thread; objects are borrowed unless said.
 */
#ifndef MUSTER_SIMULATOR_MANIFEST_H
#define MUSTER_SIMULATOR_MANIFEST_H

#include <jansson.h>

#include "base/err.h"

/* The kinds of objects that the built-in cluster knows: id, API group ("*": of a dialect), kind,
 * namespaced, what it does with one. */
#define MANIFEST_KINDS(X)                                                                          \
    X(NODE, "", "Node", false, "pods are placed on it")                                            \
    X(POD, "", "Pod", true, "scheduled, then runs for its duration")                               \
    X(JOB, "batch", "Job", true, "creates pods")                                                   \
    X(POD_GROUP, "*", "PodGroup", true, "what pods are linked to")                                 \
    X(QUOTA, "", "ResourceQuota", true, "limits the number of pods in a namespace")                \
    X(PRIORITY_CLASS, "scheduling.k8s.io", "PriorityClass", false, "gives pods their priority")    \
    X(CLAIM, "", "PersistentVolumeClaim", true, "with its volume: where its pods can run")         \
    X(VOLUME, "", "PersistentVolume", false, "with node affinity: some nodes only")                \
    X(NAMESPACE, "", "Namespace", false, "kept, no effect")                                        \
    X(CONFIG_MAP, "", "ConfigMap", true, "kept, no effect")                                        \
    X(SERVICE, "", "Service", true, "kept, no effect")                                             \
    X(SERVICE_ACCOUNT, "", "ServiceAccount", true, "kept, no effect")                              \
    X(QUEUE, "*", "Queue", false, "kept, no effect")

enum manifest_kind {
#define X(id, group, kind, namespaced, help) KIND_##id,
    MANIFEST_KINDS(X)
#undef X
        KIND_MAX
};

/* Of an object with apiVersion and kind; KIND_MAX when it is not known. */
enum manifest_kind manifest_kind_of(const json_t *object);
const char *manifest_kind_name(enum manifest_kind kind);
bool manifest_kind_namespaced(enum manifest_kind kind);

/* Its API group: "batch" of batch/v1, "" of v1; the caller frees it. */
char *manifest_group(const json_t *object);
/* "" when absent. */
const char *manifest_ns(const json_t *object);
const char *manifest_name(const json_t *object);

/* Puts it into namespace "default" when it has none; a node gets the label kubernetes.io/hostname
 * that its kubelet would set. Other defaults are the decoders' own. */
void manifest_default(json_t *object);

/* A new pod of a Job, from its template: name, labels, owner; the caller owns it. */
json_t *manifest_job_pod(const json_t *job, int64_t index);

/* Whether the object can be used as it is: kind known, name given, everything decoded once. */
int manifest_check(const json_t *object, struct err *err);

#endif
