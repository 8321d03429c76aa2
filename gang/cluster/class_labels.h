/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_labels.h - the labels that divide nodes into classes. For gang/ only.
 *
 * Pods' rules may read any label, and each class label (node_classes.h) makes more classes, which
 * every plan scans. So class labels have a bound: CLASS_LABELS_MAX keys that make at most
 * CLASS_LABEL_SETS_MAX distinct sets of values. Namespaces share the bound: when it is reached, the
 * namespace with the largest share loses its largest key, if the requesting namespace has less even
 * with its new key. A signature with a key beyond the bound, or with a key whose value differs on
 * nearly every node, scans nodes one by one; other signatures do not. A key that no signature reads
 * any more is dropped.
 *
 * Life cycle: class_labels_cover() when a signature is planned; class_labels_release() when it is
 * freed. class_labels_update() on each change of a node's labels, class_labels_settle() before
 * nodes are classified, class_labels_sweep() at the end of a step.
 */
#ifndef MUSTER_GANG_CLUSTER_CLASS_LABELS_H
#define MUSTER_GANG_CLUSTER_CLASS_LABELS_H

#include "gang/cluster/lookup.h"

enum { CLASS_LABEL_SETS_MAX = 64 };

/* A label that some node has or some signature reads. */
struct label_key {
    char *key;
    size_t nodes; /* nodes with the label */
    size_t users; /* signatures that read it */
    /* while it is a class label: */
    bool is_class_label;
    char *payer;        /* the namespace whose share it counts against */
    uint32_t *value_of; /* by node id: a number for its value; 0: no value */
    size_t n_value_of;
    struct map values; /* value -> number */
};

/* The value of the node's class label as a number; 0: no value. */
static inline uint32_t class_label_value(const struct label_key *k, const struct node *node)
{
    return node->id < k->n_value_of ? k->value_of[node->id] : 0;
}

/* Whether classes separate all labels that the signature reads; else it must scan nodes one by
 * one. */
bool class_labels_cover(struct gang_core *core, struct signature *signature);
void class_labels_release(struct gang_core *core, struct signature *signature);
/* The pod now has the signature, whose keys may count against the pod's namespace. */
void class_labels_pod_added(struct signature *signature, const struct pod *pod);
/* Gives the node the labels of `like`. */
void class_labels_copy(struct node *node, const struct node *like);
/* The node's labels changed from `was` to `is`; either may be NULL. */
void class_labels_update(struct gang_core *core, struct node *node, const struct gang_kvs *was,
                         const struct gang_kvs *is);
void class_labels_settle(struct gang_core *core);
void class_labels_sweep(struct gang_core *core);
void class_labels_done(struct gang_core *core);
/* Checks the invariants: the bounds hold and all sums add up. */
int class_labels_check(const struct gang_core *core, struct err *err);

#endif
