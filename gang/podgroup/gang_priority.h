/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_priority.h - the priority of a gang, from its PodGroups, PriorityClasses and members.
 *
 * The functions only read the cluster cache. reconcile.c stores the results; gang_order.c compares
 * them.
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_PRIORITY_H
#define MUSTER_GANG_PODGROUP_GANG_PRIORITY_H

#include "gang/cluster/core.h"

/* The priority that the gang's PodGroups set, or else the highest priority of its members. */
int32_t gang_own_priority(const struct gang_core *core, const struct gang *gang);
/* The same, but at most the lowest priority of the gang's members. */
int32_t gang_pod_priority(const struct gang_core *core, const struct gang *gang);

#endif
