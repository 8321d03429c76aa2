/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member_order.h - the order in which a plan gives slots to the members of a gang. Pure.
 */
#ifndef MUSTER_GANG_PLAN_MEMBER_ORDER_H
#define MUSTER_GANG_PLAN_MEMBER_ORDER_H

/*
 * For qsort, over struct pod *: pinned members; those that did not miss the last attempt; then by
 * signature, first those that volumes limit, then the largest needs; then by creation and name. A
 * strict total order.
 */
int by_placement(const void *a, const void *b);

#endif
