/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroups.h - PodGroups, and which of them are one gang.
 *
 *   1. A group exists as soon as its PodGroup, a pod linked to it, or another PodGroup that names
 *      it is seen, and is forgotten when there is none of them.
 *   2. PodGroups that are placed together are one gang: a parent with its children, and those of
 *      a bundle, if both name each other (nobody can tie a stranger to himself). form() finds them,
 *      moves their members into one gang and builds its tree of units.
 *   3. What is wrong with a gang's PodGroups (gang->invalid) is found here, whenever they change.
 *
 *   4. A family beyond a bound (gang/bounds.h) is not made one gang. Those of its gangs that are
 *      near the change are marked: they are refused, have no tree, and nobody counts their members,
 *      so more of the same costs no more. form() looks at the family again at each change of its
 *      PodGroups, and at most twice a second at changes of its members.
 *
 * A gang whose PodGroups change loses its plan as a whole; what is bound stays bound, and
 * reconcile.c makes the state from that.
 */
#ifndef MUSTER_GANG_PODGROUP_PODGROUPS_H
#define MUSTER_GANG_PODGROUP_PODGROUPS_H

#include "gang/cluster/lookup.h"

struct group *group_find(const struct gang_core *core, const struct gang_ref *ref);
struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref);
void on_podgroup_set(struct gang_core *core, struct gang_group_facts *facts);
void on_podgroup_gone(struct gang_core *core, const struct gang_ref *ref);
/* The member is new or changed: what it says of its group may count, or not any more. */
void group_declare(struct gang_core *core, struct pod *pod);
/* The pod joins the group that it is linked to; leaves it; may count elsewhere in it now. */
void group_add(struct gang_core *core, struct pod *pod);
void group_remove(struct gang_core *core, struct pod *pod);
void group_moved(struct gang_core *core, struct pod *pod);
/* A member came or went: its family may have too many, or no more than it may. */
void family_recount(struct gang_core *core, struct gang *gang);
/* Forgets a gang of which there is neither PodGroup nor member; true: it is gone. */
bool gang_sweep(struct gang_core *core, struct gang *gang);
void on_priority_class_set(struct gang_core *core, struct gang_priority_class_facts *facts);
void on_priority_class_gone(struct gang_core *core, const char *name);
/* What its PodGroups say; the same, but no more than its lowest member has. */
int32_t gang_own_priority(const struct gang_core *core, const struct gang *gang);
int32_t gang_pod_priority(const struct gang_core *core, const struct gang *gang);
void groups_drop(struct gang_core *core);

#endif
