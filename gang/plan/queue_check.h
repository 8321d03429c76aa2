/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_check.h - whether the gang's queue has room for all members that it needs.
 *
 * The check comes before any node is scanned, so that a gang which its queue stops is not reported
 * as one that lacks nodes. If the gang can choose among members of different sizes, the check
 * decides nothing: smaller members may fit. Then each slot is checked when it is reserved. If all
 * members are alike and fit together, the slots are not checked again.
 */
#ifndef MUSTER_GANG_PLAN_QUEUE_CHECK_H
#define MUSTER_GANG_PLAN_QUEUE_CHECK_H

#include "gang/plan/placement_try.h"
#include "gang/queue/reclaim.h"

/* The queue lacks room for the `want` members that the chosen units want, whichever these are; sets
 * *ret. */
bool queue_lacks_room(struct gang_core *core, struct placement_try *p, int want,
                      struct shortage *ret);
/* The same for one more member; notes it in p->queue. */
bool queue_stops(struct gang_core *core, struct placement_try *p,
                 const struct signature *signature);
/* The gang has a plan, and its queue uses more than a limit: limits were lowered, or the gang came
 * from another queue. */
bool plan_exceeds_queue(const struct gang_core *core, const struct gang *gang);
/* Whether a limit of its queue leaves too little for the part of the gang's preempted room that
 * does not count there yet; sets *ret. */
bool room_exceeds_queue(struct gang_core *core, const struct gang *gang, struct queue_short *ret);
/* The gang would fit in its queue's fair share: queues above theirs must not take the room that it
 * waits for. */
bool queue_owes_room(struct gang_core *core, const struct gang *gang);
/* The highest queue up to which the gang's queues deserve what it needs, see queue_entitled();
 * NULL: none. Sets the resources that count. The gang's members have been counted. */
const struct queue *gang_entitled(struct gang_core *core, const struct gang *gang,
                                  struct reclaimed *ret_what);
/* Whatever else the gang waits for, its queue refuses it, or lacks room even for the needed number
 * of members that need least. The gang's members have been counted. */
bool queue_keeps_waiting(struct gang_core *core, const struct gang *gang);
/* Counts what these members need as used, until it is called again with sign -1. In a trial. The
 * gang's members have been counted. */
void queue_pretend_planned(struct gang_core *core, const struct gang *gang, int sign);
/* The gang failed because of its queue, which has had no more room since; nothing is tried. */
bool queue_still_stops(const struct gang_core *core, const struct gang *gang);

#endif
