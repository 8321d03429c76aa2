/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_priority.h - a gang's priority, from those of its PodGroups, PriorityClasses and members.
 *
 * Pure functions on the cluster cache. reconcile.c keeps the results; gang_order.c compares them.
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_PRIORITY_H
#define MUSTER_GANG_PODGROUP_GANG_PRIORITY_H

#include "gang/cluster/core.h"

/* The priority that the gang's PodGroups ask for. */
int32_t gang_own_priority(const struct gang_core *core, const struct gang *gang);
/* The same, capped at the priority of the gang's lowest member. */
int32_t gang_pod_priority(const struct gang_core *core, const struct gang *gang);

#endif
