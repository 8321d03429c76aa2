/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum.h - the tree of minimums of a gang.
 *
 *   gang ── PodGroup ── subgroup ── subgroup
 *        │           └─ subgroup ── part, part, part   (equal ones, told apart by labels)
 *        └─ PodGroup (a child, or another of its bundle)
 *
 * Each unit may need so many members (in it and below) and so many of the units below it. The
 * needed set of a gang is the smallest set of members that satisfies all of that; unit_lacks() says
 * how many are missing from it, whatever "has" means: exists, is planned, is at bind, is bound.
 */
#ifndef MUSTER_GANG_PODGROUP_QUORUM_H
#define MUSTER_GANG_PODGROUP_QUORUM_H

#include "gang/cluster/lookup.h"

/* Makes the group's units from its facts; they hang in no tree above the group's own. */
/* `bare`: without subgroups. */
void units_build(struct group *group, bool bare);
void units_free(struct group *group);
/* Whatever its PodGroup says. */
void unit_needs_one(struct unit *unit);
struct unit *bundle_new(void);
struct unit *bundle_free(struct unit *bundle);
void unit_attach(struct unit *unit, struct unit *parent);
/* The unit of a PodGroup that others name as their parent. */
void unit_count_children(struct unit *own);
/* It is `above`, or in it. */
bool unit_is_below(const struct unit *unit, const struct unit *above);
struct unit *unit_of_pod(struct group *group, const struct gang_pod_facts *pod);
/* The subgroup of that name; NULL: there is none. */
struct unit *unit_by_name(const struct group *group, const char *name);
/* A member of it went: parts that nobody is in end. */
void unit_left(struct gang_core *core, struct gang *gang, struct unit *unit);
/* Counts the gang's members in all of its units; the root's tally. */
const struct tally *gang_count(const struct gang_core *core, const struct gang *gang);
/* How many more members, at least, have to reach the stage for the minimums of the unit (of the
 * gang) to be met; not positive: they are. unit_lacks() goes by the last gang_count(). */
int unit_lacks(const struct unit *unit, enum stage stage);
int gang_lacks(const struct gang_core *core, const struct gang *gang, enum stage stage);
/* The size of the smallest set of members that meets all minimums. */
int unit_needs(const struct unit *unit);
int gang_needed(const struct gang *gang);
/* Units below it that must have their minimum. */
int unit_children_needed(const struct unit *unit);
/* The unit on the way up that takes no more members; NULL: none. By the last gang_count(). */
bool unit_at_maximum(const struct unit *unit);
bool unit_beyond_maximum(const struct unit *unit);
bool gang_has_maximum(const struct gang *gang);
/* As many members of its gang as its maximum allows are placed. */
bool pod_at_maximum(const struct gang_core *core, const struct pod *pod);
/* Keeps the tallies right while slots are given and taken. */
void unit_add_slots(struct unit *unit, int n);
/* The first contradiction in what the PodGroup asks for, as a sentence; NULL: none. */
char *validate_group(const struct group *group);

#endif
