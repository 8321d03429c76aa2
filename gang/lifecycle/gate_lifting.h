/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_lifting.h - muster's own scheduling gate on pods (GANG_GATE): when it is lifted.
 *
 * A pod with a gate does not exist for kube-scheduler, so a backlog of gangs costs it nothing. A
 * gate can be set when a pod is created only, so lifting it is for good: a member whose plan is
 * undone later is rejected like any other. It is lifted
 *   - when the member has a place in a plan, with its nomination;
 *   - when the gang is placed: later members pass one by one;
 *   - from pods that muster plans nothing for: those of no PodGroup, of other schedulers;
 *   - from gangs that lack room, if an autoscaler is to see them, so many at a time;
 *   - from all, when gates are off.
 * Whoever keeps it is told why, see emit_member_reasons(). What was asked for is asked for again
 * until the watch shows it, so nothing has to be remembered over a death.
 */
#ifndef MUSTER_GANG_LIFECYCLE_GATE_LIFTING_H
#define MUSTER_GANG_LIFECYCLE_GATE_LIFTING_H

#include "gang/cluster/lookup.h"

/* The pod need not (or must not) keep the gate any longer. */
bool gate_opens(const struct gang_core *core, const struct pod *pod);
/* Pods of no gang: lifts their gates, or sees to it that they are told why not. Only when a step
 * has taken all facts: a later one may make the pod a member. */
void gates_of_ungrouped(struct gang_core *core);
/* The same for the members of a gang about which something changed; after gang_count(). */
void gates_of(struct gang_core *core, struct gang *gang);
void gate_timer_fired(struct gang_core *core, struct pod *pod);
/* What the gang could not be planned for; REASON_NONE: nothing any more. */
void gates_note(struct gang_core *core, struct gang *gang, enum gang_reason_code code);
void gates_show(struct gang_core *core);

#endif
