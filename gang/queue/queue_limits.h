/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_limits.h - whether a queue, and every queue above it, has room for more.
 *
 * Three limits, each for the resources that the pods request and the queue states:
 *   cap        what all pods below the queue may use together
 *   reserved   what its siblings have reserved and do not use stays free for them
 *   deserved   for gangs that are not preemptible, where the dialect limits them to it (KAI)
 *
 * Sources: KAI pkg/scheduler/plugins/proportion/capacity_policy, Volcano pkg/scheduler/plugins/
 * capacity (docs/queues.md says where muster differs).
 */
#ifndef MUSTER_GANG_QUEUE_QUEUE_LIMITS_H
#define MUSTER_GANG_QUEUE_QUEUE_LIMITS_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* Whether the needs exceed what the queue and those above it have left; *ret says where. queue
 * NULL: nothing is limited. */
bool queue_is_short(const struct gang_core *core, const struct queue *queue, bool firm,
                    struct need_list needs, struct queue_short *ret);
/* The same, or whether only what is promised to others is left: they wait for the end of evicted
 * pods that still count there. */
bool queue_is_promised(const struct gang_core *core, const struct queue *queue, bool firm,
                       struct need_list needs, struct queue_short *ret);
/* The queue, or one above it, has had more room since clock `since`. */
bool queue_freed_since(const struct queue *queue, uint64_t since);
/* The reason for which the queue refuses nodes to `n` pods like this one that are scheduled singly;
 * REASON_NONE: it does not. If the reason is a limit, sets *ret. Sets *ret_queue to the queue that
 * refuses them, or to NULL. */
enum gang_reason_code queue_refuses_pods(const struct gang_core *core, const struct pod *pod, int n,
                                         const struct queue **ret_queue, struct queue_short *ret);
bool queue_stops_pod(const struct gang_core *core, const struct pod *pod);

#endif
