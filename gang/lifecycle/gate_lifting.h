/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_lifting.h - when muster removes its own scheduling gate (GANG_GATE) from pods.
 *
 * kube-scheduler does not try a gated pod, so a backlog of gangs costs it nothing. A gate can be
 * set only when a pod is created, so removing it is final: a member that loses its slot later is
 * refused by filter like any other. The gate is removed
 *   - when the member gets a slot, together with its nomination;
 *   - when the gang is placed: extras are scheduled one by one;
 *   - from pods that muster does not plan: those without a PodGroup, and of other schedulers;
 *   - from gangs that lack room, so that an autoscaler sees them, a bounded number at a time;
 *   - from all pods, when gates are off.
 * Pods that keep the gate get a condition with the reason, see emit_member_reasons(). muster
 * repeats the write until the watch shows it, so a restart needs no saved state.
 */
#ifndef MUSTER_GANG_LIFECYCLE_GATE_LIFTING_H
#define MUSTER_GANG_LIFECYCLE_GATE_LIFTING_H

#include "gang/cluster/lookup.h"

/* The pod's gate is to be removed. */
bool gate_opens(const struct gang_core *core, const struct pod *pod);
/* Ungrouped pods: removes their gates, or has the reason reported. Call it only when the step has
 * taken all facts: a later one may make the pod a member. */
void gates_of_ungrouped(struct gang_core *core);
/* The same for the members of a gang that changed; after gang_count(). */
void gates_of(struct gang_core *core, struct gang *gang);
void gate_timer_fired(struct gang_core *core, struct pod *pod);
/* Notes why the gang could not be planned; REASON_NONE: it was. */
void gates_note(struct gang_core *core, struct gang *gang, enum gang_reason_code code);
/* Ungates gangs that lack room, so that an autoscaler sees their members. */
void gates_show(struct gang_core *core);

#endif
