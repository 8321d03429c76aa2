/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_classes.h - nodes that are equal to the planner, taken together. For gang/ only.
 *
 * Two nodes are equal when they have the same amounts (allocatable, free, kept), the same taints,
 * the same value of each label by which nodes are told apart (class_labels.h), as many starved
 * pods were sent to them for the last news, and no pods with anti-affinity on them. What is found
 * out about one node of a class goes for all, so a look at the nodes costs with the kinds of nodes,
 * not with their number. Of equals the planner takes the first by name: a class is a heap by name.
 *
 * Life cycle: whoever changes anything of the above marks the node with node_reclassify(); marked
 * nodes are put into the class of what they are now by classes_settle(), before the next look. A
 * class is made with its first node. One that has lost its last stays until classes_sweep() at the
 * end of the step, so nobody's pointer to one dies within a step. The class owns its key and its
 * table; nodes are borrowed. One thread, as all of gang/.
 */
#ifndef MUSTER_GANG_CLUSTER_NODE_CLASSES_H
#define MUSTER_GANG_CLUSTER_NODE_CLASSES_H

#include "gang/cluster/lookup.h"

struct node_class {
    char *key;
    size_t rules; /* so much of the key is about taints and labels */
    struct node **nodes;
    size_t n, cap;
    bool anti_affinity;   /* pods with anti-affinity are on them: each node is looked at */
    struct list in_empty; /* core->empty_classes: it lost its last node in this step */
};

/* A node that goes is in no class any more. */
void node_leaves_classes(struct gang_core *core, struct node *node);
void classes_settle(struct gang_core *core);
void classes_sweep(struct gang_core *core);
void classes_done(struct gang_core *core);
/* The first by name; `except` may be NULL. NULL: there is none. */
struct node *class_first(const struct node_class *class, const struct node *except);
/* The invariants: every node is in the class of what it is, or marked. */
int classes_check(const struct gang_core *core, struct err *err);

#endif
