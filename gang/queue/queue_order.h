/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_order.h - which of two queues comes first.
 *
 * Two queues are compared level by level: at their lowest common ancestor, by the branches that
 * lead to them. A branch comes first that uses less than it deserves; then by priority, then by the
 * dominant share divided by weight, then by age and name. Queues of weight 0 come after the others,
 * by their undivided share. The credit (fair_share.h) of a queue whose largest waiting gang exceeds
 * its fair share is subtracted from its share: a queue with a second of credit comes before the
 * others, one in debt after them.
 */
#ifndef MUSTER_GANG_QUEUE_QUEUE_ORDER_H
#define MUSTER_GANG_QUEUE_QUEUE_ORDER_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* Two children of the same queue; < 0: a comes first. A strict total order. */
int siblings_order(const struct gang_core *core, struct queue *a, struct queue *b);
/* Any two queues; 0: they are the same. A queue comes before those below it. */
int queues_order(const struct gang_core *core, struct queue *a, struct queue *b);

#endif
