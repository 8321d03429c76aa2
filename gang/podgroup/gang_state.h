/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_state.h - the state of a gang, and the list of open gangs (core->open).
 *
 * reconcile(), timers, planning and commits change the state, always through gang_enter(). The
 * trigger has been noted before (triggered()), so that each step can be checked against
 * gang/state_table.h. Other files report here what they find out about the gang.
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_STATE_H
#define MUSTER_GANG_PODGROUP_GANG_STATE_H

#include "gang/cluster/lookup.h"

/* Adds the gang to core->open or removes it, according to its state. */
void gang_state_queue(struct gang_core *core, struct gang *gang);
/* Changes the state, and touches the gang. */
void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state);
/* Sets whether the gang has been Scheduled in this run of its pods. A new run begins when no member
 * is bound, or with a new PodGroup object. */
void gang_scheduled_once(struct gang *gang, bool was);
/* Sets whether the gang's last attempt timed out. */
void gang_timed_out(struct gang *gang, bool did);
/* Sets whether filter refused later members, because of the maximum or while they were in another
 * gang. */
void gang_capped(struct gang *gang, bool is);
/* The gang may be below its minimum because of this, such as "kube-scheduler preempted member m-3".
 * Copies the text. Accepts NULL. */
void gang_broken_by(struct gang *gang, const char *what);
/* Takes this text. The caller frees it. NULL: nothing. */
char *gang_broken_take(struct gang *gang);
/* The state that the gang enters when it loses its plan. */
enum gang_state gang_without_plan(const struct gang *gang);
/* Releases all slots of the gang. Held bind calls are answered with the sentence of the code, or
 * with the gang's own reason if the code has none (REASON_NONE). */
void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

#endif
