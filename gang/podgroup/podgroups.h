/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroups.h - PodGroups, and which of them form one gang.
 *
 *   1. A PodGroup (struct group) is created when its object, a pod linked to it, or another
 *      PodGroup that names it appears. It is freed when none of them exists any more.
 *   2. A family is a set of PodGroups that are scheduled together as one gang: a parent and its
 *      children, or a bundle. A bundle counts only if both PodGroups name each other. So no user
 *      can tie the PodGroup of another user to their own. form() finds the family, moves its
 *      members into one gang and builds the tree of units.
 *   3. Each change of a gang's PodGroups validates all of them (gang->invalid).
 *   4. A family that exceeds a bound (gang/bounds.h) does not become one gang. muster refuses the
 *      gangs of the family that it has found so far and marks them with gang->over. Such a gang has
 *      no subgroup units, and its members are not counted, so further growth costs nothing. form()
 *      checks the family again after each change of its PodGroups, and at most twice a second after
 *      changes of its members.
 *
 * When PodGroups join or leave a gang, the gang loses its whole plan. Bound pods stay bound, and
 * reconcile.c derives the new state from them.
 */
#ifndef MUSTER_GANG_PODGROUP_PODGROUPS_H
#define MUSTER_GANG_PODGROUP_PODGROUPS_H

#include "gang/cluster/lookup.h"

struct group *group_find(const struct gang_core *core, const struct gang_ref *ref);
struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref);
void on_podgroup_set(struct gang_core *core, struct gang_group_facts *facts);
void on_podgroup_gone(struct gang_core *core, const struct gang_ref *ref);
/* The member is new or has changed. If the PodGroup has no object, its facts may change too. */
void group_declare(struct gang_core *core, struct pod *pod);
/* Adds the pod to the PodGroup that it is linked to. */
void group_add(struct gang_core *core, struct pod *pod);
void group_remove(struct gang_core *core, struct pod *pod);
/* The pod's labels or role may have changed, and with them its unit. */
void group_moved(struct gang_core *core, struct pod *pod);
/* Checks the family's bound of members again, after a member was added or removed. */
void family_recount(struct gang_core *core, struct gang *gang);
/* Frees the gang if nothing uses its PodGroups any more. True: it was freed. */
bool gang_sweep(struct gang_core *core, struct gang *gang);
void on_priority_class_set(struct gang_core *core, struct gang_priority_class_facts *facts);
void on_priority_class_gone(struct gang_core *core, const char *name);
void groups_drop(struct gang_core *core);

#endif
