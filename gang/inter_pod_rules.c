/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/inter_pod_rules.h"

#include "gang/node_predicates.h"

bool gang_is_host(const struct gang_node_facts *node)
{
    return gang_kvs_get(&node->labels, GANG_HOSTNAME) != NULL;
}

static bool in_namespaces(const struct gang_selector *s, const char *own, const char *ns)
{
    if (s->all_namespaces)
        return true;
    for (size_t i = 0; i < s->n_namespaces; i++)
        if (strcmp(s->namespaces[i], ns) == 0)
            return true;
    return s->n_namespaces == 0 && strcmp(own, ns) == 0;
}

static bool has_labels(const struct gang_term *term, const struct gang_kvs *labels)
{
    for (size_t i = 0; i < term->n; i++)
        if (!gang_label_matches(&term->items[i], labels))
            return false;
    return true;
}

static bool selects(const struct gang_selector *s, size_t n, const char *own,
                    const struct gang_pod_facts *other)
{
    for (size_t i = 0; i < n; i++)
        if (in_namespaces(&s[i], own, other->ns) && has_labels(&s[i].term, &other->labels))
            return true;
    return false;
}

bool gang_anti_affinity_forbids(const struct gang_pod_facts *pod,
                                const struct gang_pod_facts *other)
{
    return selects(pod->anti_affinity, pod->n_anti_affinity, pod->ns, other);
}

bool gang_wide_anti_affinity_forbids(const struct gang_pod_facts *pod,
                                     const struct gang_pod_facts *other)
{
    return selects(pod->wide_anti_affinity, pod->n_wide_anti_affinity, pod->ns, other);
}

bool gang_spread_covers(const struct gang_spread *s, const struct gang_pod_facts *pod,
                        const struct gang_node_facts *node)
{
    if (!gang_is_host(node))
        return false;
    for (size_t i = 0; i < s->n_keys; i++)
        if (!gang_kvs_get(&node->labels, s->keys[i]))
            return false;
    return (s->any_affinity || gang_affinity_matches(pod, node)) &&
           (!s->taints_count || gang_taints_tolerated(pod, node));
}

bool gang_spread_counts(const struct gang_spread *s, const struct gang_pod_facts *pod,
                        const struct gang_pod_facts *other)
{
    return !other->deleting && strcmp(pod->ns, other->ns) == 0 &&
           has_labels(&s->selector.term, &other->labels);
}

bool gang_spread_allows(const struct gang_spread *s, const struct gang_pod_facts *pod, int64_t here,
                        int64_t least, int64_t hosts)
{
    int64_t self = has_labels(&s->selector.term, &pod->labels);
    if (hosts < s->min_domains)
        least = 0;
    return here + self - least <= s->max_skew;
}

bool gang_budget_covers(const struct gang_budget_facts *budget, const struct gang_pod_facts *pod)
{
    return !budget->selects_none && strcmp(budget->ns, pod->ns) == 0 &&
           has_labels(&budget->selector, &pod->labels);
}
