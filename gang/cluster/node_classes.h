/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_classes.h - classes of nodes that are equal for the planner.
 *
 * Two nodes are in one class if all of this is equal:
 *   - the amounts of each resource: allocatable, free and earmarked;
 *   - the nominated room;
 *   - taints, spec.unschedulable, and the value of each class label (class_labels.h);
 *   - how many blocked pods were woken for the node in the last round;
 *   - whether it has pods with anti-affinity. If so, scans visit each node of the class.
 * A result for one node is then valid for the whole class, so a node scan costs as much as there
 * are classes. Of equal nodes, the planner takes the first by name. A class is therefore a heap by
 * name.
 *
 * Life cycle: code that changes any of the above marks the node with node_reclassify().
 * classes_settle() classifies the marked nodes before the next scan, and creates new classes. An
 * empty class stays until classes_sweep() at the end of the step, so pointers to classes are valid
 * for a step. A class owns its key and its table, and borrows the nodes.
 */
#ifndef MUSTER_GANG_CLUSTER_NODE_CLASSES_H
#define MUSTER_GANG_CLUSTER_NODE_CLASSES_H

#include "gang/cluster/lookup.h"

struct node_class {
    char *key;    /* everything in a node that the planner reads */
    size_t rules; /* length of the key's part for taints and labels */
    struct node **nodes;
    size_t n, cap;
    bool anti_affinity;   /* its nodes have pods with anti-affinity, so scans visit each node */
    struct list in_empty; /* in core->empty_classes if it lost its last node in this step */
};

/* Removes a node that is about to be freed from its class. */
void node_leaves_classes(struct gang_core *core, struct node *node);
void classes_settle(struct gang_core *core);
void classes_sweep(struct gang_core *core);
void classes_done(struct gang_core *core);
/* The first node by name, other than `except`, which may be NULL; NULL: none. */
struct node *class_first(const struct node_class *class, const struct node *except);
/* Checks that every node is in the right class or marked. Returns 0, or -1 with err. */
int classes_check(const struct gang_core *core, struct err *err);

#endif
