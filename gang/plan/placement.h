/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - finds nodes for all needed members of a gang, or for none.
 *
 *   1. choose_units() walks the tree of units and sets how many members each unit still needs
 *      (unit->want). If a unit needs only some of the units below it, those that lack the fewest
 *      members are chosen. If a chosen unit does not fit, it is excluded, and another one is
 *      chosen.
 *   2. place_needed() adds a slot for each of these members: one signature after the other, the
 *      signature with the largest needs first, and each member on the best feasible node
 *      (node_better()). For members of one signature this finds a plan if there is one, because how
 *      many fit on a node does not depend on other nodes. For several signatures, other orders are
 *      tried too, see enum way.
 *   3. place_extras() adds slots for extras that fit, up to the maximum: first for whole units that
 *      were not chosen, then for single members.
 *
 * All of this runs in a trial. If a needed member has no slot, all added slots are removed again.
 */
#ifndef MUSTER_GANG_PLAN_PLACEMENT_H
#define MUSTER_GANG_PLAN_PLACEMENT_H

#include "gang/cluster/trial.h"

/* How much work one plan may take, in scanned nodes: 0.1 to 0.2 s. Members that have host ports,
 * anti-affinity, topology spread or volumes of their own cost one scan of all nodes each. */
#define PLAN_WORK_MAX 1000000

/*
 * Adds slots for all needed members of the gang that have none, and for extras that fit. Existing
 * slots stay. False: this is not possible, and no slot was added; *ret is the shortage of the try
 * that placed the most members, or `stopped` if the plan takes too much work.
 * `for_good` false: only tests whether it is possible.
 */
bool place_gang(struct gang_core *core, struct gang *gang, bool for_good, struct shortage *ret);
/* Which slots are left in a trial if the needed members fit. */
enum trial_slots { SLOTS_NONE, SLOTS_NEEDED, SLOTS_WITH_EXTRAS };
/*
 * Whether the needed members fit in this trial. Caches no result. If they do, they and extras that
 * fit keep the slots that `slots` says until the trial is reverted. Otherwise it leaves none.
 * Deducts its work from *work_left, in scanned nodes. GANG_NOT_ASKED: the work was not enough for
 * an answer.
 */
enum gang_answer place_in_trial(struct trial *t, struct gang *gang, enum trial_slots slots,
                                int64_t *work_left, struct shortage *ret);
/* Whether the needed members fit in this trial, and minResources are free. Leaves no slots. The
 * shortage has no culprit if only minResources are short. Deducts its work in the same way.
 * GANG_NOT_ASKED: the work was not enough, or was used up before. */
enum gang_answer fits_in_trial(struct trial *t, struct gang *gang, int64_t *work_left,
                               struct shortage *ret);
/* Finds nodes for the needed members, see starvation.h, and earmarks them instead of the nodes that
 * are earmarked. Reserves nothing. False: some member has no node. */
bool place_in_future(struct gang_core *core, struct gang *gang);

#endif
