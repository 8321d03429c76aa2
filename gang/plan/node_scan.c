/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/node_scan.h"

#include "gang/cluster/class_labels.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/step_work.h"
#include "gang/podgroup/infeasible_nodes.h"

/* Evaluating this many bytes of rules takes as long as the other work for one node. */
#define RULE_BYTES_PER_NODE 256
/* So does comparing this many pods with the rules. */
#define PODS_PER_NODE 32

/* Whether a rule about nodes may have different results for nodes of one class. */
static bool nodes_differ(struct gang_core *core, const struct gang *gang,
                         struct signature *signature)
{
    return signature->limited || !class_labels_cover(core, signature) ||
           (gang && infeasible_nodes_known(core, gang, signature));
}

/* Classes without nodes do not count, because a dry run may leave some until the next step ends. */
static int64_t work_of(const struct node_scan *scan, const struct signature *signature,
                       size_t compared)
{
    size_t visits = scan->singly ? scan->core->nodes.count : scan->core->n_used_classes;
    return (int64_t)((visits + compared / PODS_PER_NODE) *
                     (1 + signature->base / RULE_BYTES_PER_NODE));
}

/* How many pods the scan may have to compare with the signature's rules between pods. What is
 * cached does not matter, because queries change it. */
static size_t compared_by(const struct gang_core *core, const struct signature *signature)
{
    return signature->anti_affinity || signature->spread ? map_count(&core->pods) : 0;
}

static struct node_scan scan_new(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature, const struct node *except)
{
    struct node_scan scan = {.core = core, .gang = gang, .except = except};
    scan.singly = nodes_differ(core, gang, signature) || signature_has_pod_rules(signature);
    classes_settle(core);
    return scan;
}

struct node_scan node_scan_begin(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature, const struct node *except)
{
    struct node_scan scan = scan_new(core, gang, signature, except);
    step_work_spend(core, work_of(&scan, signature, compared_by(core, signature)));
    return scan;
}

struct node_scan node_scan_again(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature)
{
    struct node_scan scan = scan_new(core, gang, signature, NULL);
    step_work_spend(core, work_of(&scan, signature, 0));
    return scan;
}

struct node_scan node_scan_empty_begin(struct gang_core *core, const struct gang *gang,
                                       struct signature *signature)
{
    struct node_scan scan = scan_new(core, gang, signature, NULL);
    scan.singly = nodes_differ(core, gang, signature);
    step_work_spend(core, work_of(&scan, signature, 0));
    return scan;
}

int64_t node_scan_work(struct gang_core *core, const struct gang *gang, struct signature *signature)
{
    struct node_scan scan = scan_new(core, gang, signature, NULL);
    return work_of(&scan, signature, compared_by(core, signature));
}

static bool next_in_class(struct node_scan *scan)
{
    while (scan->class && scan->in < scan->class->n) {
        scan->node = scan->class->nodes[scan->in++];
        if (scan->node != scan->except)
            return true;
    }
    return false;
}

bool node_scan_next(struct node_scan *scan)
{
    scan->n = 1;
    if (next_in_class(scan))
        return true;
    struct map_entry *e;
    while ((e = map_next(&scan->core->node_classes, &scan->at)) != NULL) {
        scan->class = e->value;
        if (!node_scan_covers_class(scan)) {
            scan->in = 0;
            if (next_in_class(scan))
                return true;
            continue;
        }
        scan->in = scan->class->n;
        scan->node = class_first(scan->class, scan->except);
        if (!scan->node)
            continue;
        bool without = scan->except && scan->except->class == scan->class;
        scan->n = scan->class->n - without;
        return true;
    }
    return false;
}
