/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inter_pod_rules.h - kube-scheduler's rules between pods, as pure functions: anti-affinity and
 * topology spread over hosts; and which pods a PodDisruptionBudget covers.
 *
 * The functions read facts only and keep no state, so any thread may call them. The callers know
 * which pods are on a node; they are the planner (gang/cluster/anti_affinity_and_spread.c) and the
 * simulated scheduler. Each function names its source in k8s.io/kubernetes v1.36.
 *
 * A host is a node with the label kubernetes.io/hostname. Two nodes with the same hostname are two
 * hosts for these functions, but one host for kube-scheduler.
 */
#ifndef MUSTER_GANG_INTER_POD_RULES_H
#define MUSTER_GANG_INTER_POD_RULES_H

#include "gang/facts.h"

#define GANG_HOSTNAME "kubernetes.io/hostname"

bool gang_is_host(const struct gang_node_facts *node);

/* Whether the anti-affinity of `pod` forbids `other` on the same host. A caller must check both
 * directions. Source: interpodaffinity AffinityTerm.Matches. */
bool gang_anti_affinity_forbids(const struct gang_pod_facts *pod,
                                const struct gang_pod_facts *other);

/* The same for the wide anti-affinity of `pod`. */
bool gang_wide_anti_affinity_forbids(const struct gang_pod_facts *pod,
                                     const struct gang_pod_facts *other);

/* Whether the spread constraint of `pod` covers the node. Source: podtopologyspread
 * matchNodeInclusionPolicies, nodeLabelsMatchSpreadConstraints. */
bool gang_spread_covers(const struct gang_spread *s, const struct gang_pod_facts *pod,
                        const struct gang_node_facts *node);
/* Whether the constraint of `pod` counts `other`, which is on a covered node. Source:
 * podtopologyspread countPodsMatchSelector. */
bool gang_spread_counts(const struct gang_spread *s, const struct gang_pod_facts *pod,
                        const struct gang_pod_facts *other);
/* Whether the pod may join a host with `here` counted pods. `hosts` is the number of covered hosts,
 * and `least` is the smallest count on any of them. Source: podtopologyspread Filter,
 * minMatchNum. */
bool gang_spread_allows(const struct gang_spread *s, const struct gang_pod_facts *pod, int64_t here,
                        int64_t least, int64_t hosts);

/* Whether the disruption budget covers the pod. Source: disruption.getPodsForPdb. */
bool gang_budget_covers(const struct gang_budget_facts *budget, const struct gang_pod_facts *pod);

#endif
