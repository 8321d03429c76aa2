/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_score.h - which node a pod of a signature gets: the feasible nodes, best first. For gang/
 * only.
 *
 * One scan fills a queue, which then serves all members of a signature: the fullest node stays the
 * fullest while it fills up, and the rank of the others does not change. The entries are classes,
 * represented by their first node, and single nodes where a rule depends on the node. When the top
 * node is full, the next node of its class replaces it. The queue is valid as long as slots are
 * added on its top node only; otherwise call node_queue_forget(). The queue owns its table;
 * node_queue_done() frees it.
 */
#ifndef MUSTER_GANG_PLAN_NODE_SCORE_H
#define MUSTER_GANG_PLAN_NODE_SCORE_H

#include "gang/cluster/lookup.h"

struct candidate {
    struct node *node;
    struct node_class *class; /* that the node represents; NULL: a single node */
};
struct node_queue {
    const struct gang *gang;
    struct reach reach;                /* of the gang */
    const struct signature *signature; /* NULL: the queue must be filled */
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

/* Whether the node is feasible for one more pod of the signature. */
bool node_is_feasible(const struct gang_core *core, const struct gang *gang,
                      struct signature *signature, const struct node *node,
                      const struct reach *reach);
/* Of the nodes that could hold one more pod of the signature beside what is earmarked if they were
 * empty, the one that lacks least for it now; NULL: none. */
struct node *future_node(struct gang_core *core, const struct gang *gang,
                         struct signature *signature);
bool node_better(const struct signature *signature, const struct node *a, const struct node *b);
/* The best node for the signature, by the planner's order; NULL: none. `except` may be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct signature *signature,
                       const struct node *except);

#endif
