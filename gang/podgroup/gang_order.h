/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_order.h - the order in which gangs are planned.
 *
 * Between namespaces, gangs compete by merit: by gang->priority, which cannot exceed the priority
 * that admission gave to their pods, then by starvation, failures and age (by_merit()). Inside a
 * namespace, gang->own_priority decides, which the PodGroups set.
 *
 * Both together form one total order. Each namespace has a queue of its waiting gangs, ordered by
 * own priority, and the heads of the queues compete by merit. A gang that is not the head counts
 * with the lowest merit of itself and all gangs ahead of it in the queue (gang->order.behind). So
 * no field of a PodGroup moves a gang ahead of its own merit, and a namespace cannot give a new
 * gang the position of a gang that has waited long.
 *
 * order_settle() updates gang->order.behind before each planning pass, except in a step that waits
 * (plans_wait() in plan/plan_gang.h). by_order() is a total order
 * at any time: it compares the merit of `behind`, then the own priority, then the own merit.
 */
#ifndef MUSTER_GANG_PODGROUP_GANG_ORDER_H
#define MUSTER_GANG_PODGROUP_GANG_ORDER_H

#include "gang/cluster/lookup.h"

/* For qsort, over struct gang *: the order in which gangs are planned. A strict total order. */
int by_order(const void *a, const void *b);
/* The gang has an unfinished commit, and so precedes all gangs without one. */
bool gang_began_commit(const struct gang *gang);
/* Whether gang g is behind gang h in the order. */
bool order_after(const struct gang *g, const struct gang *h);
/* Removes the gang from the order, because it is about to be freed. */
void order_forget(struct gang_core *core, struct gang *gang);
/* Moves gangs that changed to their new positions. */
void order_settle(struct gang_core *core);
void order_done(struct gang_core *core);
/* Checks the invariants. Returns 0, or -1 with the first violation in err. */
int order_check(const struct gang_core *core, struct err *err);

#endif
