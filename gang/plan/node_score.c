/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/node_score.h"

#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/signatures.h"
#include "gang/plan/node_scan.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/infeasible_nodes.h"

/*
 * For pods with devices, the node with the fewest free devices is better, so that other nodes stay
 * empty. For other pods, a node without devices is better, then the node with the least free cpu.
 * The name decides between equal nodes, so that muster chooses the same after a restart.
 */
bool node_better(const struct signature *signature, const struct node *a, const struct node *b)
{
    if (signature->device >= 0) {
        int64_t x = node_free(a, (uint32_t)signature->device),
                y = node_free(b, (uint32_t)signature->device);
        if (x != y)
            return x < y;
    } else if (a->devices != b->devices) {
        return !a->devices;
    }
    int64_t x = node_free(a, RES_CPU), y = node_free(b, RES_CPU);
    return x != y ? x < y : strcmp(a->name, b->name) < 0;
}

bool node_passes(const struct gang *gang, struct rules *rules, const struct node *node,
                 const struct reach *reach)
{
    struct signature *signature = rules->signature;
    return node_misfit(node, signature, reach) == -1 && !signature_refusal(signature, node) &&
           !(gang && node_is_infeasible(rules->core, gang, signature, node)) &&
           rules_refusal(rules, node) == RULE_NONE;
}

bool node_is_feasible(const struct gang_core *core, const struct gang *gang,
                      struct signature *signature, const struct node *node,
                      const struct reach *reach)
{
    struct rules rules = rules_for(core, signature);
    return node_passes(gang, &rules, node, reach);
}

int64_t node_holds(const struct gang_core *core, const struct gang *gang,
                   struct signature *signature, const struct node *node)
{
    const struct reach reach = gang_reach(core, gang);
    int64_t most = signature->alone ? 1 : INT32_MAX;
    if (!node->facts || signature_refusal(signature, node) ||
        node_is_infeasible(core, gang, signature, node))
        return 0;
    for (size_t i = 0; i < signature->n_needs && most > 0; i++) {
        const struct need *need = &signature->needs[i];
        int64_t n = node_room(node, need->resource, &reach) / need->amount;
        most = n < most ? n : most;
    }
    return most > 0 ? most : 0;
}

struct node *plan_node(struct gang_core *core, const struct gang *gang, struct signature *signature,
                       const struct node *except)
{
    struct node *best = NULL;
    struct rules rules = rules_for(core, signature);
    struct reach reach = gang_reach(core, gang);
    struct node_scan scan = node_scan_begin(core, gang, signature, except);
    while (node_scan_next(&scan))
        if (node_passes(gang, &rules, scan.node, &reach) &&
            (!best || node_better(signature, scan.node, best)))
            best = scan.node;
    return best;
}
