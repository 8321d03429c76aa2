/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_gate.h - muster's own scheduling gate on a pod, as the watch shows it. gate_lifting.c decides
 * when it is lifted.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_GATE_H
#define MUSTER_GANG_CLUSTER_POD_GATE_H

#include "gang/cluster/lookup.h"

/* To be called when the facts of a pod came: `was`, `is` gated. */
void gate_seen(struct gang_core *core, struct pod *pod, bool was, bool is);
/* The gate was asked to be lifted: if it is still there after a while, it is looked at again. */
void gate_asked(struct gang_core *core, struct pod *pod);
/* Notes a pod of no gang for gates_of_ungrouped(). */
void gate_touch(struct gang_core *core, struct pod *pod);
/* The next pod of no gang whose gate is to be looked at; NULL: there is none. */
struct pod *ungrouped_take(struct gang_core *core);

#endif
