/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_share.h - the fair share of each queue, its credit and its past use.
 *
 * Fair share, top down and for each resource: every child gets its deserved amount as far as it
 * wants it; the rest is divided by weight, those of the highest priority first, and nobody gets
 * more than it wants. Queues of weight 0 divide equally what the others leave. Shares are not
 * rounded to whole units: they are thousandths of a unit. Source of the rule: KAI
 * pkg/scheduler/plugins/proportion/resource_division.
 *
 * Credit ensures that a queue whose gangs are larger than its share comes first at some time. While
 * gangs of the queue wait, its credit grows by its share and falls by its use, each as a part of
 * the cluster times the time. It is at most what its largest waiting gang would use in
 * config.queue_half_life, and it fades with that half-life.
 *
 * Past use is for time-based fair share (config.queue_time_factor): the use of a queue, fading with
 * the half-life. It lowers the weight of queues that used more than their weight, and raises that
 * of others: w' = w + k (w - past), and at least a thousandth of w.
 *
 * All of it is computed at most once a second. After a restart credit and past use
 * begin at 0.
 */
#ifndef MUSTER_GANG_QUEUE_FAIR_SHARE_H
#define MUSTER_GANG_QUEUE_FAIR_SHARE_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* The whole cluster, where a part of it is counted. */
#define SHARE_ONE INT64_C(1000000000)

/* Counts the time that has passed as credit and past use. Before the step changes anything: until
 * now, the queues have used what the last step left. */
void shares_pass_time(struct gang_core *core);
/* Computes the shares if that was last done a second ago or longer; otherwise, soon. */
void shares_update(struct gang_core *core);
/* Whether the cached sums of what waiting gangs need are right. */
int shares_check(const struct gang_core *core, struct err *err);
/* a * b / c for c > 0, at most INT64_MAX / 2. Most products fit into 64 bits, which are divided
 * much faster than 128. */
static inline int64_t share_scaled(int64_t a, int64_t b, int64_t c)
{
    const int64_t most = INT64_MAX / 2;
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        return product / c < most ? product / c : most;
    __int128 scaled = (__int128)a * b / c;
    return scaled < most ? (int64_t)scaled : most;
}
/* The amount as a part of what the cluster has, in units of SHARE_ONE; 0 if the resource is not
 * cpu, memory or a device. */
int64_t cluster_part(const struct gang_core *core, const struct need *need);
/* The largest of these parts. */
int64_t dominant_part(const struct gang_core *core, const struct amounts *amounts);
/* With these needs in addition, the queue stays within its fair share. False without queues. */
bool queue_is_owed(const struct gang_core *core, const struct queue *queue, struct need_list needs);
/* x * 2^-(dt / half_life). */
int64_t share_fade(int64_t x, usec_t dt, usec_t half_life);
/* The weight of one resource in the order of queues, in millionths, adjusted for past use. It is
 * the weight that the queue states for the resource. If that is 0, it is the queue's largest
 * weight, because every pod uses cpu and memory, and they must not cancel the weight for devices.
 * For a device that the queue borrows, it stays 0. */
int64_t order_weight(const struct gang_core *core, const struct queue *queue,
                     const struct need *used);

#endif
