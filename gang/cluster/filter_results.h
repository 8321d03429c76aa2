/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_results.h - the nodes that filter returned for pods.
 *
 * Callers of the verbs are not authenticated, so a bind call does not prove that kube-scheduler
 * chose the node. muster carries out a bind call only if filter recently returned this node for
 * this pod, and if the node passes the pod's own rules in the cluster cache. kube-scheduler always
 * calls filter before bind, and calls it again after a refusal.
 *
 * A result is kept until the bind call, at most for pod_busy_time(). It is one node, or a bit for
 * each node. All bit sets together have at most FILTER_RESULT_WORDS_MAX words. Beyond this limit,
 * muster drops the oldest result, and kube-scheduler must filter that pod again.
 *
 * Before a restart, muster may have returned any node for a pod. So each pod that exists at the
 * start may bind to any node once, within pod_busy_time() after the sync.
 */
#ifndef MUSTER_GANG_CLUSTER_FILTER_RESULTS_H
#define MUSTER_GANG_CLUSTER_FILTER_RESULTS_H

#include "gang/cluster/lookup.h"

/* Filter returned these nodes for the pod: the n names at the indexes `passed` of the event's list,
 * or the first n names if `passed` is NULL. */
void filter_result_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                           const uint32_t *passed, size_t n);
/* Filter returned one node for the pod. */
void filter_result_one(struct gang_core *core, struct pod *pod, const struct node *node);
/* Before muster's start, filter may have returned any node for the pod. The time limit starts with
 * the sync. */
void filter_result_inherited(struct gang_core *core, struct pod *pod);
void filter_results_synced(struct gang_core *core);
/* Ends the result: the pod is at bind, was refused, or filter is called for it again. */
void filter_result_end(struct gang_core *core, struct pod *pod);
/* Whether kube-scheduler may have the pod between filter and bind. */
bool filter_result_is_open(const struct gang_core *core, const struct pod *pod);
/* The pod is at bind for the node. From now on, only bind calls for this node are allowed. */
void filter_result_narrow(struct gang_core *core, struct pod *pod, const struct node *node);
/* Whether filter recently returned the node for the pod. */
bool filter_result_has(const struct gang_core *core, const struct pod *pod,
                       const struct node *node);
/* How long kube-scheduler may take from filter to bind: a pod with volumes waits for them
 * (bindTimeoutSeconds of VolumeBinding is 600 by default). */
static inline usec_t pod_busy_time(const struct pod *pod)
{
    return (pod->facts->has_pvc ? 660 : 60) * USEC_PER_SEC;
}

#endif
