/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_score.h - which feasible node is best for a pod of a signature.
 *
 * For several pods of a signature, one scan fills a queue (struct node_queue). The fullest node is
 * the best. It stays the best while it fills up, and the rank of the other nodes does not change.
 * An entry is a class, represented by its first node, or a single node if a rule depends on the
 * node. When the top node is full, the next node of its class replaces it.
 *
 * The queue is valid while slots are added on its top node only. After any other change, call
 * node_queue_forget(). The queue owns its table, and node_queue_done() frees it.
 */
#ifndef MUSTER_GANG_PLAN_NODE_SCORE_H
#define MUSTER_GANG_PLAN_NODE_SCORE_H

#include "gang/cluster/lookup.h"

struct candidate {
    struct node *node;
    struct node_class *class; /* the class that the node represents; NULL: a single node */
};
struct node_queue {
    const struct gang *gang;
    struct reach reach;                /* of the gang */
    const struct signature *signature; /* NULL: fill the queue before use */
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

/* Whether the node is feasible for one more pod of the signature. gang NULL: an ordinary pod. */
bool node_is_feasible(const struct gang_core *core, const struct gang *gang,
                      struct signature *signature, const struct node *node,
                      const struct reach *reach);
/* An estimate of how many more members of the signature fit on the node: without host ports and
 * most rules between pods. */
int64_t node_holds(const struct gang_core *core, const struct gang *gang,
                   struct signature *signature, const struct node *node);
/* Whether node a is better than node b for pods of the signature. A strict total order. */
bool node_better(const struct signature *signature, const struct node *a, const struct node *b);
/* The best feasible node for one more pod of the signature; NULL: none. Skips `except`, which may
 * be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct signature *signature,
                       const struct node *except);

#endif
