/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/anti_affinity_and_spread.h"

#include "gang/cluster/cache_budget.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/reach.h"
#include "gang/inter_pod_rules.h"

struct node_pod_counts {
    uint64_t gen; /* node->marks.pods_changed when counted; 0: never */
    bool anti_affinity;
};

/* Over all nodes, for one topology spread. */
struct spread_sums {
    int64_t hosts;   /* nodes that the constraint covers */
    int64_t least;   /* their smallest count */
    int64_t n_least; /* how many of them have it; 0: it must be found again */
};

/* signature->pod_counts. The arrays follow in the same block of memory. */
struct pod_counts {
    uint64_t as_of;   /* core->marks.pods_changes when `sums` were updated */
    uint64_t dropped; /* core->marks.nodes_dropped then */
    struct node_pod_counts *nodes;
    size_t n_nodes;
    size_t n_spreads;
    int64_t *counts; /* [spread][node]; -1: not counted, or the constraint does not cover it */
    struct spread_sums *sums; /* by spread */
};

void pod_counts_drop(struct signature *signature)
{
    if (signature->pod_counts.memory)
        cached_end(&signature->pod_counts);
}

/* ---- conflicts with pods and slots on a node ---- */

static bool either_forbids(const struct gang_pod_facts *a, const struct gang_pod_facts *b)
{
    return gang_anti_affinity_forbids(a, b) || gang_anti_affinity_forbids(b, a);
}

static const struct gang_pod_facts *facts_of_slot(const struct slot *slot)
{
    return slot->pod ? slot->pod->facts : signature_sample(slot->signature);
}

/* kube-scheduler has assumed the slot's member on the node, or is about to. */
static bool known_to_scheduler(const struct slot *slot)
{
    return slot->pod && (slot->pod->held || slot->pod->sent);
}

static const struct slot *reserved_anti_affinity_conflict(const struct node *node,
                                                          const struct gang_pod_facts *who,
                                                          bool unknown_only,
                                                          const struct slot *except,
                                                          const struct reach *reach)
{
    list_for_each (slot, &node->slots, struct slot, in_node) {
        const struct gang_pod_facts *other = facts_of_slot(slot);
        if (other && slot != except && !(unknown_only && known_to_scheduler(slot)) &&
            !slot_yields(slot, reach) && either_forbids(who, other))
            return slot;
    }
    return NULL;
}

/* False: no anti-affinity can conflict on the node, so its pods need not be compared. */
static bool anti_affinity_matters(const struct node *node, const struct gang_pod_facts *who)
{
    return (who->n_anti_affinity || node->n_anti_affinity) && node->facts &&
           gang_is_host(node->facts);
}

const struct gang_pod_facts *charged_anti_affinity_conflict(const struct node *node,
                                                            const struct gang_pod_facts *who)
{
    if (!anti_affinity_matters(node, who))
        return NULL;
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (either_forbids(who, pod->facts))
            return pod->facts;
    return NULL;
}

const struct gang_pod_facts *anti_affinity_conflict(const struct node *node,
                                                    const struct gang_pod_facts *who)
{
    if (!anti_affinity_matters(node, who))
        return NULL;
    const struct gang_pod_facts *conflict = charged_anti_affinity_conflict(node, who);
    if (conflict)
        return conflict;
    const struct reach all = {.displace = DISPLACE_NONE};
    const struct slot *slot =
        reserved_anti_affinity_conflict(node, who, /* unknown_only= */ false, NULL, &all);
    return slot ? facts_of_slot(slot) : NULL;
}

const struct slot *slot_anti_affinity_conflict(const struct node *node,
                                               const struct gang_pod_facts *who,
                                               const struct slot *except, const struct reach *reach)
{
    if (!node->n_slots || !anti_affinity_matters(node, who))
        return NULL;
    return reserved_anti_affinity_conflict(node, who, /* unknown_only= */ true, except, reach);
}

bool slot_has_anti_affinity_conflict(const struct slot *slot)
{
    const struct gang_pod_facts *who = facts_of_slot(slot);
    return who && !known_to_scheduler(slot) && charged_anti_affinity_conflict(slot->node, who);
}

int64_t charged_spread_count(const struct node *node, const struct gang_pod_facts *who,
                             const struct gang_spread *s)
{
    if (!node->facts || !gang_spread_covers(s, who, node->facts))
        return -1;
    int64_t n = 0;
    list_for_each (pod, &node->pods, struct pod, in_node)
        n += gang_spread_counts(s, who, pod->facts);
    return n;
}

static int64_t count(const struct node *node, const struct gang_pod_facts *who,
                     const struct gang_spread *s)
{
    int64_t n = charged_spread_count(node, who, s);
    if (n < 0)
        return n;
    list_for_each (slot, &node->slots, struct slot, in_node) {
        const struct gang_pod_facts *other = facts_of_slot(slot);
        n += other && gang_spread_counts(s, who, other);
    }
    return n;
}

/* ---- hosts ---- */

static void count_host(struct gang_core *core, const struct gang_node_facts *facts, int by)
{
    const char *name = facts ? gang_kvs_get(&facts->labels, GANG_HOSTNAME) : NULL;
    if (!name)
        return;
    size_t n = (size_t)(uintptr_t)map_get(&core->hosts, name), now = n + (size_t)by;
    core->n_shared_hostnames += (now > 1 ? now - 1 : 0) - (n > 1 ? n - 1 : 0);
    if (now)
        map_set(&core->hosts, name, (void *)(uintptr_t)now);
    else
        map_remove(&core->hosts, name);
}

void hostnames_update(struct gang_core *core, const struct gang_node_facts *was,
                      const struct gang_node_facts *is)
{
    count_host(core, is, 1);
    count_host(core, was, -1);
}

/* ---- cached counts ---- */

static struct pod_counts *pod_counts_new(const struct gang_core *core, struct rules *rules)
{
    size_t n_nodes = core->n_ids + core->n_ids / 4 + 16; /* spare capacity for new nodes */
    size_t n_spreads = rules->who->n_spreads;
    size_t bytes = n_nodes * (sizeof(struct node_pod_counts) + n_spreads * sizeof(int64_t));
    bytes += sizeof(struct pod_counts) + n_spreads * sizeof(struct spread_sums);
    cached_begin(&rules->signature->pod_counts, core->caches);
    struct pod_counts *new = cached_grow(&rules->signature->pod_counts, bytes);
    new->dropped = core->marks.nodes_dropped;
    new->n_nodes = n_nodes;
    new->n_spreads = n_spreads;
    new->sums = (struct spread_sums *)(new + 1);
    new->nodes = (struct node_pod_counts *)(new->sums + n_spreads);
    new->counts = (int64_t *)(new->nodes + n_nodes);
    memset(new->counts, -1, n_nodes * n_spreads * sizeof *new->counts);
    return new;
}

static struct pod_counts *pod_counts_for(const struct gang_core *core, struct rules *rules)
{
    struct cached *cached = &rules->signature->pod_counts;
    struct pod_counts *pod_counts = cached->memory;
    if (pod_counts && pod_counts->n_nodes < core->n_ids)
        pod_counts_drop(rules->signature);
    if (!cached->memory)
        return pod_counts_new(core, rules);
    cached_use(cached);
    return pod_counts;
}

static int64_t *count_at(const struct pod_counts *pod_counts, size_t spread, size_t node_id)
{
    return &pod_counts->counts[spread * pod_counts->n_nodes + node_id];
}

/* A count of -1 never equals the smallest one. */
static void set_count(struct pod_counts *pod_counts, size_t spread, size_t node_id, int64_t count)
{
    struct spread_sums *sums = &pod_counts->sums[spread];
    int64_t *at = count_at(pod_counts, spread, node_id);
    sums->hosts += (count >= 0) - (*at >= 0);
    if (sums->n_least) {
        sums->n_least -= *at == sums->least;
        if (count >= 0 && count < sums->least)
            *sums = (struct spread_sums){sums->hosts, count, 0};
        sums->n_least += count == sums->least;
    }
    *at = count;
}

static const struct node_pod_counts *
counts_on(struct pod_counts *pod_counts, const struct gang_pod_facts *who, const struct node *node)
{
    struct node_pod_counts *seen = &pod_counts->nodes[node->id];
    if (seen->gen == node->marks.pods_changed)
        return seen;
    *seen = (struct node_pod_counts){node->marks.pods_changed,
                                     anti_affinity_conflict(node, who) != NULL};
    for (size_t i = 0; i < pod_counts->n_spreads; i++)
        set_count(pod_counts, i, node->id, count(node, who, &who->spreads[i]));
    return seen;
}

static void forget_dropped_nodes(const struct gang_core *core, struct pod_counts *pod_counts)
{
    if (pod_counts->dropped == core->marks.nodes_dropped)
        return;
    pod_counts->dropped = core->marks.nodes_dropped;
    for (size_t id = 0; id < pod_counts->n_nodes; id++)
        for (size_t i = 0; i < pod_counts->n_spreads; i++)
            if (id >= core->n_ids || !core->by_id[id])
                set_count(pod_counts, i, id, -1);
}

static void find_least(struct pod_counts *pod_counts, size_t spread)
{
    struct spread_sums *sums = &pod_counts->sums[spread];
    const int64_t *counts = count_at(pod_counts, spread, 0);
    if (sums->n_least || !sums->hosts)
        return;
    sums->least = INT64_MAX;
    for (size_t id = 0; id < pod_counts->n_nodes; id++) {
        if (counts[id] < 0 || counts[id] > sums->least)
            continue;
        sums->n_least = counts[id] < sums->least ? 1 : sums->n_least + 1;
        sums->least = counts[id];
    }
}

/* Updates `sums`. It counts only on nodes that changed since, which are listed first. */
static void sum_up(const struct gang_core *core, struct pod_counts *pod_counts,
                   const struct gang_pod_facts *who)
{
    if (!pod_counts->n_spreads || pod_counts->as_of == core->marks.pods_changes)
        return;
    forget_dropped_nodes(core, pod_counts);
    list_for_each (node, &core->marks.by_pods_changed, struct node, marks.in_by_pods_changed) {
        if (node->marks.pods_changed <= pod_counts->as_of)
            break;
        counts_on(pod_counts, who, node);
    }
    for (size_t i = 0; i < pod_counts->n_spreads; i++)
        find_least(pod_counts, i);
    pod_counts->as_of = core->marks.pods_changes;
}

/* ---- queries ---- */

struct rules rules_for(const struct gang_core *core, struct signature *signature)
{
    struct rules rules = {.core = core, .signature = signature};
    if (signature->anti_affinity || signature->spread || core->n_anti_affinity)
        rules.who = signature_sample(signature);
    return rules;
}

enum rule rules_refusal(struct rules *rules, const struct node *node)
{
    if (!rules->who)
        return RULE_NONE;
    if (!rules->signature->anti_affinity &&
        !rules->signature->spread) /* a direct check is cheap, so it is not cached */
        return node->n_anti_affinity && anti_affinity_conflict(node, rules->who)
                   ? RULE_ANTI_AFFINITY
                   : RULE_NONE;
    struct pod_counts *pod_counts = pod_counts_for(rules->core, rules);
    sum_up(rules->core, pod_counts, rules->who);
    if (counts_on(pod_counts, rules->who, node)->anti_affinity)
        return RULE_ANTI_AFFINITY;
    for (size_t i = 0; i < pod_counts->n_spreads; i++) {
        int64_t here = *count_at(pod_counts, i, node->id);
        const struct spread_sums *sums = &pod_counts->sums[i];
        if (here < 0 || !gang_spread_allows(&rules->who->spreads[i], rules->who, here, sums->least,
                                            sums->hosts))
            return RULE_SPREAD;
    }
    return RULE_NONE;
}
