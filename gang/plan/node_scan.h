/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_scan.h - looking at the nodes for pods of a signature. For gang/ only.
 *
 * Each class of nodes (node_classes.h) is looked at once. Where a rule tells single nodes apart
 * (the host's own name, volumes, host ports, anti-affinity, spread, what the scheduler refused),
 * the look goes to every node instead: see node_scan_next(). One thread, as all of gang/.
 */
#ifndef MUSTER_GANG_PLAN_NODE_SCAN_H
#define MUSTER_GANG_PLAN_NODE_SCAN_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"

/*
 * A look at the nodes for pods of a signature: each class once, by the node that would be taken
 * first; where that does not speak for the others, each node. Nodes without facts are passed over.
 *
 *     struct node_scan scan = node_scan_begin(core, gang, signature, except);
 *     while (node_scan_next(&scan))
 *         ... scan.node, which stands for scan.n nodes ...
 *
 * Slots may not be given while it lasts. gang and except may be NULL.
 */
struct node_scan {
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
struct node_scan node_scan_begin(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature, const struct node *except);
bool node_scan_next(struct node_scan *scan);
/* A step begins: looks at nodes are counted from here. */
void scan_budget_begin(struct gang_core *core);
/* The node speaks for its class. */
static inline bool node_scan_speaks_for_class(const struct node_scan *scan)
{
    return !scan->singly && !scan->class->anti_affinity;
}

#endif
