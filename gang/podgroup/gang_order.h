/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_order.h - the order in which gangs are planned.
 *
 * Across namespaces, gangs compete by merit: gang->priority (which admission gave their pods), then
 * how long they have waited, their failures, their age. Within a namespace, gang->own_priority
 * orders them: the priority that their PodGroups ask for.
 *
 * The two make one total order: each namespace has a queue of its waiting gangs, ordered by own
 * priority, and the heads of the queues compete by merit. So no PodGroup field can move a gang
 * ahead of its own merit. A gang behind others of its namespace is ordered by the lowest merit
 * among itself and those ahead of it (gang->order.behind). A namespace cannot give a new gang the
 * place of one that has waited long; it could if a queue inherited the places of its members.
 *
 * order_settle() updates gang->order.behind before each planning pass. Between passes by_order() is
 * still a total order: it compares (merit of behind, own priority, merit).
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_ORDER_H
#define MUSTER_GANG_PODGROUP_GANG_ORDER_H

#include "gang/cluster/lookup.h"

/* For qsort, over struct gang *: the order in which gangs are planned. A strict total order. */
int by_order(const void *a, const void *b);
bool order_after(const struct gang *g, const struct gang *h);
/* The gang is about to be freed. */
void order_forget(struct gang_core *core, struct gang *gang);
/* Moves gangs that changed to their new places. */
void order_settle(struct gang_core *core);
void order_done(struct gang_core *core);
int order_check(const struct gang_core *core, struct err *err);

#endif
