/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_labels.h - the labels by which nodes are told apart. For gang/ only.
 *
 * A pod's rules may ask for any label, and each label that classes of nodes go by (node_classes.h)
 * makes more classes, which every plan looks at. So the labels have a bound, CLASS_LABELS_MAX keys
 * that make CLASS_LABEL_SETS_MAX kinds of nodes together, and namespaces share it: where it is
 * reached, the namespace that has most of it loses its largest key, if the one that asks has less
 * all the same. Shapes that ask for a key beyond the bound, or for one that is another on nearly
 * each node, look at each node; nobody else does. A key that no signature asks for any more is
 * forgotten.
 *
 * Life cycle: class_labels_cover() when a signature is looked at; class_labels_release() when it
 * dies. class_labels_update() for each change of a node's labels, class_labels_settle() before
 * nodes are put into classes, class_labels_sweep() at the end of a step.
 */
#ifndef MUSTER_GANG_CLUSTER_CLASS_LABELS_H
#define MUSTER_GANG_CLUSTER_CLASS_LABELS_H

#include "gang/cluster/lookup.h"

enum { CLASS_LABEL_SETS_MAX = 64 };

/* A label that some node has, or that a signature asks for. */
struct label_key {
    char *key;
    size_t nodes; /* that have it */
    size_t users; /* signatures that ask for it */
    /* while nodes are told apart by it: */
    bool class_labels;
    char *payer;        /* the namespace of whose share it is */
    uint32_t *value_of; /* by id of the node: a number for its value; 0: it has none */
    size_t n_value_of;
    struct map values; /* value -> number */
};

/* The value of the node's label as a number; 0: it has none. The key is told. */
static inline uint32_t class_label_value(const struct label_key *k, const struct node *node)
{
    return node->id < k->n_value_of ? k->value_of[node->id] : 0;
}

/* Whether classes tell apart what the signature asks for: else it has to look at each node. */
bool class_labels_cover(struct gang_core *core, struct signature *signature);
void class_labels_release(struct gang_core *core, struct signature *signature);
/* The pod is of the signature now: it may ask for another namespace. */
void class_labels_pod_added(struct signature *signature, const struct pod *pod);
/* The node has the labels of another one. */
void class_labels_copy(struct node *node, const struct node *like);
/* The node has these labels now instead of those; either may be NULL. */
void class_labels_update(struct gang_core *core, struct node *node, const struct gang_kvs *was,
                         const struct gang_kvs *is);
void class_labels_settle(struct gang_core *core);
void class_labels_sweep(struct gang_core *core);
void class_labels_done(struct gang_core *core);
/* The invariants: the bounds are kept, and everything adds up. */
int class_labels_check(const struct gang_core *core, struct err *err);

#endif
