/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_results.h - the nodes that filter returned for pods.
 *
 * Callers of the verbs are not authenticated, so a bind call does not prove that kube-scheduler
 * chose the node. muster carries out a bind call only if filter recently returned that node for
 * that pod and the node passes the pod's own rules in muster's cluster cache. kube-scheduler always
 * calls filter first, and again after a refusal.
 *
 * The result is kept for each pod until its bind call or for pod_busy_time(), as one node or a bit
 * for each node. All bit sets together have at most FILTER_RESULT_WORDS_MAX words; beyond that the
 * oldest result is dropped, and kube-scheduler has to call filter again for its pod. An earlier run
 * of muster may have returned nodes for pods that exist at the start: each of them may bind to any
 * node once, for that time after the sync.
 */
#ifndef MUSTER_GANG_CLUSTER_FILTER_RESULTS_H
#define MUSTER_GANG_CLUSTER_FILTER_RESULTS_H

#include "gang/cluster/lookup.h"

/* Filter returned nodes for the pod: the n at `passed` in the event's list, the whole list (passed
 * NULL), or one node. */
void filter_result_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                           const uint32_t *passed, size_t n);
void filter_result_one(struct gang_core *core, struct pod *pod, const struct node *node);
/* An earlier run may have returned any node for the pod. The time starts again with the sync. */
void filter_result_inherited(struct gang_core *core, struct pod *pod);
void filter_results_synced(struct gang_core *core);
/* The pod is at bind, was refused, or is back at filter. */
void filter_result_end(struct gang_core *core, struct pod *pod);
/* As far as known, kube-scheduler has the pod between filter and bind. */
bool filter_result_is_open(const struct gang_core *core, const struct pod *pod);
/* The pod is at bind for the node: it may repeat that call, but for no other node. */
void filter_result_narrow(struct gang_core *core, struct pod *pod, const struct node *node);
/* Whether filter recently returned the node for the pod. */
bool filter_result_has(const struct gang_core *core, const struct pod *pod,
                       const struct node *node);
/* How long kube-scheduler may work on a pod after filter, even if its slot is gone: a pod with
 * volumes waits for them (VolumeBinding's bindTimeoutSeconds is 600 by default). */
static inline usec_t pod_busy_time(const struct pod *pod)
{
    return (pod->facts->has_pvc ? 660 : 60) * USEC_PER_SEC;
}

#endif
