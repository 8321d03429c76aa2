/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nominated_room.h - room that kube-scheduler keeps for pods it has nominated.
 *
 * A pod that preempts others is nominated to their node (status.nominatedNodeName) and arrives when
 * they are gone. kube-scheduler counts it there against pods of its priority or less; so do plans
 * here (struct reach): else a gang would be planned into that room, the pod would be refused, and
 * would evict others elsewhere.
 *
 * The victims are charged as long as they exist. So what is promised is a sum of its own: with used
 * and reserved it may exceed what the node has.
 *
 * No promise are nominations that muster has written itself, those of members of a gang that waits
 * (they are cleared: what a single member has is of no use to it), of pods behind a gate, and of
 * pods of other schedulers, which ours does not count either. A promise ends when kube-scheduler
 * clears the nomination, and when the pod is bound or gone.
 */
#ifndef MUSTER_GANG_CLUSTER_NOMINATED_ROOM_H
#define MUSTER_GANG_CLUSTER_NOMINATED_ROOM_H

#include "gang/cluster/lookup.h"

/* Whatever makes the pod's nomination a promise may have changed. */
void nominated_room_update(struct gang_core *core, struct pod *pod);
void nominated_room_end(struct gang_core *core, struct pod *pod);
/* Muster writes its nomination: nobody else has promised it that room. */
void nominated_room_drop(struct pod *pod, const struct node *node);
/* From now on kube-scheduler nominates it by its own word. */
void nominated_by_scheduler(struct pod *pod);
/* What is promised there to pods of that priority or more, but `self`. */
int64_t nominated_amount(const struct node *node, uint32_t resource, const struct reach *reach);
bool nominated_ports_conflict(const struct node *node, const struct signature *signature,
                              const struct reach *reach);
int nominated_room_check(const struct gang_core *core, struct err *err);

#endif
