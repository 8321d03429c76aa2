/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - places every needed member of a gang, or none.
 *
 *   1. choose_units() walks the tree of minimums and sets how many members each unit must still get
 *      (unit->want). Where a unit needs only some of the units below it, the ones that lack least
 *      are chosen. A unit without room is excluded and another one chosen.
 *   2. place_needed() adds slots for wanted members greedily: members by signature, the hardest
 *      signature first, each on the fullest feasible node (node_better). For members of one
 *      signature this is exact: how many fit on a node does not depend on other nodes. For mixed
 *      signatures other orders are tried, see enum way.
 *   3. place_extras() adds slots for extras, as far as they fit: first whole units that were not
 *      chosen, then single members, up to the maximum.
 *
 * All runs within a trial: if the needed set is not covered, every added slot is removed again.
 */
#ifndef MUSTER_GANG_PLAN_PLACEMENT_H
#define MUSTER_GANG_PLAN_PLACEMENT_H

#include "gang/cluster/trial.h"

/*
 * Completes the gang's plan to its needed set, and adds extras that fit. Existing slots stay.
 * False: not possible; *ret is what was short when everything that fits was placed. `for_good`
 * false: only tests whether it is possible.
 */
bool place_gang(struct gang_core *core, struct gang *gang, bool for_good, struct shortage *ret);
/* Whether the needed members fit in this trial. No slot stays and no result is cached. */
bool place_in_trial(struct trial *t, struct gang *gang, struct shortage *ret);
/* Finds places that the needed members could have once nodes empty, see starvation.c, and passes
 * them to take(); forget() is called before each try. Nothing is reserved. False: not for all. */
bool place_in_future(struct gang_core *core, struct gang *gang, void (*forget)(struct gang_core *),
                     void (*take)(struct gang_core *, struct node *, struct signature *));

#endif
