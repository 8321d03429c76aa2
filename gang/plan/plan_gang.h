/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_gang.h - which gangs are planned, in which order, and how one gang is planned.
 *
 * After a failure, a gang is planned again if room grew on some node since then
 * (core->marks.freed), or if the gang itself changed (gang->marks.retry).
 */
#ifndef MUSTER_GANG_PLAN_PLAN_GANG_H
#define MUSTER_GANG_PLAN_PLAN_GANG_H

#include "gang/cluster/lookup.h"
#include "gang/plan/min_resources_check.h"

/* The result of planning a gang. */
struct outcome {
    enum {
        PLAN_UNTRIED, /* too few members are plannable, so planning was not tried */
        PLAN_STANDS,  /* the plan is complete, and no slot was added */
        PLAN_MADE,    /* slots were added */
        PLAN_FAILED,
    } result;
    enum gang_reason_code code;    /* of PLAN_FAILED; REASON_NONE: no reason to report */
    enum gang_reason_code refusal; /* its queue takes no gang; REASON_NONE: it does */
    struct shortage shortage;
    struct min_short below; /* minResources that are not free */
};
/* Completes the gang's plan. If this is not possible, drops the whole plan. */
struct outcome plan_gang(struct gang_core *core, struct gang *gang);
/* Gives the gang the earmark or ends it. Call it after the failure was reported. */
void plan_failure_emitted(struct gang_core *core, struct gang *gang, const struct outcome *o);
/* Whether the shortage cache shows that planning the gang would fail as before. If so, it counts as
 * a failed plan. */
bool plan_still_fails(struct gang_core *core, struct gang *gang);
/* The gang is not planned again before room grows, or before it changes itself. With `had_room`,
 * more room would not help, so it is planned again only after a change of its own. */
void plan_not_due(const struct gang_core *core, struct gang *gang, bool had_room);
/* Gangs that are due to be planned. */
struct due {
    struct gang **items;
    size_t n, cap;
};
/* Collects the gangs that are due. Gangs of one queue are in the order of gangs; queue_picks.h
 * orders the queues. Gangs with an unfinished commit come first. The caller frees due->items. */
void plans_due(struct gang_core *core, struct due *due);
/* Call it before a step plans. If other work has used up config.plan_work, the step plans only
 * gangs that cannot be deferred. It then does not sort the others. The next step plans at least one
 * of them. */
void plans_begin(struct gang_core *core);
/* Whether other work has used up this step, see plans_begin(). */
bool plans_wait(const struct gang_core *core);
/* Whether this step plans only gangs that cannot be deferred from now on: its work is used up, and
 * it has planned a gang that could be deferred, or plans_wait(). */
bool plan_is_full(const struct gang_core *core);
/* Defers the gang to a later step if plan_is_full(), or if this step is for gangs that the pass has
 * not tried yet, and it has tried this one. Gangs that have slots, or have just lost them, are
 * never deferred. True: it was deferred. */
bool plan_defer(struct gang_core *core, const struct gang *gang);
/* Whether the gang is due, and may have been deferred. */
bool plan_is_deferred(const struct gang_core *core, const struct gang *gang);

#endif
