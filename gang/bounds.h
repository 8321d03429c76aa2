/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.h - how much of one object muster reads: the table of bounds.
 *
 * A user may write an object as large as the API server accepts. Such an object must not slow down
 * other users. If a PodGroup or a member exceeds a bound, muster refuses the gang with a sentence
 * that names the object, the field, the count and the bound. An ordinary pod that exceeds a bound
 * is still charged: muster ignores the excess, and kube-scheduler evaluates the pod's rules.
 * docs/limits.md has the same table for users; a test compares the two.
 *
 * Constant data and pure functions: any thread may use them.
 */
#ifndef MUSTER_GANG_BOUNDS_H
#define MUSTER_GANG_BOUNDS_H

#include <stddef.h>

/* Name, maximum, field, what is counted. The last two form the text of gang_bound_exceeded(). */
#define GANG_BOUNDS(X)                                                                             \
    X(LABELS, 8192, "metadata.labels of a pod or node", "labels")                                  \
    X(RESOURCES, 64, "spec.containers", "names of resources in requests")                          \
    X(HOST_PORTS, 256, "spec.containers", "host ports")                                            \
    X(LEDGER_PORTS, 4096, "spec.containers", "host ports of an ordinary pod")                      \
    X(NODE_RULES, 128, "spec.nodeSelector and required node affinity",                             \
      "labels, terms and requirements")                                                            \
    X(NODE_VALUES, 1024, "required node affinity", "values")                                       \
    X(TOLERATIONS, 256, "spec.tolerations", "tolerations")                                         \
    X(CLAIMS, 64, "spec.volumes", "volumes with claims")                                           \
    X(APART, 32, "required podAntiAffinity", "terms")                                              \
    X(SPREADS, 32, "spec.topologySpreadConstraints", "required constraints")                       \
    X(POD_VALUES, 256, "podAntiAffinity and topologySpreadConstraints",                            \
      "requirements, values and namespaces")                                                       \
    X(VOLUME_RULES, 32, "the node affinity of a PersistentVolume", "terms and requirements")       \
    X(VOLUME_VALUES, 1024, "the node affinity of a PersistentVolume", "values")                    \
    X(NODE_TAINTS, 256, "spec.taints of a node", "taints")                                         \
    X(NODE_RESOURCES, 256, "status.allocatable of a node", "resources")                            \
    X(FAMILY, 256, "PodGroups that belong together", "PodGroups")                                  \
    X(SUBGROUPS, 1024, "PodGroups that belong together", "subgroups")                              \
    X(MIN_RESOURCES, 256, "PodGroups that belong together", "entries of minResources")             \
    X(MEMBERS, 20000, "PodGroups that belong together", "pods")                                    \
    X(BUNDLE, 32, "the gang group of a PodGroup", "PodGroups")                                     \
    X(LEVELS, 16, "spec.subGroups", "levels")                                                      \
    X(POLICIES, 16, "spec.subGroupPolicy", "policies")                                             \
    X(POLICY_RULES, 64, "spec.subGroupPolicy", "requirements, values and keys of labels")          \
    X(PARTS, 1024, "spec.subGroupPolicy", "parts of a policy")                                     \
    X(QUEUE_LEVELS, 64, "a queue", "levels below the cluster")                                     \
    X(QUEUE_RESOURCES, 64, "spec of a queue", "resources")                                         \
    X(QUEUE_NAMESPACES, 256, "annotation quota.scheduling.koordinator.sh/namespaces",              \
      "namespaces")                                                                                \
    X(BUDGET_RULES, 64, "spec.selector of a PodDisruptionBudget", "requirements and values")       \
    X(BUDGETS, 512, "a namespace", "PodDisruptionBudgets")

enum {
#define X(name, most, field, counted) BOUND_##name = (most),
    GANG_BOUNDS(X)
#undef X
};

enum gang_bound {
#define X(name, most, field, counted) OVER_##name,
    GANG_BOUNDS(X)
#undef X
        GANG_BOUND_MAX
};

struct gang_bound_row {
    const char *name; /* "TOLERATIONS" */
    size_t most;
    const char *field, *counted;
};
extern const struct gang_bound_row gang_bounds[GANG_BOUND_MAX];

/* The text of a refusal for a count of n, such as "spec.tolerations: 300 tolerations; muster takes
 * at most 256". The caller frees it. */
char *gang_bound_exceeded(enum gang_bound bound, size_t n);

#endif
