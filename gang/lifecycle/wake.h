/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.h - pods that sleep are woken, members are steered.
 *
 * A pod that filter rejected sleeps until some cluster event, and neither a plan nor the end of a
 * reservation is one: a write to the pod is, its nomination (nominations.c).
 *
 * A pod that is nominated is tried on that node alone, so kube-scheduler looks at one node instead
 * of some hundreds. That is worth a write only if there are many, and if it comes before
 * kube-scheduler asks: what is asked about soon is not steered.
 */
#ifndef MUSTER_GANG_LIFECYCLE_WAKE_H
#define MUSTER_GANG_LIFECYCLE_WAKE_H

#include "gang/cluster/lookup.h"

/* The member has got a place: it is woken, or steered there, if that helps. */
void steer(struct gang_core *core, struct pod *pod);
/* Nominates the members that are to be steered by now. */
void steer_unasked(struct gang_core *core);
void wake_blocked(struct gang_core *core);
/* Filter was asked about it, or it is on its way: it need not be woken again. */
void woken_end(struct pod *pod);
void wake_timer_fired(struct gang_core *core);
void wake_write_timer_fired(struct gang_core *core, struct pod *pod);

#endif
