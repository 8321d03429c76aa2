/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_scan.h - iterates over the nodes for pods of a signature.
 *
 * A scan visits one node of each class (node_classes.h). If a rule may have different results for
 * nodes of one class, it visits every node instead. Such rules are about hostnames, volumes, host
 * ports, anti-affinity, topology spread and infeasible nodes.
 */
#ifndef MUSTER_GANG_PLAN_NODE_SCAN_H
#define MUSTER_GANG_PLAN_NODE_SCAN_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"

/*
 * One scan. It skips nodes without facts and the node `except`. Of a class, it visits the first
 * node by name.
 *
 *     struct node_scan scan = node_scan_begin(core, gang, signature, except);
 *     while (node_scan_next(&scan))
 *         ... scan.node, which represents scan.n nodes ...
 *
 * Do not add slots during a scan. gang and except may be NULL.
 */
struct node_scan {
    const struct gang_core *core;
    const struct gang *gang;
    const struct node *except;
    bool singly;              /* visit every node */
    struct node_class *class; /* the class of `node` */
    struct node *node;
    size_t n;  /* how many nodes `node` represents: 1, or all of the class without `except` */
    size_t at; /* the position in core->node_classes */
    size_t in; /* the next index in the class, if each of its nodes is visited */
};
struct node_scan node_scan_begin(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature, const struct node *except);
/* The same, soon after a scan for the signature: most pods need not be compared again. */
struct node_scan node_scan_again(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature);
/* The same, for nodes as they are without pods: host ports, anti-affinity and topology spread do
 * not matter. */
struct node_scan node_scan_empty_begin(struct gang_core *core, const struct gang *gang,
                                       struct signature *signature);
bool node_scan_next(struct node_scan *scan);
/* The work of one scan for the signature. */
int64_t node_scan_work(struct gang_core *core, const struct gang *gang,
                       struct signature *signature);
/* Whether the node represents its whole class. */
static inline bool node_scan_covers_class(const struct node_scan *scan)
{
    return !scan->singly && !scan->class->anti_affinity;
}

#endif
