/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_predicates.h - kube-scheduler's rules about one pod and one node, as pure functions.
 *
 * The functions read facts only and keep no state, so any thread may call them; the simulated
 * scheduler uses them too. gang/cluster/ledger.h counts what is in use on a node. Comments with
 * "Source" name code of k8s.io/kubernetes v1.36.
 */
#ifndef MUSTER_GANG_NODE_PREDICATES_H
#define MUSTER_GANG_NODE_PREDICATES_H

#include "gang/facts.h"

/* Why kube-scheduler refuses a node: the plugin. NONE: a cause that muster has no rule for. */
#define GANG_PREDICATES(X)                                                                         \
    X(NONE, "Unmodelled")                                                                          \
    X(UNSCHEDULABLE, "NodeUnschedulable")                                                          \
    X(AFFINITY, "NodeAffinity")                                                                    \
    X(TAINTS, "TaintToleration")                                                                   \
    X(RESOURCES, "NodeResourcesFit")                                                               \
    X(PORTS, "NodePorts")                                                                          \
    X(APART, "InterPodAffinity")                                                                   \
    X(SPREAD, "PodTopologySpread")

enum gang_predicate {
#define X(id, name) PREDICATE_##id,
    GANG_PREDICATES(X)
#undef X
        PREDICATE_MAX
};
const char *gang_predicate_name(enum gang_predicate p);

/* The first of NodeUnschedulable, NodeAffinity (node selector and required affinity) and
 * TaintToleration that excludes the node; PREDICATE_NONE: none does. */
enum gang_predicate gang_node_predicate(const struct gang_pod_facts *pod,
                                        const struct gang_node_facts *node);
/* The same as a constant text; NULL: none excludes the node. */
const char *gang_node_refusal(const struct gang_pod_facts *pod, const struct gang_node_facts *node);
/* The same text, with the rule in *ret. The rules in `rules_off` (1 << PREDICATE_X) are skipped. */
const char *gang_node_refusal_but(const struct gang_pod_facts *pod,
                                  const struct gang_node_facts *node, int32_t rules_off,
                                  enum gang_predicate *ret);

/* Whether the node matches the pod's node selector and required node affinity. */
bool gang_affinity_matches(const struct gang_pod_facts *pod, const struct gang_node_facts *node);
/* Whether the node matches one term of a node selector. */
bool gang_term_matches(const struct gang_term *term, const struct gang_node_facts *node);
/* Whether the pod tolerates the node's taints with the effects NoSchedule and NoExecute. */
bool gang_taints_tolerated(const struct gang_pod_facts *pod, const struct gang_node_facts *node);

/* Whether the labels meet one requirement of a label selector. */
bool gang_label_matches(const struct gang_requirement *r, const struct gang_kvs *labels);

/* Whether two host ports collide (NodePorts): they have the same protocol and port, and the same IP
 * or one of them has 0.0.0.0. */
bool gang_ports_conflict(const struct gang_port *a, const struct gang_port *b);
/* Whether any host ports of the two pods collide. */
bool gang_pods_conflict(const struct gang_pod_facts *a, const struct gang_pod_facts *b);

/* Whether the resource is a device: an extended resource such as nvidia.com/gpu, with a domain
 * outside kubernetes.io. */
bool gang_is_device(const char *resource);

#endif
