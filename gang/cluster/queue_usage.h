/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_usage.h - what the pods of each queue use: the second ledger beside that of the nodes.
 *
 * A charged pod or a slot counts in one queue and in all queues above it, up to the root. It counts
 * at most what its node has, so that a pod with an absurd request cannot fill the queues above its
 * own. Every change of a charge, a slot, a pod's gang or a gang's queue calls queue_count_pod() or
 * queue_count_slot(), which move the count to the right queue.
 */
#ifndef MUSTER_GANG_CLUSTER_QUEUE_USAGE_H
#define MUSTER_GANG_CLUSTER_QUEUE_USAGE_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* Names that mean the same as none, unless a queue has the name. */
bool queue_is_default(const char *name);
/* The queue that pods of the namespace are in, unless they name another; NULL: none. */
struct queue *queue_of_namespace(const struct gang_core *core, const char *ns);
/* The queue with that name; NULL: nothing names it. */
struct queue *queue_find(const struct gang_core *core, const struct gang_ref *ref);
/* The queue in which the gang counts; NULL: without queues. */
static inline struct queue *queue_of_gang(const struct gang_core *core, const struct gang *gang)
{
    return gang->queue ? gang->queue : core->queues.none;
}
/* The queue in which the pod counts; NULL: without queues, or for a gang that has none yet. */
struct queue *queue_of_pod(const struct gang_core *core, const struct pod *pod);
/* The same, for a pod without a gang: the queue that it names, or the one of its namespace; NULL:
 * it names none. Sets *ret_missing if it names a queue that does not exist. */
struct queue *queue_of_single(const struct gang_core *core, const struct gang_pod_facts *pod,
                              bool *ret_missing);

/* The queue that counts what the pod uses; NULL: none, because it is not charged. */
struct queue *queue_that_counts(const struct gang_core *core, const struct pod *pod);

/* Whether gangs and pods of the priority that state nothing are not preemptible there. */
static inline bool queue_is_firm(const struct queue *queue, int32_t priority)
{
    int32_t from = queue && queue->facts ? queue->facts->firm_priority : 0;
    return from && priority >= from;
}
/* Whether the pod fits only inside what its queue deserves. */
bool pod_is_firm(const struct pod *pod, const struct queue *queue);

/* Moves the count of the pod (slot) to where it belongs now. */
void queue_count_pod(struct gang_core *core, struct pod *pod);
void queue_count_slot(struct gang_core *core, struct slot *slot);
/* Counts new slots, alike ones together: begin with n = 0, and end the batch. */
struct queue_batch {
    const struct slot *like;
    int n;
};
void queue_batch_add(struct gang_core *core, struct queue_batch *batch, struct slot *slot);
void queue_batch_end(struct gang_core *core, struct queue_batch *batch);
/* In between, each pod counts in its own queue at once, and in the queues above it at the end: for
 * many pods, this does not take as long as they have levels above them. */
void queue_counts_begin(struct gang_core *core);
void queue_counts_end(struct gang_core *core);
/* The pod (slot) no longer counts: before its charge, needs or node change. */
void queue_uncount_pod(struct gang_core *core, struct pod *pod);
void queue_uncount_slot(struct gang_core *core, struct slot *slot);
/* All pods and slots of the gang: its queue or its preemptibility changed. */
void queue_count_gang(struct gang_core *core, struct gang *gang);
/* All pods and slots on the node: its allocatable resources will change, and have changed. */
void queue_uncount_node(struct gang_core *core, struct node *node);
void queue_count_node(struct gang_core *core, struct node *node);
/* Counts the gang in the status of its queue, as what it is now; or, before it leaves the queue or
 * is freed, no longer. */
void queue_show_gang(struct gang_core *core, struct gang *gang);
void queue_hide_gang(struct gang_core *core, struct gang *gang);
/* Everything: before the tree goes, and when there is one. */
void queue_uncount_all(struct gang_core *core);
void queue_count_all(struct gang_core *core);
/* Adds (sign 1) what the queue and those below it count to the queues above it: it has been
 * attached. Subtracts it (-1): it will be detached. */
void queue_count_branch(struct gang_core *core, struct queue *queue, int sign);
/* Whether the queue's parent counts what it has reserved and does not use: not while its limits
 * change. */
void queue_count_reserve(struct gang_core *core, const struct queue *queue, bool counts);
/* Counts the needs in the queue and in all above it as if pods used them; sign -1: no longer. In a
 * trial, which the caller ends without such needs. */
void queue_pretend(struct gang_core *core, struct queue *queue, bool firm, struct need_list needs,
                   int sign);
/* What the children of the queue have reserved and do not use. */
__int128 queue_unused_reserves(const struct queue *parent, uint32_t resource);
void queue_usage_done(struct gang_core *core, struct queue *queue);
void queue_counting_done(struct gang_core *core);
/* A limit grew, or its tree did: gangs that the queue stopped may fit. */
void queue_freed(struct gang_core *core, struct queue *queue);
/* Something else that orders queues has changed, such as their shares. */
void queues_reorder(struct gang_core *core);
/* What gangs in it need may have changed, and so what the queues above it want. NULL: no queue. */
void queue_want_changed(struct gang_core *core, struct queue *queue);
/* The same for all queues. */
void queues_want_changed(struct gang_core *core);
/* Its status may have changed, and that of the queues above it. NULL: no queue. */
void queue_touch(struct gang_core *core, struct queue *queue);
/* Begins a round, in which all such queues are taken one by one. They are not in the next round,
 * unless they change again after they are taken. */
void queues_changed_begin(struct gang_core *core);
/* Takes the next queue of the round; NULL: it is over. */
struct queue *queue_changed_take(struct gang_core *core);

/* How much the whole cluster has of the resource; 0: none. */
int64_t queue_total(const struct gang_core *core, uint32_t resource);
/* What the queue states about the resource; NULL: nothing. */
static inline const struct quota *queue_quota(const struct queue *queue, uint32_t resource)
{
    for (size_t i = 0; i < queue->n_quotas && queue->quotas[i].resource <= resource; i++)
        if (queue->quotas[i].resource == resource)
            return &queue->quotas[i];
    return NULL;
}
/* The weight of the queue, in thousandths, for resources without a quota. */
static inline int64_t queue_weight(const struct queue *queue)
{
    return queue->facts ? queue->facts->weight : 1000;
}
static inline int32_t queue_priority(const struct queue *queue)
{
    return queue->facts ? queue->facts->priority : 0;
}
/* GANG_ANY_GPU if the resource counts in it too; else RES_UNKNOWN. */
uint32_t queue_alias_of(const struct gang_core *core, uint32_t resource);
static inline uint32_t queue_alias(const struct gang_core *core, uint32_t resource)
{
    return core->any_gpu == RES_UNKNOWN ? RES_UNKNOWN : queue_alias_of(core, resource);
}
/* Whether the resource is among the needs; *ret gets how much of it is needed. For GANG_ANY_GPU,
 * all kinds of GPUs together. */
bool needs_list(const struct gang_core *core, struct need_list needs, uint32_t r, int64_t *ret);

#endif
