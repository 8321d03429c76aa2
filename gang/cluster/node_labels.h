/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_labels.h - the labels by which nodes are told apart. For gang/ only.
 *
 * A pod's rules may ask for any label, and each label that classes of nodes go by (node_classes.h)
 * makes more classes, which every plan looks at. So the labels have a bound, TOLD_MAX keys that
 * make PARTS_MAX kinds of nodes together, and namespaces share it: where it is reached, the
 * namespace that has most of it loses its largest key, if the one that asks has less all the same.
 * Shapes that ask for a key beyond the bound, or for one that is another on nearly each node, look
 * at each node; nobody else does. A key that no shape asks for any more is forgotten.
 *
 * Life cycle: told_by() when a shape is looked at; told_end() when it dies. told_note() for each
 * change of a node's labels, told_settle() before nodes are put into classes, told_sweep() at the
 * end of a step.
 */
#ifndef MUSTER_GANG_CLUSTER_NODE_LABELS_H
#define MUSTER_GANG_CLUSTER_NODE_LABELS_H

#include "gang/cluster/objects.h"

enum { PARTS_MAX = 64 };

/* A label that some node has, or that a shape asks for. */
struct label_key {
    char *key;
    size_t nodes; /* that have it */
    size_t users; /* shapes that ask for it */
    /* while nodes are told apart by it: */
    bool told;
    char *payer;        /* the namespace of whose share it is */
    uint32_t *value_of; /* by id of the node: a number for its value; 0: it has none */
    size_t n_value_of;
    struct map values; /* value -> number */
};

/* The value of the node's label as a number; 0: it has none. The key is told. */
static inline uint32_t told_value(const struct label_key *k, const struct node *node)
{
    return node->id < k->n_value_of ? k->value_of[node->id] : 0;
}

/* Whether classes tell apart what the shape asks for: else it has to look at each node. */
bool told_by(struct gang_core *core, struct shape *shape);
void told_end(struct gang_core *core, struct shape *shape);
/* The pod is of the shape now: it may ask for another namespace. */
void told_join(struct shape *shape, const struct pod *pod);
/* The node has the labels of another one. */
void told_like(struct node *node, const struct node *like);
/* The node has these labels now instead of those; either may be NULL. */
void told_note(struct gang_core *core, struct node *node, const struct gang_kvs *was,
               const struct gang_kvs *is);
void told_settle(struct gang_core *core);
void told_sweep(struct gang_core *core);
void told_done(struct gang_core *core);
/* The invariants: the bounds are kept, and everything adds up. */
int told_check(const struct gang_core *core, struct err *err);

#endif
