/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/node_score.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/node_classes.h"
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

static bool passes_all(const struct gang *gang, struct rules *rules, const struct node *node,
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
    return passes_all(gang, &rules, node, reach);
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
        if (passes_all(gang, &rules, scan.node, &reach) &&
            (!best || node_better(signature, scan.node, best)))
            best = scan.node;
    return best;
}

/* ---- the queue ---- */

static void sink(struct node_queue *q, size_t at, const struct signature *signature)
{
    struct candidate *items = q->items;
    for (size_t child; (child = 2 * at + 1) < q->n; at = child) {
        child +=
            child + 1 < q->n && node_better(signature, items[child + 1].node, items[child].node);
        if (!node_better(signature, items[child].node, items[at].node))
            return;
        struct candidate up = items[child];
        items[child] = items[at];
        items[at] = up;
    }
}

static void fill(struct gang_core *core, struct node_queue *q, struct signature *signature)
{
    bool again = q->signature == signature;
    struct rules rules = rules_for(core, signature);
    q->n = 0;
    q->signature = signature;
    struct node_scan scan = again ? node_scan_again(core, q->gang, signature)
                                  : node_scan_begin(core, q->gang, signature, NULL);
    while (node_scan_next(&scan)) {
        if (!passes_all(q->gang, &rules, scan.node, &q->reach))
            continue;
        GROW(q->items, q->cap, q->n + 1);
        q->items[q->n++] =
            (struct candidate){scan.node, node_scan_covers_class(&scan) ? scan.class : NULL};
    }
    for (size_t i = q->n / 2; i-- > 0;)
        sink(q, i, signature);
}

/* Replaces the top node, which is full, by the next node of its class. False: there is none. The
 * full node is now in another class, unless the whole class is no longer feasible. */
static bool next_of_class(struct gang_core *core, struct candidate *top)
{
    if (!top->class)
        return false;
    classes_settle(core);
    struct node *full = top->node;
    top->node = class_first(top->class, NULL);
    return top->node && top->node != full;
}

struct node *node_queue_top(struct gang_core *core, struct node_queue *q,
                            struct signature *signature)
{
    if (q->signature != signature)
        fill(core, q, signature);
    while (q->n && !node_is_feasible(core, q->gang, signature, q->items[0].node, &q->reach)) {
        if (!next_of_class(core, &q->items[0]))
            q->items[0] = q->items[--q->n];
        sink(q, 0, signature);
    }
    /* With topology spread, a node may become feasible again after members were placed elsewhere.
     */
    if (!q->n && signature->spread)
        fill(core, q, signature);
    return q->n ? q->items[0].node : NULL;
}

void node_queue_done(struct node_queue *q)
{
    free(q->items);
}
