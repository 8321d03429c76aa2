/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate_coverage.h - whether the rules here say all about a pod.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PREDICATE_COVERAGE_H
#define MUSTER_GANG_LIFECYCLE_PREDICATE_COVERAGE_H

#include "gang/cluster/lookup.h"

/* Selectors are looked at for so long at once: 10,000 requirements and values take 0.3 ms. */
#define SHUNS_AT_ONCE 10000
/* Whether the rules here say all about the pod. Looks at some of those that may keep it away, each
 * time at others; the cost is counted in requirements and values. */
bool predicates_cover(const struct gang_core *core, struct pod *pod, int64_t *cost);
/* Why the pod's constraints are kube-scheduler's alone to judge; NULL: they are not. */
const char *pod_beyond_predicates(const struct gang_core *core, const struct pod *pod);
/* Nodes that share a host's name are one host to kube-scheduler, and some rule about hosts may
 * concern the pod: in words; NULL: that is not so. */
const char *shared_hostname_doubt(const struct gang_core *core, const struct pod *pod);
/* Who may keep the pod away is looked at once for a pod, and who does first again; `left` is what
 * may still be looked at. */
const char *wide_anti_affinity_doubt(const struct gang_core *core, struct pod *pod, int64_t *left);
/* Its labels are others: whether somebody keeps it away is to be looked at again. */
void wide_anti_affinity_recheck(struct pod *pod);

#endif
