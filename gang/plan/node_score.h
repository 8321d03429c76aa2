/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_score.h - which node a pod of a signature gets: those that will do, the best first. For
 * gang/ only.
 *
 * A queue is filled by one look at the nodes and serves all members of a signature: the fullest
 * node stays the fullest while it is filled, and no other changes its rank meanwhile. Its entries
 * are classes, by their first node, and single nodes where a rule tells them apart; when the node
 * on top is full, the next of its class takes its place. It is valid while only its own top is
 * given slots; else node_queue_forget(). The queue owns its table; node_queue_done() frees it.
 */
#ifndef MUSTER_GANG_PLAN_NODE_SCORE_H
#define MUSTER_GANG_PLAN_NODE_SCORE_H

#include "gang/cluster/lookup.h"

struct candidate {
    struct node *node;
    struct node_class *class; /* whose first node it was; NULL: it stands for itself */
};
struct node_queue {
    const struct gang *gang;
    struct reach reach;                /* of the gang */
    const struct signature *signature; /* NULL: it is to be filled */
    struct candidate *items;           /* a heap */
    size_t n, cap;
};

/* The best node for one more pod of the signature; NULL: none. */
struct node *node_queue_top(struct gang_core *core, struct node_queue *q,
                            struct signature *signature);
static inline void node_queue_forget(struct node_queue *q)
{
    q->signature = NULL;
}
void node_queue_done(struct node_queue *q);

/* Whether the node will do for one more. */
bool node_does(const struct gang_core *core, const struct gang *gang, struct signature *signature,
               const struct node *node, const struct reach *reach);
struct node *future_node(struct gang_core *core, const struct gang *gang,
                         struct signature *signature);
bool node_better(const struct signature *signature, const struct node *a, const struct node *b);
/* The best node for the signature, by the planner's order; NULL: none. `except` may be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct signature *signature,
                       const struct node *except);

#endif
