/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_lifting.h - when muster removes its own scheduling gate (GANG_GATE) from pods.
 *
 * kube-scheduler does not try gated pods, so a backlog of gated gangs costs it nothing. A gate can
 * be set only when a pod is created, so its removal is final. If a member loses its slot later,
 * filter refuses it like any other member. muster removes the gate
 *   - when the member gets a slot, together with a nomination;
 *   - when the gang is placed and the queue has room for the member: extras are scheduled one by
 *     one;
 *   - of pods that muster does not plan: ordinary pods, and pods of other schedulers;
 *   - of gangs that lack only room, so that an autoscaler sees their pods; their number is bounded;
 *   - of all pods, if config.gates is off.
 * Pods that keep the gate get a condition with the reason, see emit_member_reasons(). muster
 * repeats a removal until the watch shows it. So it works after a restart too, without stored
 * state.
 */
#ifndef MUSTER_GANG_LIFECYCLE_GATE_LIFTING_H
#define MUSTER_GANG_LIFECYCLE_GATE_LIFTING_H

#include "gang/cluster/lookup.h"

/* Whether the pod's gate must be removed. Does not check the limits of its queue, which may keep
 * the gate of a later member. */
bool gate_opens(const struct gang_core *core, const struct pod *pod);
/* Removes the gates of marked ordinary pods (gate_touch()), or reports why they wait. Call it after
 * the step has taken all facts, because a later fact may make the pod a member. */
void gates_of_ungrouped(struct gang_core *core);
/* The same for the members of a gang that has changed. Call gang_count() before. */
void gates_of(struct gang_core *core, struct gang *gang);
/* Removes the gate of a later member, even if members without a gate still wait before it. */
void gate_open_later(struct gang_core *core, struct pod *pod);
void gate_timer_fired(struct gang_core *core, struct pod *pod);
/* Notes the reason code with which planning the gang has failed; REASON_NONE: it has succeeded. */
void gates_note(struct gang_core *core, struct gang *gang, enum gang_reason_code code);
/* Removes the gates of gangs that lack only room, so that an autoscaler sees their members. */
void gates_show(struct gang_core *core);

#endif
