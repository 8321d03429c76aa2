/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subgroup_choice.h - chooses the units of a gang that get their minimum, where it needs only some.
 *
 * The choice is stored in the units: unit->chosen, and unit->want, the members each must still get.
 * A unit without room is excluded and another one chosen. For placement.c.
 */
#ifndef MUSTER_GANG_PLAN_SUBGROUP_CHOICE_H
#define MUSTER_GANG_PLAN_SUBGROUP_CHOICE_H

#include "gang/cluster/lookup.h"

/* Lets excluded units be chosen again. */
void forget_excluded(struct unit *unit);
void forget_choice(struct unit *unit);
/*
 * Chooses which units below get their minimum and how many members each must still get; *ret is the
 * sum. False: there are not enough units or members.
 */
bool choose_units(const struct gang *gang, struct unit *unit, int *ret);
/* The same for the whole gang, counted anew. */
bool choose_units_of_gang(const struct gang_core *core, const struct gang *gang, int *ret);
/* The unit and all units above it are chosen. */
bool all_chosen(const struct unit *unit);
/* The nearest unit, from this one up, that wants one more member; NULL: none. Members of units
 * that were not chosen count only with `of_any`: they come last, since their units may stay without
 * their minimum. */
struct unit *unit_that_wants(struct unit *unit, bool of_any);
/* A member got a place: the unit wants one less. */
void unit_got_one(struct unit *unit);
/* Excludes the lowest unit of the culprit that another unit could replace; false: there is none. */
bool exclude_unit(const struct pod *culprit);

#endif
