/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steering.h - nominates members to their slots' nodes before kube-scheduler filters them.
 *
 * kube-scheduler tries a nominated pod on that node first, and so filters one node instead of some
 * hundreds. This is worth a write only in a cluster with many nodes, and only if the write comes
 * before the pod's turn: a member that is filtered soon is not steered.
 */
#ifndef MUSTER_GANG_LIFECYCLE_STEERING_H
#define MUSTER_GANG_LIFECYCLE_STEERING_H

#include "gang/cluster/lookup.h"

/* The member got a slot: wakes it, or steers it to the node if that helps. */
void steer(struct gang_core *core, struct pod *pod);
/* Nominates the members whose time to be steered has come. */
void steer_unasked(struct gang_core *core);

#endif
