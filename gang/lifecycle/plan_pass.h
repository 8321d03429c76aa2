/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_pass.h - plans the gangs that are due and reports the results.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PLAN_PASS_H
#define MUSTER_GANG_LIFECYCLE_PLAN_PASS_H

#include "gang/cluster/lookup.h"

/* Plans every gang that may have become feasible, in order. */
void plan_pass(struct gang_core *core);

#endif
