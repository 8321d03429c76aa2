/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.h - wakes blocked pods by nominating them.
 *
 * A pod that filter refused sleeps in kube-scheduler's queue until a cluster event wakes it. The
 * end of a reservation is not a cluster event, but a write to the pod is. So muster nominates the
 * pod to a node where it fits now (nominations.h).
 */
#ifndef MUSTER_GANG_LIFECYCLE_WAKE_H
#define MUSTER_GANG_LIFECYCLE_WAKE_H

#include "gang/cluster/lookup.h"

/* Wakes as many blocked pods as there is room for now, within the limits of a step. */
void wake_blocked(struct gang_core *core);
/* The pod is awake: filter was called for it, or its Binding is sent. */
void woken_end(struct pod *pod);
/* Checks the pods that were woken (TIMER_WAKE). */
void wake_timer_fired(struct gang_core *core);
/* Repeats a wake write (TIMER_WAKE_WRITE). */
void wake_write_timer_fired(struct gang_core *core, struct pod *pod);

#endif
