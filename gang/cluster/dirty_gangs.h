/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_gangs.h - marks on changed gangs. Later parts of the step read the marks.
 *
 * A file that changes something about a gang marks it, instead of calling the rooms that act on
 * this. The step then reconciles the gangs that are marked, plans those that are due, and reports
 * all of them at its end.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_GANGS_H
#define MUSTER_GANG_CLUSTER_DIRTY_GANGS_H

#include "gang/cluster/lookup.h"

/* The gang changed. The step then reconciles it, plans it if needed, and reports it. */
void gang_touch(struct gang_core *core, struct gang *gang);
/* The same if only its reason changed: what it needs is as before. */
void gang_report(struct gang_core *core, struct gang *gang);
/* The gang has been reconciled. */
void gang_reconciled(struct gang *gang);
/* The next planning pass plans the gang even if no room grew. */
void gang_plan_again(struct gang *gang);
/* Its queue, or limits there, changed; and whether this is so since it was last asked. */
void gang_requeued(struct gang *gang);
bool gang_was_requeued(struct gang *gang);
void gang_plan_begins(struct gang *gang);
/* Planning the gang failed: this version of the signature's cached shortage explains it, for `want`
 * members. signature NULL: no cached shortage explains it. Valid until the gang is touched. */
void gang_has_known_shortage(struct gang *gang, const struct signature *signature, uint64_t version,
                             int want);

/* Its plan failed because its queue has no room. Holds until the gang is touched. */
void gang_stopped_by_queue(struct gang *gang);

/* Takes the next touched gang; NULL: none. */
struct gang *touched_take(struct gang_core *core);
/* Reports the gang in a later step: touched_return() makes it a touched gang again. */
void touched_later(struct gang_core *core, struct gang *gang);
void touched_return(struct gang_core *core);

/* Something changed that gang_count() reads: the gang's members, their states, its slots or units.
 * Call it after the change. */
void gang_recount(struct gang *gang);
/* The same for the gang of the pod, if it has one. */
void pod_recount(struct pod *pod);

/* The gang's position in the order may have changed. */
void mark_order_changed(struct gang_core *core, struct gang *gang);
/* Takes the next such gang; NULL: none. */
struct gang *order_changed_take(struct gang_core *core);

/* Notes a trigger of gang/state_table.h. Call it before the trigger changes anything. */
void triggered(struct gang_core *core, struct gang *gang, enum gang_trigger what);
/* Notes the gang's state before the step. Call it before each change of the state. */
void trigger_begin(struct gang_core *core, struct gang *gang);

#endif
