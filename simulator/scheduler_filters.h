/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_filters.h - kube-scheduler's filters that read other pods and volumes.
 *
 * Life cycle: sched_rules_prepare() when a scheduling cycle begins, sched_rules_refusal() for each
 * node, and sched_rules_forget() when the scheduler ends. The struct owns its data, which are valid
 * for one cycle. The cache must not change during the cycle. One thread.
 */
#ifndef MUSTER_SIMULATOR_SCHEDULER_FILTERS_H
#define MUSTER_SIMULATOR_SCHEDULER_FILTERS_H

#include "k8s/list_watch/claim_topology.h"
#include "simulator/scheduler_cache.h"

/* A topology spread of the cycle's pod: the smallest count on a host, and the number of hosts. */
struct sched_spread {
    int64_t least, hosts;
};

struct sched_rules {
    struct sched_spread *spreads;     /* of the cycle's pod */
    struct gang_claim_facts **claims; /* claims of the cycle's pod that limit the nodes */
    size_t n_claims;
};

/* Prepares a cycle for the pod: counts on all nodes, and reads the claims. */
void sched_rules_prepare(struct sched_rules *r, const struct sched_cache *cache,
                         const struct claim_topology *claims, const struct sched_pod *pod);
/* NULL: the node is feasible for the cycle's pod. Otherwise the reason, which is constant text. */
const char *sched_rules_refusal(const struct sched_rules *r, const struct sched_pod *pod,
                                const struct sched_node *node);
void sched_rules_forget(struct sched_rules *r);

#endif
