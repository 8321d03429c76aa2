/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nominated_room.h - room that kube-scheduler counts for the pods that it has nominated.
 *
 * When kube-scheduler preempts victims for a pod, it nominates the pod to their node
 * (status.nominatedNodeName). Until the victims are gone, it counts the pod on this node against
 * pods of the same or a lower priority. Plans do the same (struct reach). Otherwise muster would
 * plan a gang into the room, kube-scheduler would refuse the pod there, and the pod would preempt
 * victims elsewhere.
 *
 * Victims stay charged while they exist. So nominated room is a separate sum, and used + reserved +
 * nominated room may exceed allocatable.
 *
 * A nomination has no nominated room if
 *   - muster wrote it;
 *   - the pod is a member of a waiting gang: a single member cannot use the room, so muster clears
 *     the nomination;
 *   - the pod is gated, or belongs to another scheduler: kube-scheduler does not count it either.
 * Nominated room ends when kube-scheduler clears the nomination, or when the pod is bound or gone.
 */
#ifndef MUSTER_GANG_CLUSTER_NOMINATED_ROOM_H
#define MUSTER_GANG_CLUSTER_NOMINATED_ROOM_H

#include "gang/cluster/lookup.h"

/* Updates whether the pod has nominated room, and where. Call it after any of this may have
 * changed. */
void nominated_room_update(struct gang_core *core, struct pod *pod);
void nominated_room_end(struct gang_core *core, struct pod *pod);
/* muster nominates the pod to the node, or clears the nomination (NULL). The nomination has no
 * nominated room, unless kube-scheduler had nominated the pod to the same node. */
void nominated_room_drop(struct pod *pod, const struct node *node);
/* kube-scheduler preempts for the pod, so the next nomination is kube-scheduler's. */
void nominated_by_scheduler(struct pod *pod);
/* The nominated room on the node of all pods of reach->priority or more, without reach->self. */
int64_t nominated_amount(const struct node *node, uint32_t resource, const struct reach *reach);
/* Whether the signature's host ports collide with those of such pods. */
bool nominated_ports_conflict(const struct node *node, const struct signature *signature,
                              const struct reach *reach);
/* Checks the invariants. Returns 0, or -1 with the first violation in err. */
int nominated_room_check(const struct gang_core *core, struct err *err);

#endif
