/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preemption.h - finds victims (victims.h) whose eviction makes room for a gang at a low cost, see
 * struct eviction_cost.
 *
 *   1. If the gang fits once all Terminating pods are gone and the plans that it may take are
 *      dropped (trial_without_leaving()), nothing has to be evicted.
 *   2. The gang must fit when all candidates are removed; otherwise no set is enough. The search
 *      finds the lowest priority such that removing all candidates up to this priority is enough,
 *      if minimums, disruption budgets and what queues deserve are ignored. At first, it considers
 *      only these candidates. If all candidates together have more than 4096 pods, it skips this
 *      step and first considers the candidates of the lowest priority.
 *   3. It makes room node by node. On each node, it looks for the victims with the best ratio of
 *      members that get room to gangs and ordinary pods that are hit. The best node comes first,
 *      until there is room for the missing members. Then the planner tries again. If a limit of the
 *      queue is in the way, the victim that frees the most of the missing amount comes first.
 *   4. It puts back each victim that turns out not to be needed, the most costly first.
 *   5. If it considers at most 12 candidates, it tries all cheaper sets, the cheapest first.
 *
 * If step 3 finds no set and at most 12 candidates are considered, the search tries all sets of
 * them. If it still has no set, it also considers the candidates of the next priority.
 *
 * A gang is hit if it, or one of its members, is in the set. The planner itself checks each set, so
 * a result obeys all its rules. The search is deterministic: it depends on the facts, on core->now
 * and on the limit of work, and not on how fast the machine is. If the work is used up, the best
 * set so far is the result.
 */
#ifndef MUSTER_GANG_PLAN_PREEMPTION_H
#define MUSTER_GANG_PLAN_PREEMPTION_H

#include "gang/plan/eviction_cost.h"
#include "gang/plan/keep_room.h"
#include "gang/plan/victims.h"

enum preemption_result {
    PREEMPTION_FOUND,   /* `victims` are enough */
    PREEMPTION_LEAVING, /* nothing has to be evicted: see trial_without_leaving() */
    PREEMPTION_NONE,    /* no set of victims is enough, or there are no victims */
    PREEMPTION_UNKNOWN, /* the work was used up before a set was found that has none too many */
};

struct preemption {
    enum preemption_result result;
    bool complete;     /* all gangs and pods were looked at */
    int32_t lowest;    /* with `complete`: the lowest priority of a gang or pod that uses room */
    bool may_hit_some; /* there are victims, or something it may hit is leaving or has slots */
    /* The first disruption budget that protected a pod, see budget_in_the_way(); NULL: none. */
    const struct gang_budget_facts *in_the_way;
    /* The queue that the limit on reclaim protects, and until when, see struct victims; NULL: none.
     */
    const struct queue *resting;
    usec_t rests_until;
    const struct queue *deserving; /* see struct victims; NULL: none */
    /* Only with PREEMPTION_FOUND: */
    struct victim *victims; /* in the order of struct victims */
    size_t n;
    struct eviction_cost cost;
    struct places places; /* of preemption_check(): where the gang has room without them */
};

/* Whether more room might help a gang that waits for this reason. */
bool evictions_may_help(enum gang_reason_code code);
/* Searches for room for the gang, which must have no slots. Deducts its work from *work_left, in
 * scanned nodes; the rest may be negative. Leaves the core unchanged. No other trial may be open.
 * The result borrows gangs and pods from the core, so it is valid until the next step. The caller
 * frees it with preemption_done(). */
struct preemption preemption_search(struct gang_core *core, struct gang *gang, int64_t *work_left);
/* Checks the victims that an earlier step decided on (gang->preempting.decision).
 *   FOUND: those that are still candidates are enough together. It leaves out those that are not
 *     needed any more, and sets `places`.
 *   LEAVING: nothing has to be evicted any more.
 *   NONE: no victim is a candidate any more.
 *   UNKNOWN: the candidates that are left are not enough, or the work was used up. */
struct preemption preemption_check(struct gang_core *core, struct gang *gang, int64_t *work_left);
void preemption_done(struct gang_core *core, struct preemption *preemption);

#endif
