/* SPDX-License-Identifier: Apache-2.0 */
/*
 * candidates.h - looking at the nodes for pods of a shape. For gang/ only.
 *
 * Each class of nodes (node_classes.h) is looked at once. Where a rule tells single nodes apart
 * (the host's own name, volumes, host ports, anti-affinity, spread, what the scheduler refused),
 * the look goes to every node instead: see look_next(). One thread, as all of gang/.
 */
#ifndef MUSTER_GANG_PLAN_CANDIDATES_H
#define MUSTER_GANG_PLAN_CANDIDATES_H

#include "gang/cluster/node_classes.h"
#include "gang/cluster/objects.h"

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
/* A step begins: looks at nodes are counted from here. */
void work_begin(struct gang_core *core);
/* The node speaks for its class. */
static inline bool look_is_whole(const struct look *look)
{
    return !look->singly && !look->class->apart;
}

#endif
