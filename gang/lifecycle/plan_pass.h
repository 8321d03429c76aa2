/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_pass.h - plans the gangs that are due and reports the results.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PLAN_PASS_H
#define MUSTER_GANG_LIFECYCLE_PLAN_PASS_H

#include "gang/cluster/lookup.h"

/* Plans the gangs that are due, in their order. The rest may be deferred, see plan_defer(). */
void plan_pass(struct gang_core *core);

#endif
