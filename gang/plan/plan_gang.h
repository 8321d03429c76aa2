/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - which gangs are tried, in which order, and how one is tried.
 *
 * What makes a gang be tried again: capacity grew somewhere since it last failed
 * (core->marks.freed), or something about the gang itself changed (gang->marks.retry).
 */
#ifndef MUSTER_GANG_PLAN_PLAN_GANG_H
#define MUSTER_GANG_PLAN_PLAN_GANG_H

#include "gang/cluster/lookup.h"

/* Of a PodGroup's minResources, what is not free; group NULL: all is. */
struct min_short {
    const struct group *group;
    const struct gang_amount *min;
    int64_t room;
    bool more; /* the members' shortage does not say it */
};
/* What came of a try. */
struct outcome {
    enum {
        PLAN_UNTRIED, /* too few members can be reached */
        PLAN_STANDS,  /* it has its places, as before */
        PLAN_MADE,    /* it has places that it did not have */
        PLAN_FAILED,
    } result;
    enum gang_reason_code code; /* FAILED: why; REASON_NONE: there is nothing to say */
    struct shortage shortage;
    struct min_short below;
};
/* Completes the gang's plan, or drops what there is of one. */
struct outcome plan_gang(struct gang_core *core, struct gang *gang);
/* After its words: room may be kept for the gang from now on. */
void plan_failure_emitted(struct gang_core *core, struct gang *gang, const struct outcome *o);
/* It failed, and nothing that another gang has found out since says that it would not again. */
bool plan_still_fails(struct gang_core *core, struct gang *gang);
/* It is not planned before room grows. Where it had its places it lacks no room, and no room that
 * grows ends its pause. */
void plan_not_due(const struct gang_core *core, struct gang *gang, bool had_room);
/* Gangs to be tried, each once. */
struct due {
    struct gang **items;
    size_t n, cap;
};
/* Those that may have become feasible, in order. Free items. */
void plans_due(struct gang_core *core, struct due *due);
/* The step has done its work: the gang's turn comes in a later one. */
bool plan_defer(struct gang_core *core, const struct gang *gang);
/* The gang is due, and its turn comes in a later step. */
bool plan_is_deferred(const struct gang_core *core, const struct gang *gang);

#endif
