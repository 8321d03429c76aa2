/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_scan.h - iterates over the nodes for pods of a signature. For gang/ only.
 *
 * A scan visits each class of nodes (node_classes.h) once. Where a rule depends on the single node
 * (hostname, volumes, host ports, anti-affinity, spread, infeasible nodes), it visits every node
 * instead. One thread, as all of gang/.
 */
#ifndef MUSTER_GANG_PLAN_NODE_SCAN_H
#define MUSTER_GANG_PLAN_NODE_SCAN_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"

/*
 * One scan: a class is represented by the node that would be used first. Nodes without facts are
 * skipped.
 *
 *     struct node_scan scan = node_scan_begin(core, gang, signature, except);
 *     while (node_scan_next(&scan))
 *         ... scan.node, which represents scan.n nodes ...
 *
 * No slots may be added during a scan. gang and except may be NULL.
 */
struct node_scan {
    const struct gang_core *core;
    const struct gang *gang;
    const struct node *except;
    bool singly;              /* visits every node */
    struct node_class *class; /* of the node */
    struct node *node;
    size_t n;  /* nodes that `node` represents: 1, or all of the class but the exception */
    size_t at; /* into core->node_classes */
    size_t in; /* into the class, while its nodes are visited one by one */
};
struct node_scan node_scan_begin(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature, const struct node *except);
bool node_scan_next(struct node_scan *scan);
/* A step begins: core->work counts scanned nodes from here, weighted by the size of the rules. */
void scan_budget_begin(struct gang_core *core);
/* The node represents its class. */
static inline bool node_scan_covers_class(const struct node_scan *scan)
{
    return !scan->singly && !scan->class->anti_affinity;
}

#endif
