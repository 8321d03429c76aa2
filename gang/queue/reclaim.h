/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.h - whether a queue may take back room that it deserves and has lent to others.
 *
 * There are two rules:
 *   - RECLAIM_DESERVED: a gang may take room from another queue if its own queue, and each queue
 *     above it up to the two children of the lowest common ancestor, deserves what the gang needs.
 *     The other side must use more than it deserves at its child of the ancestor.
 *   - RECLAIM_SHARE, only between queues with facts->by_share, and only for preemptible gangs: the
 *     same with the fair share instead of the deserved amount.
 *
 * No queue on the other side may fall below what it deserves. So the two can never take from each
 * other in turn: afterwards, the first uses at most what it deserves, or its fair share.
 *
 * Only devices count for a gang that needs devices, and cpu and memory for other gangs.
 *
 * Sources: KAI pkg/scheduler/plugins/proportion/reclaimable (GuaranteeDeservedQuota,
 * MaintainFairShare), Volcano pkg/scheduler/plugins/capacity (reclaimable, deserved) and
 * proportion.
 */
#ifndef MUSTER_GANG_QUEUE_RECLAIM_H
#define MUSTER_GANG_QUEUE_RECLAIM_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

enum reclaim_rule { RECLAIM_DESERVED, RECLAIM_SHARE, RECLAIM_RULES };

/* The resources that count, by number. */
struct reclaimed {
    uint32_t resources[8];
    size_t n;
};

/* What a gang may take back. */
struct entitlement {
    /* The highest queue up to which all queues from the gang's own on pass the rule; NULL: not even
     * the gang's own queue does. */
    const struct queue *up_to[RECLAIM_RULES];
    struct reclaimed what;
};
/* firm: the gang is not preemptible. */
struct entitlement queue_entitlement(const struct gang_core *core, const struct queue *queue,
                                     struct need_list needs, bool firm);

/* Whether RECLAIM_SHARE may apply to gangs of the queue, which may be NULL. */
bool queue_takes_by_share(const struct queue *queue);
/* Whether the queue deserves, or has a fair share of, more of anything than it uses: if not, it is
 * not entitled to more. */
bool queue_deserves_more(const struct queue *queue);
/* The child of the lowest common ancestor on the side of `theirs`, if a gang of the queue `mine`
 * may take room there, and by which rule; NULL: it may not. */
const struct queue *queue_that_borrows(const struct gang_core *core, const struct queue *mine,
                                       const struct queue *theirs, const struct entitlement *e,
                                       enum reclaim_rule *ret_rule);
/* Whether `branch` uses more than the rule leaves it of a resource that counts. */
bool queue_uses_lent(const struct gang_core *core, const struct queue *branch,
                     enum reclaim_rule rule, const struct reclaimed *what);
/* Whether all queues from `queue` up to `branch` use at least what they deserve of the resources
 * that count. For a trial, after a victim is removed. */
bool queues_keep_deserved(const struct gang_core *core, const struct queue *queue,
                          const struct queue *branch, const struct reclaimed *what);
/* How long a gang of the queue runs at least before it may be taken: what the first queue states
 * from this one upwards. `reclaim`: by another queue. */
usec_t queue_min_runtime(const struct queue *queue, bool reclaim);

#endif
