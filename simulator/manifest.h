/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - reads, completes and checks the manifests of a scenario for the built-in cluster.
 *
 * Stateless; any thread. Objects are borrowed unless a comment says otherwise.
 */
#ifndef MUSTER_SIMULATOR_MANIFEST_H
#define MUSTER_SIMULATOR_MANIFEST_H

#include <jansson.h>

#include "base/err.h"

/* The kinds of objects that the built-in cluster accepts: id, API group ("*": those of the
 * dialects), kind, namespaced, and how the cluster uses the object. */
#define MANIFEST_KINDS(X)                                                                          \
    X(NODE, "", "Node", false, "runs pods")                                                        \
    X(POD, "", "Pod", true, "is scheduled, then runs for its duration")                            \
    X(JOB, "batch", "Job", true, "creates pods")                                                   \
    X(POD_GROUP, "*", "PodGroup", true, "makes a gang of the pods that are linked to it")          \
    X(QUOTA, "", "ResourceQuota", true, "limits the number of pods in a namespace")                \
    X(PRIORITY_CLASS, "scheduling.k8s.io", "PriorityClass", false, "gives pods their priority")    \
    X(CLAIM, "", "PersistentVolumeClaim", true, "limits its pods to the nodes of its volume")      \
    X(VOLUME, "", "PersistentVolume", false, "its node affinity limits the nodes")                 \
    X(BUDGET, "policy", "PodDisruptionBudget", true, "limits the evictions of its running pods")   \
    X(QUEUE, "*", "Queue", false, "limits the gangs in it, and orders them")                       \
    X(ELASTIC_QUOTA, "*", "ElasticQuota", true, "is a queue, too")                                 \
    X(NAMESPACE, "", "Namespace", false, "may name the queue of its pods")                         \
    X(CONFIG_MAP, "", "ConfigMap", true, "is stored, without an effect")                           \
    X(SERVICE, "", "Service", true, "is stored, without an effect")                                \
    X(SERVICE_ACCOUNT, "", "ServiceAccount", true, "is stored, without an effect")

enum manifest_kind {
#define X(id, group, kind, namespaced, help) KIND_##id,
    MANIFEST_KINDS(X)
#undef X
        KIND_MAX
};

/* The kind of an object, from its apiVersion and kind; KIND_MAX: unknown. */
enum manifest_kind manifest_kind_of(const json_t *object);
const char *manifest_kind_name(enum manifest_kind kind);
bool manifest_kind_namespaced(enum manifest_kind kind);
/* The i-th API group that has this kind; NULL: it has fewer. */
const char *manifest_kind_group(enum manifest_kind kind, size_t i);
bool manifest_kind_in_group(enum manifest_kind kind, const char *group);

/* The API group: "batch" for batch/v1, "" for v1. The caller frees it. */
char *manifest_group(const json_t *object);
/* "" if the field is missing. */
const char *manifest_ns(const json_t *object);
const char *manifest_name(const json_t *object);

/* How many pods must stay healthy by the PodDisruptionBudget, if its controllers want `expected`
 * pods. Fails if its numbers are invalid. */
int manifest_budget_desired(const json_t *budget, int64_t expected, int64_t *ret, struct err *err);

/* Sets the namespace to "default" if it is missing, and the label kubernetes.io/hostname of a node,
 * which the kubelet sets in a real cluster. The decoders set the other defaults. */
void manifest_default(json_t *object);

/* Returns 0 if the built-in cluster accepts the object: the kind is known, it has a name, and it
 * can be decoded. */
int manifest_check(const json_t *object, struct err *err);

#endif
