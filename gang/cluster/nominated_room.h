/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nominated_room.h - room that kube-scheduler counts for pods it has nominated.
 *
 * A pod that preempts others is nominated to their node (status.nominatedNodeName) and arrives when
 * they are gone. kube-scheduler counts it there against pods of its priority or less, and so do
 * plans here (struct reach). Otherwise a gang would be planned into that room; the pod would be
 * refused and would evict others elsewhere.
 *
 * Victims stay charged while they exist. So nominated room is a sum of its own, which together with
 * used and reserved may exceed the node.
 *
 * These nominations have no nominated room: those that muster wrote itself; those of members of a
 * waiting gang, which muster clears because a single member cannot use them; those of gated pods;
 * those of pods of other schedulers, which kube-scheduler does not count either. Nominated room
 * ends when kube-scheduler clears the nomination, or when the pod is bound or gone.
 */
#ifndef MUSTER_GANG_CLUSTER_NOMINATED_ROOM_H
#define MUSTER_GANG_CLUSTER_NOMINATED_ROOM_H

#include "gang/cluster/lookup.h"

/* Something that decides whether the pod has nominated room may have changed. */
void nominated_room_update(struct gang_core *core, struct pod *pod);
void nominated_room_end(struct gang_core *core, struct pod *pod);
/* muster writes the pod's nomination: it has no nominated room there, unless kube-scheduler had
 * nominated it to the same node. */
void nominated_room_drop(struct pod *pod, const struct node *node);
/* kube-scheduler preempts for the pod: the nomination that follows is its own. */
void nominated_by_scheduler(struct pod *pod);
/* The node's nominated room for pods of reach->priority or more, except reach->self. */
int64_t nominated_amount(const struct node *node, uint32_t resource, const struct reach *reach);
bool nominated_ports_conflict(const struct node *node, const struct signature *signature,
                              const struct reach *reach);
int nominated_room_check(const struct gang_core *core, struct err *err);

#endif
