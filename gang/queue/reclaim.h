/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.h - whether a queue may take back room that it deserves and has lent to others.
 *
 * A gang may take room from another queue if its own queue, and each queue above it up to the two
 * children of the lowest common ancestor, deserves what the gang needs. The other side must use
 * more than it deserves at its child of the ancestor, and each victim must use some of that. No
 * queue on that side may fall below what it deserves. So the two can never take from each other in
 * turn: afterwards, the first uses at most what it deserves.
 *
 * Only devices count for a gang that needs devices, and cpu and memory for other gangs. Other gangs
 * also leave each queue the devices that it deserves: see
 * docs/decisions/147-take-no-deserved-devices-for-cpu.md.
 *
 * Sources: KAI pkg/scheduler/plugins/proportion/reclaimable (GuaranteeDeservedQuota), Volcano
 * pkg/scheduler/plugins/capacity (reclaimable, deserved).
 */
#ifndef MUSTER_GANG_QUEUE_RECLAIM_H
#define MUSTER_GANG_QUEUE_RECLAIM_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* The resources that count, by number. */
struct reclaimed {
    uint32_t resources[8];
    size_t n;
    bool devices; /* they are devices */
};
struct reclaimed reclaimed_for(const struct gang_core *core, struct need_list needs);

/* Whether the queue deserves more of anything than it uses: if not, it is not entitled to more. */
bool queue_deserves_more(const struct queue *queue);
/* The highest queue up to which all queues from this one on deserve the needs, next to what they
 * use; NULL: not even the queue itself does. */
const struct queue *queue_entitled(const struct gang_core *core, const struct queue *queue,
                                   struct need_list needs);
/* The branch on the side of `theirs` (the child of the lowest common ancestor), if a queue that is
 * entitled up to `entitled` may take back what this branch has borrowed, if anything; NULL: it may
 * not. */
struct queue *queue_that_lends(const struct queue *mine, struct queue *theirs,
                               const struct queue *entitled);
/* The resources of `what` that `branch` has borrowed: it uses more of them than it deserves. */
struct reclaimed queue_lent(const struct gang_core *core, const struct queue *branch,
                            const struct reclaimed *what);
/* The sum of what `branch` uses of these resources. */
__int128 queue_uses(const struct gang_core *core, const struct queue *branch,
                    const struct reclaimed *what);
/* The first queue from `queue` up to `branch` that uses less than it deserves of the resources that
 * count; NULL: none. For a trial, after a victim is removed. */
const struct queue *queue_below_deserved(const struct gang_core *core, const struct queue *queue,
                                         const struct queue *branch, const struct reclaimed *what);
/* The same for the devices that the signature needs. */
const struct queue *queue_below_devices(const struct gang_core *core, const struct queue *queue,
                                        const struct queue *branch,
                                        const struct signature *signature);
/* How long a gang of the queue runs at least before it may be taken: what the first queue states
 * from this one upwards. `reclaim`: by another queue. */
usec_t queue_min_runtime(const struct queue *queue, bool reclaim);

/* The limit on reclaim: the part of what a branch uses that it may lose per 10 minutes, in percent
 * (config.reclaim_limit). A gang takes all that it needs in one decision. Otherwise, a gang that
 * needs more than the limit would wait forever. Then the branch rests until its loss has faded, at
 * the rate of the limit. If several resources count, the rest ends when one of them has faded. See
 * docs/decisions/137-limit-reclaim-by-a-pause.md. */

/* Notes that a pod is taken back from the branch, before the pod is evicted. */
void queue_loses(struct gang_core *core, struct queue *branch, const struct signature *signature);
/* When others may take back these resources from the branch again; 0: now. */
usec_t queue_rests_until(const struct gang_core *core, const struct queue *branch,
                         const struct reclaimed *what);

#endif
