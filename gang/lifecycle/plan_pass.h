/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_pass.h - plans the gangs that are due, and reports the results.
 *
 * plan/ only returns results. This file turns them into states, reasons and events, steers the
 * members, and lets gangs without room preempt others. Only the step calls it, after it has
 * reconciled the gangs that changed. Other files mark what has to be planned (dirty_gangs.h,
 * dirty_nodes.h).
 */
#ifndef MUSTER_GANG_LIFECYCLE_PLAN_PASS_H
#define MUSTER_GANG_LIFECYCLE_PLAN_PASS_H

#include "gang/cluster/lookup.h"

/* Plans the gangs that are due, in their order. The rest may be deferred, see plan_defer(). */
void plan_pass(struct gang_core *core);

#endif
