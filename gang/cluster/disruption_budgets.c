/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/disruption_budgets.h"

#include "gang/bounds.h"
#include "gang/inter_pod_rules.h"

struct budget {
    struct gang_budget_facts *facts;
    int64_t taken; /* pods that count as evicted in the open trial */
};

struct budget_namespace {
    struct map budgets; /* name -> budget */
    uint64_t version;   /* unique; another one after each change of what the budgets cover */
};

/* pod->budget.of if more than one budget covers the pod, or too many may do so. */
static struct gang_budget_facts several_facts;
static struct budget several = {.facts = &several_facts};

static struct budget_namespace *budgets_of(const struct gang_core *core, const char *ns)
{
    return map_get(&core->budgets.namespaces, ns);
}

static void budget_free(struct budget *budget)
{
    gang_budget_facts_free(budget->facts);
    free(budget);
}

static void budget_add(struct gang_core *core, struct gang_budget_facts *facts)
{
    struct budget_namespace *in = budgets_of(core, facts->ns);
    if (!in) {
        in = xcalloc(1, sizeof *in);
        map_set(&core->budgets.namespaces, facts->ns, in);
    }
    struct budget *budget = xcalloc(1, sizeof *budget);
    budget->facts = facts;
    map_set(&in->budgets, facts->name, budget);
    in->version = ++core->budgets.versions;
}

void on_budget_set(struct gang_core *core, struct gang_budget_facts *facts)
{
    struct budget_namespace *in = budgets_of(core, facts->ns);
    struct budget *budget = in ? map_get(&in->budgets, facts->name) : NULL;
    if (!budget) {
        budget_add(core, facts);
        return;
    }
    if (!gang_budget_selector_equal(budget->facts, facts))
        in->version = ++core->budgets.versions;
    gang_budget_facts_free(budget->facts);
    budget->facts = facts;
}

void on_budget_gone(struct gang_core *core, const char *ns, const char *name)
{
    struct budget_namespace *in = budgets_of(core, ns);
    struct budget *budget = in ? map_remove(&in->budgets, name) : NULL;
    if (!budget)
        return;
    budget_free(budget);
    in->version = ++core->budgets.versions;
    if (map_count(&in->budgets))
        return;
    map_remove(&core->budgets.namespaces, ns);
    map_done(&in->budgets);
    free(in);
}

void budgets_done(struct gang_core *core)
{
    map_for_each (e, &core->budgets.namespaces) {
        struct budget_namespace *in = e->value;
        map_for_each (b, &in->budgets)
            budget_free(b->value);
        map_done(&in->budgets);
        free(in);
    }
    map_done(&core->budgets.namespaces);
}

/* ---- the budget of a pod ---- */

void pod_budget_forget(struct pod *pod)
{
    pod->budget.version = 0;
}

static struct budget *find(struct gang_core *core, const struct budget_namespace *in,
                           const struct pod *pod)
{
    struct budget *found = NULL;
    if (map_count(&in->budgets) > BOUND_BUDGETS)
        return &several;
    map_for_each (e, &in->budgets) {
        struct budget *budget = e->value;
        core->budgets.compared++;
        if (!gang_budget_covers(budget->facts, pod->facts))
            continue;
        if (found)
            return &several;
        found = budget;
    }
    return found;
}

/* Source: registry/core/pod/storage/eviction.go, canIgnorePDB. */
static bool needs_budget(const struct pod *pod)
{
    enum gang_phase phase = pod->facts->phase;
    return !pod->facts->deleting && (phase == PHASE_RUNNING || phase == PHASE_UNKNOWN);
}

static struct budget *budget_of(struct gang_core *core, struct pod *pod)
{
    struct budget_namespace *in =
        budgets_exist(core) && needs_budget(pod) ? budgets_of(core, pod->facts->ns) : NULL;
    if (!in)
        return NULL;
    if (pod->budget.version != in->version) {
        pod->budget.of = find(core, in, pod);
        pod->budget.version = in->version;
    }
    return pod->budget.of;
}

void budget_take(struct gang_core *core, struct pod *pod, int n)
{
    struct budget *budget = budget_of(core, pod);
    if (budget && budget != &several)
        budget->taken += n;
}

const struct gang_budget_facts *budget_in_the_way(struct gang_core *core, struct pod *pod)
{
    const struct budget *budget = budget_of(core, pod);
    return budget && (budget == &several || budget->taken >= budget->facts->allowed) ? budget->facts
                                                                                     : NULL;
}
