/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earmark_queue.h - which nodes to earmark for pods of a signature: of all nodes that could hold a
 * pod if they were empty, next to what is earmarked there, the node that lacks least now.
 *
 * For several pods of a signature, one scan fills the queue. What is earmarked meanwhile only makes
 * nodes worse, so the top candidate is checked again before it is used.
 *
 * The queue is valid while room is earmarked only, and nothing else changes. It owns its heap,
 * and earmark_queue_done() frees it.
 */
#ifndef MUSTER_GANG_PLAN_EARMARK_QUEUE_H
#define MUSTER_GANG_PLAN_EARMARK_QUEUE_H

#include "gang/plan/node_heap.h"

struct earmark_queue {
    struct gang_core *core;
    const struct gang *gang;
    struct node_heap heap;
};

/* The best node for one more pod of the signature; NULL: none. */
struct node *earmark_queue_top(struct earmark_queue *q, struct signature *signature);
void earmark_queue_done(struct earmark_queue *q);

#endif
