/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum.h - the tree of minimums of a gang.
 *
 *   gang ── PodGroup ── subgroup ── subgroup
 *        │           └─ subgroup ── part, part, part   (equal ones, distinguished by labels)
 *        └─ PodGroup (a child, or another of its bundle)
 *
 * Each unit may have a minimum of members (in it and below) and of units below it. The needed set
 * of a gang is the smallest set of members that meets all minimums. unit_lacks() returns how many
 * members of it have yet to reach a stage: exist, be planned, be at bind, be bound.
 */
#ifndef MUSTER_GANG_PODGROUP_QUORUM_H
#define MUSTER_GANG_PODGROUP_QUORUM_H

#include "gang/cluster/lookup.h"

/* Makes the group's units from its facts, without a parent above the group's own unit.
 * `own_only`: without subgroups. */
void units_build(struct group *group, bool own_only);
void units_free(struct group *group);
/* Sets the minimum to one member, whatever the PodGroup asks for. */
void unit_needs_one(struct unit *unit);
struct unit *bundle_new(void);
struct unit *bundle_free(struct unit *bundle);
void unit_attach(struct unit *unit, struct unit *parent);
/* Makes minMember of a PodGroup that others name as their parent count PodGroups. */
void unit_count_children(struct unit *own);
/* The unit is `above`, or below it. */
bool unit_is_below(const struct unit *unit, const struct unit *above);
struct unit *unit_of_pod(struct group *group, const struct gang_pod_facts *pod);
/* The subgroup of that name; NULL: there is none. */
struct unit *unit_by_name(const struct group *group, const char *name);
/* A member has left the unit: frees the unit if it is a part without members. */
void unit_left(struct gang_core *core, struct gang *gang, struct unit *unit);
/* Counts the gang's members in all its units; returns the root's tally. */
const struct tally *gang_count(const struct gang_core *core, const struct gang *gang);
/* How many more members must reach the stage to meet the minimums of the unit (of the gang); 0 or
 * less: they are met. unit_lacks() uses the last gang_count(). */
int unit_lacks(const struct unit *unit, enum stage stage);
int gang_lacks(const struct gang_core *core, const struct gang *gang, enum stage stage);
/* The size of the smallest set of members that meets all minimums. */
int unit_needs(const struct unit *unit);
int gang_needed(const struct gang *gang);
/* How many of the units directly below it must have their minimum. */
int unit_children_needed(const struct unit *unit);
/* The unit or one above it is at its maximum of members; is above it. By the last gang_count(). */
bool unit_at_maximum(const struct unit *unit);
bool unit_beyond_maximum(const struct unit *unit);
bool gang_has_maximum(const struct gang *gang);
/* The gang may place no further member in the pod's unit. Counts anew. */
bool pod_at_maximum(const struct gang_core *core, const struct pod *pod);
/* Keeps the tallies correct while slots are added and removed. */
void unit_add_slots(struct unit *unit, int n);
/* The first error in the PodGroup, as text; NULL: none. */
char *validate_group(const struct group *group);

#endif
