/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: k8s.io/kubernetes v1.36, plugins interpodaffinity, podtopologyspread and volumebinding,
 * limited to the rules in gang/inter_pod_rules.h and gang/volume_rules.h. The built-in cluster has
 * no volumes for unbound claims, so such claims allow any node.
 */
#include "simulator/scheduler_filters.h"

#include "gang/inter_pod_rules.h"
#include "gang/volume_rules.h"

/* ---- topology spread ---- */

static int64_t count_in(const struct list *pods, bool nominated, const struct sched_pod *pod,
                        const struct gang_spread *s)
{
    int64_t n = 0;
    struct list *head = (struct list *)(uintptr_t)pods;
    if (nominated)
        list_for_each (other, head, struct sched_pod, nominated)
            n += other != pod && other->facts->priority >= pod->facts->priority &&
                 gang_spread_counts(s, pod->facts, other->facts);
    else
        list_for_each (other, head, struct sched_pod, on_node)
            n += gang_spread_counts(s, pod->facts, other->facts);
    return n;
}

/* PreFilter: the smallest count on a host of the spread. */
static void measure(const struct sched_cache *c, const struct sched_pod *pod, size_t spread,
                    struct sched_spread *ret)
{
    const struct gang_spread *rule = &pod->facts->spreads[spread];
    *ret = (struct sched_spread){.least = INT64_MAX};
    for (size_t i = 0; i < c->n_order; i++) {
        if (!gang_spread_covers(rule, pod->facts, c->order[i]->facts))
            continue;
        int64_t n = count_in(&c->order[i]->pods, /* nominated= */ false, pod, rule);
        ret->hosts++;
        if (n < ret->least)
            ret->least = n;
    }
}

static const char *spread_refusal(const struct sched_rules *r, const struct sched_pod *pod,
                                  const struct sched_node *node)
{
    for (size_t i = 0; i < pod->facts->n_spreads; i++) {
        const struct gang_spread *rule = &pod->facts->spreads[i];
        if (!gang_spread_covers(rule, pod->facts, node->facts))
            return "node(s) didn't match pod topology spread constraints (missing required label)";
        int64_t here = count_in(&node->pods, /* nominated= */ false, pod, rule) +
                       count_in(&node->nominated, /* nominated= */ true, pod, rule);
        if (!gang_spread_allows(rule, pod->facts, here, r->spreads[i].least, r->spreads[i].hosts))
            return "node(s) didn't match pod topology spread constraints";
    }
    return NULL;
}

/* ---- anti-affinity ---- */

static const char *refusal_between(const struct gang_pod_facts *pod,
                                   const struct gang_pod_facts *other)
{
    if (gang_anti_affinity_forbids(pod, other))
        return "node(s) didn't match pod anti-affinity rules";
    if (gang_anti_affinity_forbids(other, pod))
        return "node(s) didn't satisfy existing pods anti-affinity rules";
    return NULL;
}

static const char *apart_refusal(const struct sched_pod *pod, const struct sched_node *node)
{
    const char *why = NULL;
    struct sched_node *n = (struct sched_node *)(uintptr_t)node;
    if (!gang_is_host(node->facts))
        return NULL;
    list_for_each (other, &n->pods, struct sched_pod, on_node)
        why = why ? why : refusal_between(pod->facts, other->facts);
    list_for_each (other, &n->nominated, struct sched_pod, nominated)
        if (!why && other != pod && other->facts->priority >= pod->facts->priority)
            why = refusal_between(pod->facts, other->facts);
    return why;
}

/* ---- volumes ---- */

static const char *volume_refusal(const struct sched_rules *r, const struct sched_node *node)
{
    for (size_t i = 0; i < r->n_claims; i++)
        if (!gang_claim_allows(r->claims[i], node->facts))
            return r->claims[i]->selected
                       ? "node(s) didn't find available persistent volumes to bind"
                       : "node(s) didn't match PersistentVolume's node affinity";
    return NULL;
}

/* ---- a cycle ---- */

void sched_rules_forget(struct sched_rules *r)
{
    for (size_t i = 0; i < r->n_claims; i++)
        gang_claim_facts_free(r->claims[i]);
    free(STEAL(r->claims));
    free(STEAL(r->spreads));
    r->n_claims = 0;
}

void sched_rules_prepare(struct sched_rules *r, const struct sched_cache *cache,
                         const struct claim_topology *claims, const struct sched_pod *pod)
{
    const struct gang_pod_facts *f = pod->facts;
    sched_rules_forget(r);
    r->claims = xcalloc(f->n_claims, sizeof *r->claims);
    for (size_t i = 0; i < f->n_claims; i++) {
        r->claims[r->n_claims] = claim_topology_facts(claims, f->ns, f->claims[i]);
        r->n_claims += r->claims[r->n_claims] != NULL;
    }
    r->spreads = xcalloc(f->n_spreads, sizeof *r->spreads);
    for (size_t i = 0; i < f->n_spreads; i++)
        measure(cache, pod, i, &r->spreads[i]);
}

const char *sched_rules_refusal(const struct sched_rules *r, const struct sched_pod *pod,
                                const struct sched_node *node)
{
    const char *why = volume_refusal(r, node);
    if (!why)
        why = spread_refusal(r, pod, node);
    return why ? why : apart_refusal(pod, node);
}
