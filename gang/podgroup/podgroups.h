/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroups.h - PodGroups, and which of them form one gang.
 *
 *   1. A group is created when its PodGroup, a pod linked to it, or another PodGroup that names it
 *      first appears. It is freed when none of them is left.
 *   2. A family is the set of PodGroups that are placed together as one gang: a parent with its
 *      children, and a bundle. A bundle counts only if both PodGroups name each other, so that no
 *      PodGroup can tie a stranger's to itself. form() finds the family, moves its members into one
 *      gang and builds the tree of units.
 *   3. Each change of a gang's PodGroups validates them (gang->invalid).
 *   4. A family that exceeds a bound (gang/bounds.h) does not become one gang. Its gangs near the
 *      change are marked gang->over: they are refused and have no subgroup units, and their members
 *      are not counted, so further growth costs nothing. form() checks the family again on each
 *      change of its PodGroups, and at most twice a second on changes of its members.
 *
 * A gang whose PodGroups change loses its whole plan. Bound pods stay bound, and reconcile.c
 * derives the new state from them.
 */
#ifndef MUSTER_GANG_PODGROUP_PODGROUPS_H
#define MUSTER_GANG_PODGROUP_PODGROUPS_H

#include "gang/cluster/lookup.h"

struct group *group_find(const struct gang_core *core, const struct gang_ref *ref);
struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref);
void on_podgroup_set(struct gang_core *core, struct gang_group_facts *facts);
void on_podgroup_gone(struct gang_core *core, const struct gang_ref *ref);
/* The member is new or changed: the group may now take its facts from it, or no longer. */
void group_declare(struct gang_core *core, struct pod *pod);
/* The pod joins the group it is linked to; leaves it; may belong to another unit of it. */
void group_add(struct gang_core *core, struct pod *pod);
void group_remove(struct gang_core *core, struct pod *pod);
void group_moved(struct gang_core *core, struct pod *pod);
/* A member was added or removed: checks the family's bound on members again. */
void family_recount(struct gang_core *core, struct gang *gang);
/* Frees a gang without PodGroup and members; true: it is gone. */
bool gang_sweep(struct gang_core *core, struct gang *gang);
void on_priority_class_set(struct gang_core *core, struct gang_priority_class_facts *facts);
void on_priority_class_gone(struct gang_core *core, const char *name);
void groups_drop(struct gang_core *core);

#endif
