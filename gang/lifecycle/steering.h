/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steering.h - nominates members to the nodes of their slots before kube-scheduler filters them.
 *
 * kube-scheduler tries the nominated node first. So it filters one node instead of hundreds. This
 * is worth a write only in a cluster with many nodes, and only if the write arrives before
 * kube-scheduler tries the member. So muster does not steer a member that is filtered soon.
 */
#ifndef MUSTER_GANG_LIFECYCLE_STEERING_H
#define MUSTER_GANG_LIFECYCLE_STEERING_H

#include "gang/cluster/lookup.h"

/* The member has got a slot. Wakes the member if it sleeps, or else steers it later if that helps.
 */
void steer(struct gang_core *core, struct pod *pod);
/* Steers the members that are due. */
void steer_unasked(struct gang_core *core);

#endif
