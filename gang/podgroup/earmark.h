/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earmark.h - the earmark: capacity set aside for the gang that has waited too long.
 *
 * A gang that fits in the fair share of its queue gets an earmark at once. Only gangs of other
 * queues that come after it respect that one.
 *
 * At most one gang has an earmark (core->earmark_gang). plan/starvation.c decides which gang gets
 * it, and on which nodes. This file stores the earmark, and decides which gangs and pods must
 * respect it.
 */
#ifndef MUSTER_GANG_PODGROUP_EARMARK_H
#define MUSTER_GANG_PODGROUP_EARMARK_H

#include "gang/cluster/lookup.h"

/* Earmarks room for one pod of the signature on the node. */
void earmark_add(struct gang_core *core, struct node *node, struct signature *signature);
/* Removes the earmarked room from all nodes. */
void earmark_clear(struct gang_core *core);
/* Sets the gang that has the earmark; NULL: none. */
void earmark_set(struct gang_core *core, struct gang *gang);
/* Removes the earmark if the gang has it. */
void earmark_end(struct gang_core *core, struct gang *gang);
/* The gang's position in the order may have changed. If it has the earmark, gangs that were behind
 * it may now be ahead of it, and need not respect the earmark. */
void earmark_order_changed(struct gang_core *core, const struct gang *gang);
/* Whether the gang's plan must not use the earmark. A gang with preempted room need not respect it,
 * because it has made the room itself. */
bool gang_respects_earmark(const struct gang_core *core, const struct gang *gang);
/* Whether pods of this priority that are scheduled on their own must leave the earmark free. */
bool earmark_binds_pods(const struct gang_core *core, int32_t priority);
/* The same for the pod. Members of the gang with the earmark may use it. */
bool pod_respects_earmark(const struct gang_core *core, const struct pod *pod);
/* What the gang's plan may use of a node. */
struct reach gang_reach(const struct gang_core *core, const struct gang *gang);
/* What a pod that is scheduled on its own may use of a node. */
struct reach pod_reach(const struct gang_core *core, const struct pod *pod);
/* Whether both reaches of gangs allow the same on every node. */
bool reach_equal(const struct gang_core *core, const struct reach *a, const struct reach *b);

#endif
