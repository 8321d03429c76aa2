/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_predicates.h - kube-scheduler's rules about one pod and one node, as pure functions.
 *
 * Each function names its source in k8s.io/kubernetes v1.36. They read facts only;
 * gang/cluster/ledger.h counts what is in use on a node. The simulated scheduler uses them too.
 */
#ifndef MUSTER_GANG_NODE_PREDICATES_H
#define MUSTER_GANG_NODE_PREDICATES_H

#include "gang/facts.h"

/* Why kube-scheduler refuses a node: the name of its plugin, or NONE for a cause without a rule
 * here. */
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

/* The first of these rules that excludes the node: NodeUnschedulable, NodeAffinity (selector and
 * required affinity), TaintToleration; PREDICATE_NONE: none excludes it. */
enum gang_predicate gang_node_predicate(const struct gang_pod_facts *pod,
                                        const struct gang_node_facts *node);
/* The same as a constant text; NULL: no rule excludes the node. */
const char *gang_node_refusal(const struct gang_pod_facts *pod, const struct gang_node_facts *node);
/* Both results, without the rules in `rules_off` (1 << PREDICATE_X). */
const char *gang_node_refusal_but(const struct gang_pod_facts *pod,
                                  const struct gang_node_facts *node, int32_t rules_off,
                                  enum gang_predicate *ret);

/* Parts that other rules use: node selector and required node affinity; one term of a node
 * selector; taints with the effects NoSchedule and NoExecute. */
bool gang_affinity_matches(const struct gang_pod_facts *pod, const struct gang_node_facts *node);
bool gang_term_matches(const struct gang_term *term, const struct gang_node_facts *node);
bool gang_taints_tolerated(const struct gang_pod_facts *pod, const struct gang_node_facts *node);

/* Whether the labels meet one requirement of a label selector. */
bool gang_label_matches(const struct gang_requirement *r, const struct gang_kvs *labels);

/* Whether two host ports collide (NodePorts): same protocol and port, same IP or either 0.0.0.0. */
bool gang_ports_conflict(const struct gang_port *a, const struct gang_port *b);
/* Whether any host ports of the two pods collide. */
bool gang_pods_conflict(const struct gang_pod_facts *a, const struct gang_pod_facts *b);

/* Whether the resource is a device: an extended resource (with a domain outside kubernetes.io),
 * such as nvidia.com/gpu. */
bool gang_is_device(const char *resource);

#endif
