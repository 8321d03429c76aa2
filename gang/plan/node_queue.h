/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_queue.h - which node is best for each of several pods of a signature.
 *
 * One scan fills the queue. The fullest node is the best. It stays the best while it fills up, and
 * the rank of the other nodes does not change. A candidate is a class, represented by its first
 * node, or a single node if a rule depends on the node. When the top node is full, the next node of
 * its class replaces it.
 *
 * The queue is valid while slots are added on its top node only. After any other change, call
 * node_queue_forget(). The queue owns its heap, and node_queue_done() frees it.
 */
#ifndef MUSTER_GANG_PLAN_NODE_QUEUE_H
#define MUSTER_GANG_PLAN_NODE_QUEUE_H

#include "gang/plan/node_heap.h"

struct node_queue {
    const struct gang *gang;
    struct reach reach; /* of the gang */
    struct node_heap heap;
};

/* The best node for one more pod of the signature; NULL: none. */
struct node *node_queue_top(struct gang_core *core, struct node_queue *q,
                            struct signature *signature);
static inline void node_queue_forget(struct node_queue *q)
{
    q->heap.signature = NULL;
}
void node_queue_done(struct node_queue *q);

#endif
