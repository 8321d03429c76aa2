/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_gangs.h - marks on changed gangs, for the later parts of the step.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_GANGS_H
#define MUSTER_GANG_CLUSTER_DIRTY_GANGS_H

#include "gang/cluster/lookup.h"

/* The gang changed: it will be reconciled, planned if needed, and reported. */
void gang_touch(struct gang_core *core, struct gang *gang);
/* The gang is reconciled with the facts. */
void gang_reconciled(struct gang *gang);
/* The next planning pass tries the gang even if no room grew. */
void gang_plan_again(struct gang *gang);
void gang_plan_begins(struct gang *gang);
/* Its plan failed with this version of the signature's cached shortage, for `want` members;
 * signature NULL: unknown. Holds until the gang is touched. */
void gang_has_known_shortage(struct gang *gang, const struct signature *signature, uint64_t version,
                             int want);

/* Takes the next touched gang; NULL: none. */
struct gang *touched_take(struct gang_core *core);
/* The gang counts as touched again after the next touched_return(). */
void touched_later(struct gang_core *core, struct gang *gang);
void touched_return(struct gang_core *core);

/* The gang's place in the order may change. */
void mark_order_changed(struct gang_core *core, struct gang *gang);
/* Takes the next such gang; NULL: none. */
struct gang *order_changed_take(struct gang_core *core);

/* Notes a trigger of gang/state_table.h; call before anything changes by it. */
void triggered(struct gang_core *core, struct gang *gang, enum gang_trigger what);
/* Call at a gang's first trigger or change of state in a step. */
void trigger_begin(struct gang_core *core, struct gang *gang);

#endif
