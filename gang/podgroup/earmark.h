/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earmark.h - capacity set aside for the gang that has waited too long, and who may not use it.
 *
 * At most one gang has an earmark (core->earmark_gang). plan/starvation.c decides which gang and on
 * which nodes; this file records it and answers who must respect it.
 */
#ifndef MUSTER_GANG_PODGROUP_EARMARK_H
#define MUSTER_GANG_PODGROUP_EARMARK_H

#include "gang/cluster/lookup.h"

/* Earmarks room for one pod of the signature on the node; removes every earmark. */
void earmark_add(struct gang_core *core, struct node *node, struct signature *signature);
void earmark_clear(struct gang_core *core);
/* Sets the gang that the earmark is for; NULL: none. */
void earmark_set(struct gang_core *core, struct gang *gang);
/* Removes the earmark if it is the gang's. */
void earmark_end(struct gang_core *core, struct gang *gang);
/* The gang's place in the order may have changed: if the earmark is its own, gangs that were behind
 * it may now be ahead of it. */
void earmark_order_changed(struct gang_core *core, const struct gang *gang);
/* Whether a gang's plan must leave the earmark free; whether a pod that is scheduled on its own
 * must. */
bool gang_respects_earmark(const struct gang_core *core, const struct gang *gang);
bool pod_respects_earmark(const struct gang_core *core, const struct pod *pod);
/* The capacity that the gang's plan may use; that a pod scheduled on its own may use. */
struct reach gang_reach(const struct gang_core *core, const struct gang *gang);
struct reach pod_reach(const struct gang_core *core, const struct pod *pod);
/* Both may use the same capacity on every node. */
bool reach_equal(const struct gang_core *core, const struct reach *a, const struct reach *b);

#endif
