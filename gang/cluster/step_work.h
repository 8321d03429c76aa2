/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_work.h - how much a step has worked so far, in scanned nodes (about 0.2 us each), weighted
 * by the length of the rules.
 *
 * When the work reaches config.plan_work, the step plans no more gangs (plan_defer() in
 * plan/plan_gang.h). Moving gangs and pods to other queues, and gangs in the order, counts too, so
 * that less is left for planning. The core calls this; one thread.
 */
#ifndef MUSTER_GANG_CLUSTER_STEP_WORK_H
#define MUSTER_GANG_CLUSTER_STEP_WORK_H

#include "gang/cluster/lookup.h"

/* Sets core->work to 0. Call it at the beginning of a step. */
void step_work_begin(struct gang_core *core);
void step_work_spend(struct gang_core *core, int64_t work);

#endif
