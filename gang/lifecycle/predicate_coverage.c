/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/predicate_coverage.h"

#include "gang/cluster/filter_results.h"
#include "gang/cluster/lookup.h"
#include "gang/inter_pod_rules.h"

/* Whether the pod is on a node, is at bind, or has an open filter result. */
static bool may_occupy_node(const struct gang_core *core, const struct pod *pod)
{
    return pod->node || pod->call || filter_result_is_open(core, pod);
}

static const char conflict_text[] =
    "another pod has anti-affinity over a domain that is not a host";

static const char unchecked_text[] =
    "too many pods have anti-affinity over a domain that is not a host";

/* In requirements and values. */
static int64_t rule_cost(const struct gang_pod_facts *f)
{
    size_t n = 1;
    for (size_t i = 0; i < f->n_wide_anti_affinity; i++) {
        n += 1 + f->wide_anti_affinity[i].n_namespaces;
        for (size_t k = 0; k < f->wide_anti_affinity[i].term.n; k++)
            n += 1 + f->wide_anti_affinity[i].term.items[k].n_values;
    }
    return (int64_t)n;
}

/* Checks the pods in core->marks.wide_anti_affinity with a number above *since, until one conflicts
 * or *left is used up. Sets *since to the number of the last pod that did not conflict. */
static bool has_wide_anti_affinity_conflict(const struct gang_core *core, const struct pod *pod,
                                            uint64_t *since, int64_t *left)
{
    struct list *l = core->marks.wide_anti_affinity.prev;
    while (l != &core->marks.wide_anti_affinity &&
           CONTAINER_OF(l, struct pod, in_wide_anti_affinity)->wide_anti_affinity_seq > *since)
        l = l->prev;
    l = l->next;
    for (; l != &core->marks.wide_anti_affinity && *left > 0; l = l->next) {
        const struct pod *other = CONTAINER_OF(l, struct pod, in_wide_anti_affinity);
        *left -= rule_cost(other->facts);
        if (other != pod && may_occupy_node(core, other) &&
            gang_wide_anti_affinity_forbids(other->facts, pod->facts))
            return true;
        *since = other->wide_anti_affinity_seq;
    }
    if (l == &core->marks.wide_anti_affinity)
        *since = core->marks.wide_anti_affinity_last;
    return false;
}

const char *wide_anti_affinity_doubt(const struct gang_core *core, struct pod *pod, int64_t *left)
{
    if (has_wide_anti_affinity_conflict(core, pod, &pod->wide_anti_affinity_checked, left))
        return conflict_text;
    return pod->wide_anti_affinity_checked < core->marks.wide_anti_affinity_last ? unchecked_text
                                                                                 : NULL;
}

void wide_anti_affinity_recheck(struct pod *pod)
{
    pod->wide_anti_affinity_checked = 0;
}

const char *shared_hostname_doubt(const struct gang_core *core, const struct pod *pod)
{
    bool concerned = pod->facts->n_anti_affinity || pod->facts->n_spreads || core->n_anti_affinity;
    return core->n_shared_hostnames && concerned ? "two nodes have the same value of " GANG_HOSTNAME
                                                 : NULL;
}

static const char *own_doubt(const struct gang_core *core, const struct pod *pod)
{
    const char *inexact = pod->facts->inexact;
    return inexact ? inexact : shared_hostname_doubt(core, pod);
}

bool predicates_cover(const struct gang_core *core, struct pod *pod, int64_t *cost)
{
    int64_t left = COVERAGE_COST_MAX;
    bool covers = !own_doubt(core, pod) && !wide_anti_affinity_doubt(core, pod, &left);
    *cost = COVERAGE_COST_MAX - left;
    return covers;
}

const char *pod_beyond_predicates(const struct gang_core *core, const struct pod *pod)
{
    uint64_t since = pod->wide_anti_affinity_checked;
    int64_t left = COVERAGE_COST_MAX;
    const char *own = own_doubt(core, pod);
    return own || !has_wide_anti_affinity_conflict(core, pod, &since, &left) ? own : conflict_text;
}
