/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_gangs.h - what changed about a gang, for those who look at it later in the step.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_GANGS_H
#define MUSTER_GANG_CLUSTER_DIRTY_GANGS_H

#include "gang/cluster/lookup.h"

/* Something about the gang changed: it is reviewed, planned if need be, and told about. */
void gang_touch(struct gang_core *core, struct gang *gang);
/* Its reconcile is done: it is in line with the facts. */
void gang_reconciled(struct gang *gang);
/* The pass that follows plans it, whatever the ledger says. */
void gang_plan_again(struct gang *gang);
void gang_plan_begins(struct gang *gang);
/* Its plan failed for what the signature's fill says in that version, for so many members;
 * signature NULL: that is not known. Until it is touched. */
void gang_has_known_shortage(struct gang *gang, const struct signature *signature, uint64_t version,
                             int want);

/* The next of those that were touched, which counts as such no more; NULL: there is none. */
struct gang *touched_take(struct gang_core *core);
/* It counts again with the next touched_return(). */
void touched_later(struct gang_core *core, struct gang *gang);
void touched_return(struct gang_core *core);

/* Its place in the order may be another. */
void mark_order_changed(struct gang_core *core, struct gang *gang);
/* The next of those; NULL: there is none. */
struct gang *order_changed_take(struct gang_core *core);

/* To be called before anything changes by it, see gang/state_table.h. */
void triggered(struct gang_core *core, struct gang *gang, enum gang_trigger what);
/* The first happening, or change of state, of a gang in a step. */
void trigger_begin(struct gang_core *core, struct gang *gang);

#endif
