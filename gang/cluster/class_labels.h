/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_labels.h - the labels that divide nodes into classes. For gang/ only.
 *
 * The rules of pods may read any label. Each class label adds classes (node_classes.h), and every
 * plan scans all classes. So class labels are bounded: at most CLASS_LABELS_MAX keys, and at most
 * CLASS_LABEL_SETS_MAX distinct sets of their values.
 *
 * Namespaces share this bound. When it is reached, a namespace with a new key takes the place of
 * the largest key of the namespace with the largest share, if its own share stays smaller with the
 * new key. If a signature reads a key that is not a class label, the planner scans the nodes one by
 * one for this signature only. A key that no signature reads is dropped.
 *
 * Life cycle: call class_labels_cover() when a signature is planned, and class_labels_release()
 * when it is freed; class_labels_update() for each change of a node's labels;
 * class_labels_settle() before nodes are classified; class_labels_sweep() at the end of a step.
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
    bool is_class_label;
    /* Set only while it is a class label: */
    char *payer;        /* the namespace whose share includes it */
    uint32_t *value_of; /* by node id: the number of the node's value; 0: no value */
    size_t n_value_of;
    struct map values; /* value -> number */
};

/* The number of the node's value of the class label; 0: no value. */
static inline uint32_t class_label_value(const struct label_key *k, const struct node *node)
{
    return node->id < k->n_value_of ? k->value_of[node->id] : 0;
}

/* Whether all node labels that the signature reads are class labels. Makes them class labels if
 * possible. False: scan the nodes one by one for this signature. */
bool class_labels_cover(struct gang_core *core, struct signature *signature);
void class_labels_release(struct gang_core *core, struct signature *signature);
/* The pod now has the signature. If the pod is of another namespace, the signature's keys may now
 * fit into that namespace's share. */
void class_labels_pod_added(const struct gang_core *core, struct signature *signature,
                            const struct pod *pod);
/* For a trial: gives the node the class labels of `like`. */
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
