/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_results.h - where filter let pods through to.
 *
 * The verbs ask nobody who they are, so a bind call is no proof that kube-scheduler has chosen the
 * node. It is carried out where filter let that very pod through to that node a short time ago, and
 * where the node passes the pod's own rules in muster's picture. kube-scheduler always asks filter
 * first, and asks again after a refusal.
 *
 * What filter answered is kept for each pod until its bind call or for pod_busy_time(): one node,
 * or a bit for each. All bits together are at most FILTER_RESULT_WORDS_MAX; beyond it the oldest
 * answer is forgotten, and its pod is asked about again. An earlier life of muster may have let
 * through whoever is there at the start: those pass to any node, once, for that time after the
 * sync.
 */
#ifndef MUSTER_GANG_CLUSTER_FILTER_RESULTS_H
#define MUSTER_GANG_CLUSTER_FILTER_RESULTS_H

#include "gang/cluster/lookup.h"

/* Filter let the pod through to these nodes: all that it offered (passed NULL), or the one. */
void filter_result_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                           const uint32_t *passed, size_t n);
void filter_result_one(struct gang_core *core, struct pod *pod, const struct node *node);
/* An earlier life may have let it through, to any node. Its time begins again with the sync. */
void filter_result_inherited(struct gang_core *core, struct pod *pod);
void filter_results_synced(struct gang_core *core);
/* It is at bind, was refused, or came back. */
void filter_result_end(struct gang_core *core, struct pod *pod);
/* As far as is known it is on its way between filter and bind. */
bool filter_result_is_open(const struct gang_core *core, const struct pod *pod);
/* At bind for a node: it may ask for the same again, and for no other. */
void filter_result_narrow(struct gang_core *core, struct pod *pod, const struct node *node);
/* Filter let it through to the node, not too long ago. */
bool filter_result_has(const struct gang_core *core, const struct pod *pod,
                       const struct node *node);
/* For so long kube-scheduler may be busy with a pod that filter let through, whatever became of its
 * place: one with volumes waits for them (VolumeBinding's bindTimeoutSeconds is 600 by default). */
static inline usec_t pod_busy_time(const struct pod *pod)
{
    return (pod->facts->has_pvc ? 660 : 60) * USEC_PER_SEC;
}

#endif
