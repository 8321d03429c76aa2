/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - a place for every member that is needed, or none.
 *
 *   1. choose() walks the tree of minimums and writes on each unit how many members it still must
 *      get (unit->want). Where a unit needs only some of those below it, the ones that lack least
 *      are chosen; one that turns out to have no room is excluded and another chosen.
 *   2. place_needed() gives slots to wanted members, greedily and plainly: members by signature,
 * the hardest signature first; each goes to the fullest node that fits (node_better). For members
 * of one signature this is exact: how many fit on a node does not depend on the others. For mixed
 *      signatures other orders are tried, see enum way.
 *   3. place_extras() gives slots to members above the needed ones, as far as they fit: units that
 *      were not needed as a whole or not at all, then single members, up to the maximum.
 *
 * It is a trial: when the needed set is not covered, every slot that was added is taken back.
 */
#ifndef MUSTER_GANG_PLAN_PLACEMENT_H
#define MUSTER_GANG_PLAN_PLACEMENT_H

#include "gang/cluster/trial.h"

/*
 * Completes the gang's plan to its needed set, and beyond with extras that fit. Existing slots
 * stay. False: not possible; the slots that were there are still there, and *ret says what was
 * short when all that fits was placed. Not for good: only says whether it is possible.
 */
bool place_gang(struct gang_core *core, struct gang *gang, bool for_good, struct shortage *ret);
/* Whether there is room for its needed members in this trial: nothing stays, or is remembered. */
bool place_in_trial(struct trial *t, struct gang *gang, struct shortage *ret);
/* Places for the needed members as they could be some day, see starvation.c, given to take();
 * forget() is called before each try. False: not for all. */
bool place_in_future(struct gang_core *core, struct gang *gang, void (*forget)(struct gang_core *),
                     void (*take)(struct gang_core *, struct node *, struct signature *));

#endif
