/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preemption.h - finds the cheapest set of victims (victims.h) without which a gang has room.
 *
 *   1. If the gang fits once all Terminating pods are gone and plans of lower gangs are dropped,
 *      nothing is evicted.
 *   2. The gang must fit without any of the victims. The search then finds the lowest priority up
 *      to which victims are enough. No victim above it is considered any more.
 *   3. It makes room node by node: on each node, it looks for the victims that free room for the
 *      most members for each gang that is hit. The best node comes first. After each round, the
 *      planner tries to place the gang.
 *   4. It puts back each victim that turns out not to be needed, the most costly first.
 *   5. If there are few victims, it tries all cheaper sets, the cheapest first.
 *
 * Only the planner decides whether a set is enough, so all rules hold. The search is deterministic:
 * it depends on the facts and on the limit of work, and not on time. If the work is used up, the
 * best set so far is the result.
 */
#ifndef MUSTER_GANG_PLAN_PREEMPTION_H
#define MUSTER_GANG_PLAN_PREEMPTION_H

#include "gang/plan/victims.h"

enum preemption_result {
    PREEMPTION_FOUND,   /* `victims` are enough */
    PREEMPTION_LEAVING, /* nothing has to be evicted: see trial_without_leaving() */
    PREEMPTION_NONE,    /* no set of victims is enough */
    PREEMPTION_UNKNOWN, /* the work was used up before any set was found */
};

struct preemption {
    enum preemption_result result;
    bool proven; /* all cheaper sets were tried */
    struct victim *victims;
    size_t n;
    struct eviction_cost cost;
};

/* Searches for room for the gang, which has no plan. Deducts its work from *work_left, in scanned
 * nodes. The core is as before afterwards. The caller frees the result with preemption_done(). */
struct preemption preemption_search(struct gang_core *core, struct gang *gang, int64_t *work_left);
void preemption_done(struct preemption *preemption);

#endif
