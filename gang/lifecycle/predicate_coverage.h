/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate_coverage.h - whether muster's predicates cover all rules that decide where a pod may
 * run.
 *
 * The express lane asks for each member with a plan, the parity check before it compares the nodes
 * that kube-scheduler offers, and explain for its advice. The rules of other pods count too. So it
 * notes for each pod how far it has compared the pod with the list of pods with wide anti-affinity.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PREDICATE_COVERAGE_H
#define MUSTER_GANG_LIFECYCLE_PREDICATE_COVERAGE_H

#include "gang/cluster/lookup.h"

/* The limit of one check, in requirements and values of selectors: 10,000 take 0.3 ms. */
#define COVERAGE_COST_MAX 10000
/* Whether the predicates cover all rules for the pod. Compares it with the wide anti-affinity of a
 * bounded number of other pods, and the next call continues with the following ones. Sets *cost, in
 * requirements and values. */
bool predicates_cover(const struct gang_core *core, struct pod *pod, int64_t *cost);
/* The rule that only kube-scheduler can evaluate for the pod, as text; NULL: none. */
const char *pod_beyond_predicates(const struct gang_core *core, const struct pod *pod);
/* A doubt, as text, if nodes share a hostname and a rule over hosts may apply to the pod; NULL:
 * none. kube-scheduler treats such nodes as one host, and muster as two. */
const char *shared_hostname_doubt(const struct gang_core *core, const struct pod *pod);
/* A doubt, as text, if wide anti-affinity of another pod may rule out nodes for the pod; NULL:
 * none. Compares the pod once with each other pod. If one conflicts, each call compares it again.
 * Reduces *left, the cost that may be spent. */
const char *wide_anti_affinity_doubt(const struct gang_core *core, struct pod *pod, int64_t *left);
/* Compares the pod with all other pods again, because its labels have changed. */
void wide_anti_affinity_recheck(struct pod *pod);

#endif
