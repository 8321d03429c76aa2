/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_classes.h - classes of nodes that are equal to the planner. For gang/ only.
 *
 * Two nodes are equal if they have the same amounts (allocatable, free, earmarked), the same
 * nominated room, the same taints, the same value of each class label (class_labels.h), the same
 * number of blocked pods woken for them in the last round, and no pods with anti-affinity. A result
 * for one node of a class holds for all, so the cost of a node scan grows with the number of
 * classes, not of nodes. Among equal nodes the planner takes the first by name: a class is a heap
 * by name.
 *
 * Life cycle: code that changes any of the above marks the node with node_reclassify();
 * classes_settle() classifies marked nodes before the next scan. The first node makes a class. A
 * class that lost its last node stays until classes_sweep() at the end of the step, so pointers to
 * classes stay valid within a step. The class owns its key and its table; nodes are borrowed. One
 * thread, like all of gang/.
 */
#ifndef MUSTER_GANG_CLUSTER_NODE_CLASSES_H
#define MUSTER_GANG_CLUSTER_NODE_CLASSES_H

#include "gang/cluster/lookup.h"

struct node_class {
    char *key;
    size_t rules; /* length of the key's part for taints and labels */
    struct node **nodes;
    size_t n, cap;
    bool anti_affinity;   /* its nodes have pods with anti-affinity: scan each node */
    struct list in_empty; /* core->empty_classes, if it lost its last node in this step */
};

/* Removes a node that goes from its class. */
void node_leaves_classes(struct gang_core *core, struct node *node);
void classes_settle(struct gang_core *core);
void classes_sweep(struct gang_core *core);
void classes_done(struct gang_core *core);
/* The first node by name; `except` may be NULL. NULL: none. */
struct node *class_first(const struct node_class *class, const struct node *except);
/* Checks the invariant: every node is in the right class, or marked. */
int classes_check(const struct gang_core *core, struct err *err);

#endif
