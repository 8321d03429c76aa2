/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subgroup_choice.h - chooses which units of a gang a plan must bring to their minimums, if a unit
 * needs only some of the units below it.
 *
 * The choice is stored in the units: unit->chosen, and unit->want, the number of members that still
 * need a slot. If a chosen unit does not fit, placement.c excludes it and chooses again.
 */
#ifndef MUSTER_GANG_PLAN_SUBGROUP_CHOICE_H
#define MUSTER_GANG_PLAN_SUBGROUP_CHOICE_H

#include "gang/cluster/lookup.h"

/* Allows the unit and all units below, which were excluded, to be chosen again. */
void forget_excluded(struct unit *unit);
/* Ends the choice of the unit and of all units below. */
void forget_choice(struct unit *unit);
/*
 * Chooses the unit, and units below it, and sets how many members each still needs; *ret is the
 * sum. False: not enough units below, or not enough members, can be chosen.
 */
bool choose_units(const struct gang *gang, struct unit *unit, int *ret);
/* The same for the whole gang, whose members it counts first. */
bool choose_units_of_gang(const struct gang_core *core, const struct gang *gang, int *ret);
/* Whether the unit and all units above it are chosen. */
bool all_chosen(const struct unit *unit);
/* The unit, or the nearest unit above it, that wants one more member; NULL: none. If the unit is
 * not chosen, its members count for a unit above only with `of_any`. */
struct unit *unit_that_wants(struct unit *unit, bool of_any);
/* A member got a slot, so the unit wants one member less. */
void unit_got_one(struct unit *unit);
/* Excludes a unit of the culprit that another unit can replace, the lowest one. False: there is no
 * such unit. */
bool exclude_unit(const struct pod *culprit);

#endif
