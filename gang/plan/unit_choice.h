/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_choice.h - which parts of a gang are to have their minimum, where it needs only some.
 *
 * The choice is written on the units: chosen, and how many members each still wants. One that turns
 * out to have no room is excluded, and another chosen. For placement.c.
 */
#ifndef MUSTER_GANG_PLAN_UNIT_CHOICE_H
#define MUSTER_GANG_PLAN_UNIT_CHOICE_H

#include "gang/cluster/lookup.h"

/* Units that were excluded may be chosen again. */
void forget_excluded(struct unit *unit);
void forget_choice(struct unit *unit);
/*
 * Decides which units below it get their minimum and how many members each must still get; the sum
 * is in *ret. False: there are not enough units or members.
 */
bool choose_units(const struct gang *gang, struct unit *unit, int *ret);
/* The same for all of the gang, counted anew. */
bool choose_units_of_gang(const struct gang_core *core, const struct gang *gang, int *ret);
/* It and all above it are. */
bool all_chosen(const struct unit *unit);
/* The unit on the way up that wants one more member from here; NULL: none. Members of units that
 * were not chosen come last: theirs may stay without their minimum. */
struct unit *unit_that_wants(struct unit *unit, bool of_any);
/* A member has got its place: one less is wanted. */
void unit_gets_one(struct unit *unit);
/* Takes the culprit's unit out of the choice, if there is a choice. */
bool exclude_unit(const struct pod *culprit);

#endif
