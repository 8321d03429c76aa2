/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum.h - the tree of units of a gang, and which members the gang needs.
 *
 *   gang ── PodGroup ── subgroup ── subgroup
 *        │           └─ subgroup ── part, part, part   (equal parts, divided by labels)
 *        └─ PodGroup (a child, or another PodGroup of the bundle)
 *
 * A unit may have a minimum of members, counted in the unit and below it. It may also have a
 * minimum of units directly below it that must meet their own minimums. The needed members of a
 * gang are the smallest set that meets all minimums. unit_lacks() returns how many of them have not
 * reached a stage yet, such as at bind.
 */
#ifndef MUSTER_GANG_PODGROUP_QUORUM_H
#define MUSTER_GANG_PODGROUP_QUORUM_H

#include "gang/cluster/lookup.h"

/* Creates the group's units from its facts. The PodGroup's own unit has no parent yet. `own_only`:
 * creates no subgroups. */
void units_build(struct group *group, bool own_only);
void units_free(struct group *group);
/* Sets the unit's minimum to one member. */
void unit_needs_one(struct unit *unit);
struct unit *bundle_new(void);
struct unit *bundle_free(struct unit *bundle);
/* Sets the unit's parent; NULL: none. */
void unit_attach(struct unit *unit, struct unit *parent);
/* The PodGroup is a parent, so its minMember counts child PodGroups instead of members. */
void unit_count_children(struct unit *own);
/* Whether the unit is `above`, or is below it. */
bool unit_is_below(const struct unit *unit, const struct unit *above);
/* The unit in which a pod of the group counts. Creates a part if necessary. */
struct unit *unit_of_pod(struct group *group, const struct gang_pod_facts *pod);
/* The subgroup with this name; NULL: there is none. */
struct unit *unit_by_name(const struct group *group, const char *name);
/* A member has left the unit. Frees the unit if it is a part and has no members any more. */
void unit_left(struct gang_core *core, struct gang *gang, struct unit *unit);
/* Counts the gang's members in all its units, unless nothing has changed since the last count.
 * Returns the root's tally. */
const struct tally *gang_count(const struct gang_core *core, const struct gang *gang);
/* For tests: 0 if the tallies that gang_count() would return are right; else -1, see err. */
int gang_count_check(const struct gang_core *core, const struct gang *gang, struct err *err);
/* How many more members must reach the stage so that the minimums of the unit and below are met; 0
 * or less: they are met. Uses the tallies of the last gang_count(). */
int unit_lacks(const struct unit *unit, enum stage stage);
/* The same for the whole gang, whose members it counts first. */
int gang_lacks(const struct gang_core *core, const struct gang *gang, enum stage stage);
/* The size of the smallest set of members that meets the minimums of the unit and below. */
int unit_needs(const struct unit *unit);
/* The number of needed members of the gang. */
int gang_needed(const struct gang *gang);
/* How many of the units directly below must meet their minimums. */
int unit_children_needed(const struct unit *unit);
/* Whether the unit, or one above it, has reached its maximum of members; whether one exceeds it.
 * Both use the last gang_count(). */
bool unit_at_maximum(const struct unit *unit);
bool unit_beyond_maximum(const struct unit *unit);
bool gang_has_maximum(const struct gang *gang);
/* Whether the maximum allows no further member in the pod's unit. Counts the gang's members first.
 */
bool pod_at_maximum(const struct gang_core *core, const struct pod *pod);
/* Adds n slots to the tallies of the unit and of all units above it, until the next gang_count().
 */
void unit_add_slots(struct unit *unit, int n);
/* The same for bound members. */
void unit_add_bound(struct unit *unit, int n);
/* The first error in the PodGroup, as text that the caller frees; NULL: none. */
char *validate_group(const struct group *group);

#endif
