/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passed_nodes.h - where filter let pods through to.
 *
 * The verbs ask nobody who they are, so a bind call is no proof that kube-scheduler has chosen the
 * node. It is carried out where filter let that very pod through to that node a short time ago, and
 * where the node passes the pod's own rules in muster's picture. kube-scheduler always asks filter
 * first, and asks again after a refusal.
 *
 * What filter answered is kept for each pod until its bind call or for pod_busy_time(): one node,
 * or a bit for each. All bits together are at most PASS_WORDS_MAX; beyond it the oldest answer is
 * forgotten, and its pod is asked about again. An earlier life of muster may have let through
 * whoever is there at the start: those pass to any node, once, for that time after the sync.
 */
#ifndef MUSTER_GANG_CLUSTER_PASSED_NODES_H
#define MUSTER_GANG_CLUSTER_PASSED_NODES_H

#include "gang/cluster/objects.h"

/* Filter let the pod through to these nodes: all that it offered (passed NULL), or the one. */
void passing_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                     const uint32_t *passed, size_t n);
void passing_to(struct gang_core *core, struct pod *pod, const struct node *node);
/* An earlier life may have let it through, to any node. Its time begins again with the sync. */
void passing_inherited(struct gang_core *core, struct pod *pod);
void passing_synced(struct gang_core *core);
/* It is at bind, was refused, or came back. */
void passing_end(struct gang_core *core, struct pod *pod);
/* As far as is known it is on its way between filter and bind. */
bool is_passing(const struct gang_core *core, const struct pod *pod);
/* At bind for a node: it may ask for the same again, and for no other. */
void passing_narrow(struct gang_core *core, struct pod *pod, const struct node *node);
/* Filter let it through to the node, not too long ago. */
bool has_passed(const struct gang_core *core, const struct pod *pod, const struct node *node);
/* For so long kube-scheduler may be busy with a pod that filter let through, whatever became of its
 * place: one with volumes waits for them (VolumeBinding's bindTimeoutSeconds is 600 by default). */
static inline usec_t pod_busy_time(const struct pod *pod)
{
    return (pod->facts->has_pvc ? 660 : 60) * USEC_PER_SEC;
}

#endif
