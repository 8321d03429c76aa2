/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.h - wakes unschedulable pods, by nominating them.
 *
 * A pod that filter refused stays in kube-scheduler's unschedulable pool until a cluster event
 * moves it. A plan or the end of a reservation is no such event; a write to the pod is, so muster
 * writes its nomination (nominations.c).
 */
#ifndef MUSTER_GANG_LIFECYCLE_WAKE_H
#define MUSTER_GANG_LIFECYCLE_WAKE_H

#include "gang/cluster/lookup.h"

/* Wakes pods that reservations blocked, as many as there is room for now. */
void wake_blocked(struct gang_core *core);
/* Filter was called for the pod, or its Binding is sent: it need not be woken again. */
void woken_end(struct pod *pod);
void wake_timer_fired(struct gang_core *core);
void wake_write_timer_fired(struct gang_core *core, struct pod *pod);

#endif
