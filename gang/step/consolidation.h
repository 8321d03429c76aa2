/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consolidation.h - which running pods would have to move to other nodes so that a waiting gang
 * fits. It is only advice: muster moves nothing.
 *
 * The moves happen one after the other. The controller of a pod replaces it, and the replacement
 * finds room on its new node before the old pod is gone. These can move:
 *
 *   - an ordinary pod, or a member without which its gang keeps its minimums;
 *   - a whole gang. All its pods restart, and only those that are in the way get other nodes.
 *
 * These stay: what muster never evicts (victims.h), gangs that are not completely running, and pods
 * with rules that only kube-scheduler evaluates. Priorities do not matter, because nothing is lost.
 *
 *   1. The planner tries to place the gang. The culprit of its shortage needs room.
 *   2. Nodes are compared on which the culprit lacks least. On each node, the pods are chosen that
 *      free most for each pod that restarts. Each moves to the best node that has room for it, that
 *      passes its rules, and that keeps its room for members like the culprit.
 *   3. The node on which the fewest pods restart wins. Then the planner tries again.
 *
 * If disruption budgets are in the way, the search is repeated without them. So a budget is only
 * named if the moves would be enough without it. The search is deterministic, like the one for
 * victims (preemption.h). It may miss moves.
 */
#ifndef MUSTER_GANG_STEP_CONSOLIDATION_H
#define MUSTER_GANG_STEP_CONSOLIDATION_H

#include "gang/cluster/lookup.h"

struct consolidation {
    /* GANG_YES: after the moves, the gang fits. GANG_NOT_ASKED: the work was used up. */
    enum gang_answer room;
    struct consolidation_move {
        struct gang *gang; /* NULL: an ordinary pod */
        struct pod *pod;   /* NULL: pods of a whole gang */
        struct node *from, *to;
        int pods;     /* how many pods move */
        int restarts; /* how many pods restart, on all nodes */
    } * moves;        /* in their order */
    size_t n;
    /* With GANG_NO: the moves would be enough if this budget did not forbid one; NULL: there are no
     * moves. Its name is NULL if several budgets cover the pod. */
    const struct gang_budget_facts *in_the_way;
};

/* Searches for moves that make room for the gang, which must have no slots. Deducts its work from
 * *work_left, in scanned nodes; the rest may be negative. Leaves the core unchanged. No other trial
 * may be open. The result borrows from the core, so it is valid until the next step. The caller
 * frees it with consolidation_done(). */
struct consolidation consolidation_search(struct gang_core *core, struct gang *gang,
                                          int64_t *work_left);
void consolidation_done(struct consolidation *consolidation);

#endif
