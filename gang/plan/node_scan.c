/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/node_scan.h"

#include "gang/cluster/class_labels.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"
#include "gang/podgroup/infeasible_nodes.h"

/* Rules of a pod of so many bytes take as long as the rest of a look at a node. */
#define RULES_OF_A_LOOK 256

/* Whether some rule of the signature tells nodes of a class apart. */
static bool looks_singly(struct gang_core *core, struct signature *signature)
{
    return signature->ports || signature->anti_affinity || signature->spread ||
           signature->limited || !class_labels_cover(core, signature);
}

struct node_scan node_scan_begin(struct gang_core *core, const struct gang *gang,
                                 struct signature *signature, const struct node *except)
{
    struct node_scan scan = {.core = core, .gang = gang, .except = except};
    scan.singly =
        looks_singly(core, signature) || (gang && infeasible_nodes_known(core, gang, signature));
    classes_settle(core);
    size_t looks = scan.singly ? core->nodes.count : core->node_classes.count;
    core->work += (int64_t)(looks * (1 + signature->base / RULES_OF_A_LOOK));
    return scan;
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
        if (!node_scan_speaks_for_class(scan)) {
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

void scan_budget_begin(struct gang_core *core)
{
    core->work = 0;
}
