/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_filters.h - those filters of kube-scheduler that look at other pods and at volumes.
 *
 * sched_rules_prepare() when a cycle begins, sched_rules_refusal() for each node of it,
 * sched_rules_forget() at the very end; what is kept here belongs to one cycle and is owned here.
 * The cache must not change between the first two. One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_FILTERS_H
#define MUSTER_SIMULATOR_SCHEDULER_FILTERS_H

#include "k8s/list_watch/claim_topology.h"
#include "simulator/scheduler_cache.h"

/* What is counted on the hosts of a topology spread. */
struct sched_spread {
    int64_t least, hosts;
};

struct sched_rules {
    struct sched_spread *spreads;     /* of the pod of the cycle */
    struct gang_claim_facts **claims; /* those of its pod that any node will not do for */
    size_t n_claims;
};

/* A cycle for the pod begins: what is to be known of all nodes and of its claims. */
void sched_rules_prepare(struct sched_rules *r, const struct sched_cache *cache,
                         const struct claim_topology *claims, const struct sched_pod *pod);
/* NULL when the pod of the cycle may join those on the node; else why not, constant text. */
const char *sched_rules_refusal(const struct sched_rules *r, const struct sched_pod *pod,
                                const struct sched_node *node);
void sched_rules_forget(struct sched_rules *r);

#endif
