/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_work.h - the work of a step so far, in scanned nodes (about 0.2 us each). A scan that
 * evaluates long rules counts more.
 *
 * When the work reaches config.plan_work, the step defers the gangs that it may defer (plan_defer()
 * in plan/plan_gang.h). Changes of the tree of queues are work too, and so are moves of gangs and
 * pods to other queues, moves of gangs in the order, and the computation of fair shares. So less
 * work is left for planning. The core calls this; one thread.
 */
#ifndef MUSTER_GANG_CLUSTER_STEP_WORK_H
#define MUSTER_GANG_CLUSTER_STEP_WORK_H

#include "gang/cluster/lookup.h"

/* Sets core->work to 0. Call it at the beginning of a step. */
void step_work_begin(struct gang_core *core);
void step_work_spend(struct gang_core *core, int64_t work);

#endif
