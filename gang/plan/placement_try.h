/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_try.h - one try to place a gang, as the files that make it share it.
 *
 *   placement.c    gives places to members
 *   unit_choice.c  which parts of the gang are to have their minimum
 *   shortage.c     why a member has none
 *   shortage_cache.c   what one gang found out, for those that are alike
 *
 * On the stack of place_gang(), within the trial of its caller.
 */
#ifndef MUSTER_GANG_PLAN_PLACEMENT_TRY_H
#define MUSTER_GANG_PLAN_PLACEMENT_TRY_H

#include "gang/cluster/trial.h"
#include "gang/plan/node_score.h"

struct placement_try {
    struct gang *gang;
    struct trial *trial;
    struct trial_mark begin; /* what comes after it is this try's */
    bool what_if;            /* what it finds out goes for no other */
    struct pod **pods;       /* members without a slot */
    size_t n;
    const struct pod *culprit; /* the first without a place */
    struct node_queue queue;   /* for the signature whose members are placed now */
};

static inline bool one_signature(const struct placement_try *p)
{
    for (size_t i = 1; i < p->n; i++)
        if (p->pods[i]->signature != p->pods[0]->signature)
            return false;
    return true;
}

#endif
