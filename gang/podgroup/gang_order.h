/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_order.h - the order in which gangs are planned.
 *
 * Between namespaces a gang competes with its merit: gang->priority, which admission gave its pods,
 * then how long it waits, its failures, its age. Inside a namespace the PodGroups' own priorities
 * order (gang->own_priority), whoever grants them.
 *
 * Both at once are one total order: each namespace lines its waiting gangs up by own priority, and
 * the lines are merged; the heads of the lines compete by merit. A gang so never comes earlier than
 * by its own merit, whatever its namespace writes into PodGroups; who stands behind others of its
 * namespace shares the merit of the last of them (gang->order.behind). A namespace cannot hand on
 * the places of gangs that wait for long, as it could if the line took over the places of its
 * members.
 *
 * gang->order.behind is brought up to date by order_settle(), before each pass of planning. In
 * between by_order() is a total order all the same: it compares (merit of behind, own priority,
 * merit).
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_ORDER_H
#define MUSTER_GANG_PODGROUP_GANG_ORDER_H

#include "gang/cluster/lookup.h"

/* For qsort, over struct gang *: the order in which gangs are planned. A strict total order. */
int by_order(const void *a, const void *b);
bool order_after(const struct gang *g, const struct gang *h);
/* The gang is about to be freed. */
void order_forget(struct gang_core *core, struct gang *gang);
/* Puts those that changed where they belong. */
void order_settle(struct gang_core *core);
void order_done(struct gang_core *core);
int order_check(const struct gang_core *core, struct err *err);

#endif
