/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earmark.h - which room is kept for the gang that has waited too long, and for whom it is
 * out of reach.
 *
 * starvation.c says what is kept.
 */
#ifndef MUSTER_GANG_PODGROUP_EARMARK_H
#define MUSTER_GANG_PODGROUP_EARMARK_H

#include "gang/cluster/lookup.h"

/* Room for a pod of the signature is kept on the node; nothing is kept any more. */
void earmark_add(struct gang_core *core, struct node *node, struct signature *signature);
void earmark_clear(struct gang_core *core);
/* The gang that room is kept for from now on; NULL: none. */
void earmark_set(struct gang_core *core, struct gang *gang);
/* Nothing is kept for the gang any more. */
void earmark_end(struct gang_core *core, struct gang *gang);
/* The gang's place in the order may be another: if it is the keeper, some of those behind it may
 * be before it now. */
void earmark_order_changed(struct gang_core *core, const struct gang *gang);
/* Whether what is kept is out of reach for a gang's plan, and for an ordinary or later pod. */
bool gang_respects_earmark(const struct gang_core *core, const struct gang *gang);
bool pod_respects_earmark(const struct gang_core *core, const struct pod *pod);
/* What plans of the gang, and pods that pass singly, may count on. */
struct reach gang_reach(const struct gang_core *core, const struct gang *gang);
struct reach pod_reach(const struct gang_core *core, const struct pod *pod);
/* To both the same is left everywhere. */
bool reach_equal(const struct gang_core *core, const struct reach *a, const struct reach *b);

#endif
