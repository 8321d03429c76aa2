/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_try.h - the state of one try to place a gang, shared by the files that make it:
 *
 *   placement.c       finds places for members
 *   subgroup_choice.c     chooses the units that get their minimum
 *   shortage.c        finds why a member has no place
 *   shortage_cache.c  reuses a shortage for gangs with equal members
 *
 * Lives on the stack of its caller, within the caller's trial.
 */
#ifndef MUSTER_GANG_PLAN_PLACEMENT_TRY_H
#define MUSTER_GANG_PLAN_PLACEMENT_TRY_H

#include "gang/cluster/trial.h"
#include "gang/plan/node_score.h"

struct placement_try {
    struct gang *gang;
    struct trial *trial;
    struct trial_mark begin; /* slots after it belong to this try */
    bool what_if;            /* the result must not be cached */
    struct pod **pods;       /* members without a slot */
    size_t n;
    const struct pod *culprit; /* the first member without a place */
    struct node_queue queue;   /* for the signature that is being placed */
};

static inline bool one_signature(const struct placement_try *p)
{
    for (size_t i = 1; i < p->n; i++)
        if (p->pods[i]->signature != p->pods[0]->signature)
            return false;
    return true;
}

#endif
