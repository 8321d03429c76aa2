/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/inter_pod.h"

#include "gang/cluster/objects.h"
#include "gang/rules.h"

struct crowd_node {
    uint64_t gen; /* node->marks.crowd when it was looked at; 0: never */
    bool apart;
};

struct crowd {
    uint64_t as_of; /* core->marks.crowds; the sums below are over all nodes then */
    struct crowd_node *nodes;
    size_t n_nodes;
    size_t n_spreads;
    int64_t *counts;        /* [spread][node]; -1: the node does not count */
    int64_t *least, *hosts; /* by spread */
};

void crowd_free(struct crowd *crowd)
{
    if (!crowd)
        return;
    free(crowd->nodes);
    free(crowd->counts);
    free(crowd->least);
    free(crowd->hosts);
    free(crowd);
}

/* ---- who is there ---- */

static bool either_keeps_away(const struct gang_pod_facts *a, const struct gang_pod_facts *b)
{
    return gang_keeps_away(a, b) || gang_keeps_away(b, a);
}

static const struct gang_pod_facts *facts_of_slot(const struct slot *slot)
{
    return slot->pod ? slot->pod->facts : shape_sample(slot->shape);
}

/* The scheduler has assumed the member there, or is about to: it knows of it. */
static bool on_its_way(const struct slot *slot)
{
    return slot->pod && (slot->pod->held || slot->pod->sent);
}

static const struct slot *reserved_foe(const struct node *node, const struct gang_pod_facts *who,
                                       bool unknown_only, const struct slot *except,
                                       const struct reach *reach)
{
    list_for_each (slot, &node->slots, struct slot, in_node) {
        const struct gang_pod_facts *other = facts_of_slot(slot);
        if (other && slot != except && !(unknown_only && on_its_way(slot)) &&
            !slot_yields(slot, reach) && either_keeps_away(who, other))
            return slot;
    }
    return NULL;
}

/* Anti-affinity may be of concern there at all. */
static bool concerned(const struct node *node, const struct gang_pod_facts *who)
{
    return (who->n_apart || node->n_apart) && node->facts && gang_is_host(node->facts);
}

const struct gang_pod_facts *charged_foe(const struct node *node, const struct gang_pod_facts *who)
{
    if (!concerned(node, who))
        return NULL;
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (either_keeps_away(who, pod->facts))
            return pod->facts;
    return NULL;
}

const struct gang_pod_facts *node_foe(const struct node *node, const struct gang_pod_facts *who)
{
    if (!concerned(node, who))
        return NULL;
    const struct gang_pod_facts *foe = charged_foe(node, who);
    if (foe)
        return foe;
    const struct reach all = {.displace = DISPLACE_NONE};
    const struct slot *slot = reserved_foe(node, who, /* unknown_only= */ false, NULL, &all);
    return slot ? facts_of_slot(slot) : NULL;
}

const struct slot *slots_keep_away(const struct node *node, const struct gang_pod_facts *who,
                                   const struct slot *except, const struct reach *reach)
{
    if (!node->n_slots || !concerned(node, who))
        return NULL;
    return reserved_foe(node, who, /* unknown_only= */ true, except, reach);
}

bool slot_is_kept_away(const struct slot *slot)
{
    const struct gang_pod_facts *who = facts_of_slot(slot);
    return who && !on_its_way(slot) && charged_foe(slot->node, who);
}

int64_t charged_count(const struct node *node, const struct gang_pod_facts *who,
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
    int64_t n = charged_count(node, who, s);
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
    core->n_twins += (now > 1 ? now - 1 : 0) - (n > 1 ? n - 1 : 0);
    if (now)
        map_set(&core->hosts, name, (void *)(uintptr_t)now);
    else
        map_remove(&core->hosts, name);
}

void hosts_note(struct gang_core *core, const struct gang_node_facts *was,
                const struct gang_node_facts *is)
{
    count_host(core, is, 1);
    count_host(core, was, -1);
}

/* ---- what is remembered ---- */

static struct crowd *crowd_for(const struct gang_core *core, struct rules *rules)
{
    struct crowd *crowd = rules->shape->crowd;
    if (crowd && crowd->n_nodes >= core->n_ids)
        return crowd;
    crowd_free(crowd);
    crowd = rules->shape->crowd = xcalloc(1, sizeof *crowd);
    crowd->n_nodes = core->n_ids + core->n_ids / 4 + 16; /* nodes may still come */
    crowd->n_spreads = rules->who->n_spreads;
    crowd->nodes = xcalloc(crowd->n_nodes, sizeof *crowd->nodes);
    crowd->counts = xcalloc(crowd->n_nodes * crowd->n_spreads, sizeof *crowd->counts);
    crowd->least = xcalloc(crowd->n_spreads, sizeof *crowd->least);
    crowd->hosts = xcalloc(crowd->n_spreads, sizeof *crowd->hosts);
    return crowd;
}

static int64_t *count_at(const struct crowd *crowd, size_t spread, const struct node *node)
{
    return &crowd->counts[spread * crowd->n_nodes + node->id];
}

static const struct crowd_node *look(struct crowd *crowd, const struct rules *rules,
                                     const struct node *node)
{
    struct crowd_node *seen = &crowd->nodes[node->id];
    if (seen->gen == node->marks.crowd)
        return seen;
    *seen = (struct crowd_node){node->marks.crowd, node_foe(node, rules->who) != NULL};
    for (size_t i = 0; i < crowd->n_spreads; i++)
        *count_at(crowd, i, node) = count(node, rules->who, &rules->who->spreads[i]);
    return seen;
}

/* The smallest counts, over all nodes. */
static void sum_up(const struct gang_core *core, struct crowd *crowd, const struct rules *rules)
{
    crowd->as_of = core->marks.crowds;
    for (size_t i = 0; i < crowd->n_spreads; i++) {
        crowd->least[i] = INT64_MAX;
        crowd->hosts[i] = 0;
    }
    for (size_t id = 0; id < core->n_ids; id++) {
        const struct node *node = core->by_id[id];
        if (!node)
            continue;
        look(crowd, rules, node);
        for (size_t i = 0; i < crowd->n_spreads; i++) {
            int64_t n = *count_at(crowd, i, node);
            crowd->hosts[i] += n >= 0;
            if (n >= 0 && n < crowd->least[i])
                crowd->least[i] = n;
        }
    }
}

/* ---- asking ---- */

struct rules rules_for(const struct gang_core *core, struct shape *shape)
{
    struct rules rules = {.core = core, .shape = shape};
    if (shape->apart || shape->spread || core->n_apart)
        rules.who = shape_sample(shape);
    return rules;
}

enum rule rules_refusal(struct rules *rules, const struct node *node)
{
    if (!rules->who)
        return RULE_NONE;
    if (!rules->shape->apart && !rules->shape->spread) /* few such pods: nothing to remember */
        return node->n_apart && node_foe(node, rules->who) ? RULE_APART : RULE_NONE;
    if (!rules->crowd)
        rules->crowd = crowd_for(rules->core, rules);
    struct crowd *crowd = rules->crowd;
    if (crowd->n_spreads && crowd->as_of != rules->core->marks.crowds)
        sum_up(rules->core, crowd, rules);
    if (look(crowd, rules, node)->apart)
        return RULE_APART;
    for (size_t i = 0; i < crowd->n_spreads; i++) {
        int64_t here = *count_at(crowd, i, node);
        if (here < 0 || !gang_spread_allows(&rules->who->spreads[i], rules->who, here,
                                            crowd->least[i], crowd->hosts[i]))
            return RULE_SPREAD;
    }
    return RULE_NONE;
}
