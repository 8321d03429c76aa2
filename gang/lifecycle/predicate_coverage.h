/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate_coverage.h - whether muster's predicates cover everything that decides where a pod may
 * run.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PREDICATE_COVERAGE_H
#define MUSTER_GANG_LIFECYCLE_PREDICATE_COVERAGE_H

#include "gang/cluster/lookup.h"

/* The limit for one check of selectors, in requirements and values: 10,000 take 0.3 ms. */
#define COVERAGE_COST_MAX 10000
/* Whether the predicates cover the pod. Checks wide anti-affinity of a bounded number of other
 * pods; the next call continues there. *cost is in requirements and values. */
bool predicates_cover(const struct gang_core *core, struct pod *pod, int64_t *cost);
/* Why only kube-scheduler can evaluate the pod's constraints; NULL: muster can too. */
const char *pod_beyond_predicates(const struct gang_core *core, const struct pod *pod);
/* Nodes share a hostname, which makes them one host for kube-scheduler, and a rule over hosts may
 * concern the pod: as text; NULL: no. */
const char *shared_hostname_doubt(const struct gang_core *core, const struct pod *pod);
/* Whether wide anti-affinity of another pod may keep the pod out, as text; NULL: no. Each other pod
 * is checked once, and one that conflicts on each call; *left is the cost that may be spent. */
const char *wide_anti_affinity_doubt(const struct gang_core *core, struct pod *pod, int64_t *left);
/* The pod's labels have changed: all other pods must be checked again. */
void wide_anti_affinity_recheck(struct pod *pod);

#endif
