/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_preemption.h - evicts gangs and pods to make room for a gang, by priority or by reclaim.
 *
 *   1. Planning the gang has failed. muster searches for the cheapest victims
 *      (gang/plan/preemption.h), at most once in a while for each gang.
 *   2. If there are some, muster notes them. A millisecond later, it checks them on newer facts.
 *   3. If they are still enough, muster begins to evict them, all in one step
 *      (gang/cluster/pod_eviction.h), and keeps the room of the gang's future plan
 *      (gang/cluster/preempted_room.h). A gang that is evicted as a whole is not Scheduled any
 *      more, so its replacements wait for each other.
 *   4. The gang waits until no pod is left that has to leave its room. Then it is planned like any
 *      other gang.
 *
 * If the room is not enough any more, because the facts have changed, the gang is planned again,
 * gets other room, or a new search begins. After a restart of muster, Terminating pods count as
 * evicted, so the room is kept again.
 */
#ifndef MUSTER_GANG_LIFECYCLE_GANG_PREEMPTION_H
#define MUSTER_GANG_LIFECYCLE_GANG_PREEMPTION_H

#include "gang/plan/keep_room.h"
#include "gang/plan/plan_gang.h"

/* If pods came that have a lower priority than all others, the waiting gangs that may evict them
 * are planned again. Call it before a planning pass. */
void preemption_notice(struct gang_core *core);
/* Whether the gang is not planned now, because evicted pods have not left its room yet. After a
 * change of the gang itself, and every few seconds, it is planned even then. */
bool gang_awaits_evicted(struct gang_core *core, struct gang *gang);
/* Planning the gang has failed. `had`: where muster has kept room for it until now. True: muster
 * keeps room for it now, so it waits for evicted pods; or it will evict others in a moment. */
bool gang_preempts(struct gang_core *core, struct gang *gang, const struct outcome *o,
                   const struct places *had);
/* Call it when the gang has got a plan. Protects a plan that takes room which was freed for another
 * gang: the replacements of the evicted pods cannot take this room. */
void preemption_planned(struct gang_core *core, struct gang *gang);
/* The gang is placed, or waits for a change of its own facts. */
void preemption_forget(struct gang_core *core, struct gang *gang);
/* The gang is Scheduled. Counts how long it has waited since muster evicted pods for it. */
void preemption_placed(struct gang_core *core, struct gang *gang);
/* The gang had a plan and was not placed, and this was not for lack of room. If pods were evicted
 * for it, it evicts no others for a while. Otherwise a gang whose Bindings are always refused would
 * evict others again and again. */
void preemption_unused(struct gang_core *core, struct gang *gang);

#endif
