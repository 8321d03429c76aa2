/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inter_pod_rules.h - kube-scheduler's rules between pods, and between volumes and nodes, as pure
 * functions.
 *
 * They look at facts only and keep nothing: any thread. Who is on a node is known to others: the
 * planner (gang/cluster/anti_affinity_and_spread.c) and the driver of the built-in cluster. Each
 * names its source in k8s.io/kubernetes v1.36. A host is a node with the label
 * kubernetes.io/hostname; two nodes with the same value of it are two hosts here and one for the
 * scheduler.
 */
#ifndef MUSTER_GANG_INTER_POD_RULES_H
#define MUSTER_GANG_INTER_POD_RULES_H

#include "gang/facts.h"

#define GANG_HOSTNAME "kubernetes.io/hostname"

bool gang_is_host(const struct gang_node_facts *node);

/* Whether the anti-affinity of `pod` forbids it to be on one host with `other`. Both ways round are
 * to be asked. Source: interpodaffinity AffinityTerm.Matches. */
bool gang_anti_affinity_forbids(const struct gang_pod_facts *pod,
                                const struct gang_pod_facts *other);

/* The same of the pods that it keeps away from wider domains: whether `other` is one of them. */
bool gang_wide_anti_affinity_forbids(const struct gang_pod_facts *pod,
                                     const struct gang_pod_facts *other);

/* Whether the node is one of those over which the pod is to be spread. Source: podtopologyspread
 * matchNodeInclusionPolicies, nodeLabelsMatchSpreadConstraints. */
bool gang_spread_covers(const struct gang_spread *s, const struct gang_pod_facts *pod,
                        const struct gang_node_facts *node);
/* Whether `other`, on such a node, is one of those that are counted. Source:
 * podtopologyspread countPodsMatchSelector. */
bool gang_spread_counts(const struct gang_spread *s, const struct gang_pod_facts *pod,
                        const struct gang_pod_facts *other);
/* Whether the pod may join a host where so many are counted, `least` being the smallest number on
 * any of the `hosts` covered. Source: podtopologyspread Filter, minMatchNum. */
bool gang_spread_allows(const struct gang_spread *s, const struct gang_pod_facts *pod, int64_t here,
                        int64_t least, int64_t hosts);

/* Whether the claim can be used on the node, as far as is known. Source: volumebinding
 * FindPodVolumes, checkBoundClaims. */
bool gang_claim_allows(const struct gang_claim_facts *claim, const struct gang_node_facts *node);

#endif
