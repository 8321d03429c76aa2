/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_gangs.h - what changed about a gang, for those who look at it later in the step.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_GANGS_H
#define MUSTER_GANG_CLUSTER_DIRTY_GANGS_H

#include "gang/cluster/objects.h"

/* Something about the gang changed: it is reviewed, planned if need be, and told about. */
void gang_touch(struct gang_core *core, struct gang *gang);
/* Its review is done: it is in line with the facts. */
void gang_reviewed(struct gang *gang);
/* The pass that follows plans it, whatever the ledger says. */
void gang_plan_again(struct gang *gang);
void gang_plan_begins(struct gang *gang);
/* Its plan failed for what the shape's fill says in that version, for so many members; shape NULL:
 * that is not known. Until it is touched. */
void gang_is_full(struct gang *gang, const struct shape *shape, uint64_t version, int want);

/* The next of those that were touched, which counts as such no more; NULL: there is none. */
struct gang *touched_take(struct gang_core *core);
/* It counts again with the next touched_return(). */
void touched_later(struct gang_core *core, struct gang *gang);
void touched_return(struct gang_core *core);

/* Its place in the order may be another. */
void order_note(struct gang_core *core, struct gang *gang);
/* The next of those; NULL: there is none. */
struct gang *noted_take(struct gang_core *core);

/* To be called before anything changes by it, see gang/state_table.h. */
void happened(struct gang_core *core, struct gang *gang, enum gang_happening what);
/* The first happening, or change of state, of a gang in a step. */
void happening_begin(struct gang_core *core, struct gang *gang);

#endif
