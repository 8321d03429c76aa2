/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_try.h - the state of one try to place a gang. These files share it:
 *
 *   placement.c        finds nodes for members
 *   subgroup_choice.c  chooses the units that must meet their minimums
 *   shortage.c         finds out why a member has no node
 *   shortage_cache.c   reuses a shortage for gangs with equal members
 *   queue_check.c     checks what the gang's queue has left
 *
 * It is on the stack of place_gang() and the like, and belongs to the caller's trial.
 */
#ifndef MUSTER_GANG_PLAN_PLACEMENT_TRY_H
#define MUSTER_GANG_PLAN_PLACEMENT_TRY_H

#include "gang/cluster/trial.h"
#include "gang/plan/node_queue.h"

struct placement_try {
    struct gang *gang;
    struct trial *trial;
    struct trial_mark begin; /* the slots after this mark are those of this try */
    bool what_if;            /* do not cache the result */
    int64_t most_work;       /* of core->work; then the try stops */
    size_t tried;            /* how many members were tried, again for each choice of units */
    bool extras;             /* the needed members have slots; the others are placed now */
    struct pod **pods;       /* members without a slot, ordered by by_placement() */
    size_t n;
    const struct pod *culprit;      /* the first member for which no node was found */
    struct queue_short queue_short; /* the gang's queue stopped a member; queue NULL: it did not */
    bool queue_fits;                /* the queue has room for all needed members together */
    struct queue_short queue_all;   /* the same for the members that would be tried first */
    struct node_queue queue;        /* for the signature that is being placed */
};

/* Whether all members without a slot have one signature. */
static inline bool one_signature(const struct placement_try *p)
{
    for (size_t i = 1; i < p->n; i++)
        if (p->pods[i]->signature != p->pods[0]->signature)
            return false;
    return true;
}

#endif
