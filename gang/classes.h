/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classes.h - nodes that are equal to the planner, taken together. For gang/ only.
 *
 * Two nodes are equal when they have the same amounts (allocatable, free, kept), the same taints,
 * the same value of each label by which nodes are told apart (told.h), as many starved
 * pods were sent to them for the last news, and no pods with anti-affinity on them. What is found
 * out about one node of a class goes for all, so a look at the nodes costs with the kinds of nodes,
 * not with their number. Of equals the planner takes the first by name: a class is a heap by name.
 *
 * Where a rule tells single nodes apart (the host's own name, volumes, host ports, anti-affinity,
 * spread, what the scheduler refused), the look goes to every node instead: see look_next().
 *
 * Life cycle: whoever changes anything of the above marks the node with node_moved(); marked nodes
 * are put into the class of what they are now by classes_settle(), before the next look. A class is
 * made with its first node. One that has lost its last stays until classes_sweep() at the end of
 * the step, so nobody's pointer to one dies within a step. The class owns its key and its table;
 * nodes are borrowed. One thread, as all of gang/.
 */
#ifndef MUSTER_GANG_CLASSES_H
#define MUSTER_GANG_CLASSES_H

#include "gang/core.h"

struct node_class {
    char *key;
    size_t rules; /* so much of the key is about taints and labels */
    struct node **nodes;
    size_t n, cap;
    bool apart;          /* pods with anti-affinity are on them: each node is looked at */
    struct list in_bare; /* core->bare: it lost its last node in this step */
};

/* A node that was made is in no class yet; one that goes is in none any more. */
void node_joins_classes(struct gang_core *core, struct node *node);
void node_leaves_classes(struct gang_core *core, struct node *node);
/* Something that its class goes by may have changed: in the ledger, its facts, who is there. */
void node_moved(struct gang_core *core, struct node *node);
void classes_settle(struct gang_core *core);
void classes_sweep(struct gang_core *core);
void classes_done(struct gang_core *core);
/* The first by name; `except` may be NULL. NULL: there is none. */
struct node *class_first(const struct node_class *class, const struct node *except);
/* The invariants: every node is in the class of what it is, or marked. */
int classes_check(const struct gang_core *core, struct err *err);

/*
 * A look at the nodes for pods of a shape: each class once, by the node that would be taken first;
 * where that does not speak for the others, each node. Nodes without facts are passed over.
 *
 *     struct look look = look_begin(core, gang, shape, except);
 *     while (look_next(&look))
 *         ... look.node, which stands for look.n nodes ...
 *
 * Slots may not be given while it lasts. gang and except may be NULL.
 */
struct look {
    const struct gang_core *core;
    const struct gang *gang;
    const struct node *except;
    bool singly;              /* every node for itself */
    struct node_class *class; /* of the node */
    struct node *node;
    size_t n;  /* nodes it stands for: 1, or all of the class but the exception */
    size_t at; /* into core->node_classes */
    size_t in; /* into the class, while its nodes are looked at one by one */
};
struct look look_begin(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except);
bool look_next(struct look *look);
/* The node speaks for its class. */
static inline bool look_is_whole(const struct look *look)
{
    return !look->singly && !look->class->apart;
}

#endif
