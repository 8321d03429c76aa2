/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_gate.h - muster's own scheduling gate on a pod, as the watch shows it. gate_lifting.c decides
 * when muster lifts it.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_GATE_H
#define MUSTER_GANG_CLUSTER_POD_GATE_H

#include "gang/cluster/lookup.h"

/* Call with new facts of a pod: whether it was gated and is gated. */
void gate_seen(struct gang_core *core, struct pod *pod, bool was, bool is);
/* A request to lift the gate was sent; if the gate stays for a while, it is checked again. */
void gate_asked(struct gang_core *core, struct pod *pod);
/* Marks a pod without a gang for gates_of_ungrouped(). */
void gate_touch(struct gang_core *core, struct pod *pod);
/* Takes the next pod without a gang whose gate must be checked; NULL: none. */
struct pod *ungrouped_take(struct gang_core *core);

#endif
