/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_gang.h - which gangs are planned, in which order, and how one gang is planned.
 *
 * A gang is planned again if capacity grew on some node since it last failed (core->marks.freed),
 * or if the gang itself changed (gang->marks.retry).
 */
#ifndef MUSTER_GANG_PLAN_PLAN_GANG_H
#define MUSTER_GANG_PLAN_PLAN_GANG_H

#include "gang/cluster/lookup.h"
#include "gang/plan/min_resources_check.h"

/* The result of planning a gang. */
struct outcome {
    enum {
        PLAN_UNTRIED, /* too few members are plannable */
        PLAN_STANDS,  /* the plan is complete and unchanged */
        PLAN_MADE,    /* slots were added */
        PLAN_FAILED,
    } result;
    enum gang_reason_code code; /* PLAN_FAILED: why; REASON_NONE: no reason to report */
    struct shortage shortage;
    struct min_short below;
};
/* Completes the gang's plan, or drops it. */
struct outcome plan_gang(struct gang_core *core, struct gang *gang);
/* After the failure was reported: sets or ends the gang's earmark. */
void plan_failure_emitted(struct gang_core *core, struct gang *gang, const struct outcome *o);
/* The gang would fail again for the same reason, as the shortage cache shows; nothing is tried. */
bool plan_still_fails(struct gang_core *core, struct gang *gang);
/* Plans the gang no earlier than when room grows. `had_room`: not even then, since the gang did not
 * lack room. */
void plan_not_due(const struct gang_core *core, struct gang *gang, bool had_room);
/* Gangs to be planned, each once. */
struct due {
    struct gang **items;
    size_t n, cap;
};
/* Gangs that may have become feasible, in order. The caller frees items. */
void plans_due(struct gang_core *core, struct due *due);
/* True: this step has used up its work, and the gang is left for a later one. */
bool plan_defer(struct gang_core *core, const struct gang *gang);
/* The gang is due and was left for a later step. */
bool plan_is_deferred(const struct gang_core *core, const struct gang *gang);

#endif
