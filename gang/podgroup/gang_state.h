/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_state.h - the state that a gang is in, and the end of its plan.
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_STATE_H
#define MUSTER_GANG_PODGROUP_GANG_STATE_H

#include "gang/cluster/lookup.h"

/* Its state is another: core->open follows. */
void gang_state_queue(struct gang_core *core, struct gang *gang);
void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state);
/* It was placed in this run. */
void gang_scheduled_once(struct gang *gang, bool was);
/* Its last attempt had no success in its time. */
void gang_timed_out(struct gang *gang, bool did);
/* Later members were refused, by the maximum or in another gang. */
void gang_capped(struct gang *gang, bool is);
/* Where a gang goes whose plan is gone. */
enum gang_state gang_without_plan(const struct gang *gang);
/* Undoes the plan as a whole; held calls are answered with the code's sentence. */
void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

#endif
