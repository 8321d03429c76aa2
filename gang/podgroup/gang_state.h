/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_state.h - changes of a gang's state, and dropping its plan.
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_STATE_H
#define MUSTER_GANG_PODGROUP_GANG_STATE_H

#include "gang/cluster/lookup.h"

/* Puts the gang into core->open or removes it, as its state requires. */
void gang_state_queue(struct gang_core *core, struct gang *gang);
void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state);
/* The gang was Scheduled, or is Done, in this run of its pods. A new run begins when none of them
 * is bound, or with a new PodGroup object. */
void gang_scheduled_once(struct gang *gang, bool was);
/* The gang's last attempt timed out. */
void gang_timed_out(struct gang *gang, bool did);
/* Filter refused extra members: because of the maximum, or while they were in another gang. */
void gang_capped(struct gang *gang, bool is);
/* The state of a gang that has lost its plan. */
enum gang_state gang_without_plan(const struct gang *gang);
/* Releases all slots of the gang; held bind calls are answered with the text of the code. */
void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

#endif
