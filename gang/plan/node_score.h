/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_score.h - which node a pod of a shape gets: those that will do, the best first. For gang/
 * only.
 *
 * A queue is filled by one look at the nodes and serves all members of a shape: the fullest node
 * stays the fullest while it is filled, and no other changes its rank meanwhile. Its entries are
 * classes, by their first node, and single nodes where a rule tells them apart; when the node on
 * top is full, the next of its class takes its place. It is valid while only its own top is given
 * slots; else queue_forget(). The queue owns its table; queue_done() frees it.
 */
#ifndef MUSTER_GANG_PLAN_NODE_SCORE_H
#define MUSTER_GANG_PLAN_NODE_SCORE_H

#include "gang/cluster/objects.h"

struct candidate {
    struct node *node;
    struct node_class *class; /* whose first node it was; NULL: it stands for itself */
};
struct queue {
    const struct gang *gang;
    struct reach reach;        /* of the gang */
    const struct shape *shape; /* NULL: it is to be filled */
    struct candidate *items;   /* a heap */
    size_t n, cap;
};

/* The best node for one more pod of the shape; NULL: none. */
struct node *queue_top(struct gang_core *core, struct queue *q, struct shape *shape);
static inline void queue_forget(struct queue *q)
{
    q->shape = NULL;
}
void queue_done(struct queue *q);

/* Whether the node will do for one more. */
bool node_does(const struct gang_core *core, const struct gang *gang, struct shape *shape,
               const struct node *node, const struct reach *reach);
struct node *some_day_node(struct gang_core *core, const struct gang *gang, struct shape *shape);
bool node_better(const struct shape *shape, const struct node *a, const struct node *b);
/* The best node for the shape, by the planner's order; NULL: none. `except` may be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except);

#endif
