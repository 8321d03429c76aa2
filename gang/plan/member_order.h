/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member_order.h - the order in which a plan gives slots to the members of a gang. A pure function.
 *
 * placement.c sorts the members by it before each plan, and queue_check.c before it adds up needs.
 */
#ifndef MUSTER_GANG_PLAN_MEMBER_ORDER_H
#define MUSTER_GANG_PLAN_MEMBER_ORDER_H

/*
 * For qsort, over struct pod *. Pinned members come first, and members that missed the last attempt
 * come last: the more attempts in a row, the later. Members of other signatures are ordered by
 * volumes that limit their nodes, then by the largest need of devices, cpu and memory. Members of
 * one signature are ordered by creation and name. A strict total order.
 */
int by_placement(const void *a, const void *b);

#endif
