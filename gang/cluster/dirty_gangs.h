/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty_gangs.h - what changed about a gang, for those who look at it later in the step.
 */
#ifndef MUSTER_GANG_CLUSTER_DIRTY_GANGS_H
#define MUSTER_GANG_CLUSTER_DIRTY_GANGS_H

#include "gang/cluster/objects.h"

/* Something about the gang changed: it is reviewed, planned if need be, and told about. */
void gang_touch(struct gang_core *core, struct gang *gang);
/* Its place in the order may be another. */
void order_note(struct gang_core *core, struct gang *gang);
/* To be called before anything changes by it, see gang/state_table.h. */
void happened(struct gang_core *core, struct gang *gang, enum gang_happening what);
/* The first happening, or change of state, of a gang in a step. */
void happening_begin(struct gang_core *core, struct gang *gang);

#endif
