/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_room.h - which room is kept for the gang that has waited too long, and for whom it is
 * out of reach.
 *
 * starvation.c says what is kept.
 */
#ifndef MUSTER_GANG_PODGROUP_KEPT_ROOM_H
#define MUSTER_GANG_PODGROUP_KEPT_ROOM_H

#include "gang/cluster/objects.h"

/* Room for a pod of the shape is kept on the node; nothing is kept any more. */
void kept_add(struct gang_core *core, struct node *node, struct shape *shape);
void kept_forget(struct gang_core *core);
/* The gang that room is kept for from now on; NULL: none. */
void kept_for(struct gang_core *core, struct gang *gang);
/* Nothing is kept for the gang any more. */
void keep_end(struct gang_core *core, struct gang *gang);
/* The gang's place in the order may be another: if it is the keeper, some of those behind it may
 * be before it now. */
void keep_moved(struct gang_core *core, const struct gang *gang);
/* Whether what is kept is out of reach for a gang's plan, and for an ordinary or later pod. */
bool gang_heeds(const struct gang_core *core, const struct gang *gang);
bool pod_heeds(const struct gang_core *core, const struct pod *pod);
/* What plans of the gang, and pods that pass singly, may count on. */
struct reach gang_reach(const struct gang_core *core, const struct gang *gang);
struct reach pod_reach(const struct gang_core *core, const struct pod *pod);
/* To both the same is left everywhere. */
bool reach_equal(const struct gang_core *core, const struct reach *a, const struct reach *b);

#endif
