/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_gate.h - muster's own scheduling gate on pods, as the watch shows it. gate_lifting.c decides
 * when muster removes a gate.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_GATE_H
#define MUSTER_GANG_CLUSTER_POD_GATE_H

#include "gang/cluster/lookup.h"

/* Call it with new facts of a pod. was, is: whether the pod had the gate before, and has it now. */
void gate_seen(struct gang_core *core, struct pod *pod, bool was, bool is);
/* muster requested the removal of the gate. TIMER_GATE fires if the watch does not show it. */
void gate_asked(struct gang_core *core, struct pod *pod);
/* Marks an ordinary pod with the gate, or without a PodGroup yet, for gates_of_ungrouped(). */
void gate_touch(struct gang_core *core, struct pod *pod);
/* Takes the next marked pod; NULL: none. */
struct pod *ungrouped_take(struct gang_core *core);

#endif
