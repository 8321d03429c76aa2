/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_evictions.c - simulates the eviction API and PodDisruptionBudgets.
 *
 * Nobody computes what a budget allows: its operation says it, and each eviction takes one. An
 * eviction that a budget refuses is carried out later, when the budgets allow it. Pods that the
 * controller of a suspended workload deletes need no budget, but budgets then allow less.
 */
#include "test/prop/model.h"
#include "test/prop/oracle.h"

static bool covers(const struct model *m, int b, const struct pod_truth *t)
{
    const struct op *spec = &m->budgets[b].spec;
    return m->budgets[b].exists &&
           (!op_has(spec, A_APP) ||
            (op_has(&t->spec, A_APP) && t->spec.value[A_APP] == spec->value[A_APP]));
}

/* The budgets that cover the pod, one bit for each. Pods that do not run need none. */
static uint32_t budgets_of(const struct model *m, const struct pod_truth *t)
{
    uint32_t set = 0;
    for (int b = 0; b < BUDGETS && t->phase == PHASE_RUNNING && !t->deleting; b++)
        if (covers(m, b, t))
            set |= UINT32_C(1) << b;
    return set;
}

static bool is_refused(const struct model *m, uint32_t budgets)
{
    if (budgets & (budgets - 1))
        return true; /* several ones */
    for (int b = 0; b < BUDGETS; b++)
        if (budgets >> b & 1 && op_get(&m->budgets[b].spec, A_ALLOWED, 0) < 1)
            return true;
    return false;
}

/* Whether the core knows what all budgets allow, apart from what they have allowed in this step. */
static bool budgets_known(const struct model *m)
{
    for (int b = 0; b < BUDGETS; b++)
        if (m->budgets[b].dirty && m->evicted_in[b] != m->totals->steps)
            return false;
    return true;
}

void budgets_count(struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    uint32_t budgets = budgets_of(m, t);
    for (int b = 0; b < BUDGETS; b++) {
        if (!(budgets >> b & 1))
            continue;
        struct object_truth *budget = &m->budgets[b];
        if (budget->spec.value[A_ALLOWED] > 0)
            op_set(&budget->spec, A_ALLOWED, budget->spec.value[A_ALLOWED] - 1);
        if (t->dirty != CLEAN)
            m->evicted_in[b] = 0; /* the core may not know that the pod runs */
        else if (!budget->dirty)
            m->evicted_in[b] = m->totals->steps;
        budget->dirty = true;
    }
}

static void carry_out(struct model *m, int p)
{
    struct pod_truth *t = &m->pods[p];
    budgets_count(m, p);
    t->deleting = true;
    t->gone_by = m->now + POD_GRACE;
    t->dirty = CHANGED;
}

/* muster is being killed, and this write of its last step is lost. */
static bool is_lost(const struct model *m, int p)
{
    return m->dying && !(m->landed >> (p & 31) & 1);
}

/* The pods that its budgets let muster evict include those that it has only marked, and that run as
 * far as it knows. */
static bool marks_exceed_budgets(const struct model *m, int p)
{
    uint32_t budgets = budgets_of(m, &m->pods[p]);
    int marked[BUDGETS] = {0};
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        if (t->exists && t->chosen == t->serial && t->shown_running == t->serial)
            for (int b = 0; b < BUDGETS; b++)
                marked[b] += budgets_of(m, t) >> b & 1;
    }
    for (int b = 0; b < BUDGETS; b++)
        if (budgets >> b & 1 && marked[b] > op_get(&m->budgets[b].spec, A_ALLOWED, 0))
            return true;
    return budgets & (budgets - 1);
}

void victim_marked(struct model *m, int p, bool chosen)
{
    struct pod_truth *t = &m->pods[p];
    bool for_room = chosen && !op_has(&m->config, A_EVICT) && !oracle_broken(m, p);
    t->preempted = t->chosen = t->serial;
    t->chosen_at = m->now;
    if (for_room && t->dirty == CLEAN && budgets_known(m) && marks_exceed_budgets(m, p))
        model_fail(m, "evict", "p%d is to be evicted, which a disruption budget forbids", p);
    if (is_lost(m, p) || op_has(&t->spec, A_HOOKED) || t->marked == t->serial)
        return;
    t->marked = t->serial;
    t->dirty = CHANGED;
}

/* Whether a member of the pod's group has succeeded. It stays when the others are evicted. */
static bool any_succeeded(const struct model *m, int g)
{
    for (int i = 0; i < PODS; i++)
        if (m->pods[i].exists && pod_group(&m->pods[i]) == g && m->pods[i].phase == PHASE_SUCCEEDED)
            return true;
    return false;
}

bool marks_shown(const struct model *m, int p)
{
    for (int i = 0; i < PODS; i++) {
        const struct pod_truth *t = &m->pods[i];
        bool waits = t->exists && t->chosen == t->serial && !t->deleting && !pod_finished(t);
        if (waits && pod_group(t) == pod_group(&m->pods[p]) && t->shown_mark != t->serial)
            return false;
    }
    return true;
}

void eviction_asked(struct model *m, int p, bool chosen)
{
    struct pod_truth *t = &m->pods[p];
    bool for_room = chosen && !op_has(&m->config, A_EVICT) && !oracle_broken(m, p);
    bool forbidden = is_refused(m, budgets_of(m, t)), hooked = op_has(&t->spec, A_HOOKED);
    t->preempted = t->serial;
    if (pod_group(t) >= 0 && any_succeeded(m, pod_group(t)))
        group_excuse(m, pod_group(t));
    if (!forbidden && !hooked && !is_lost(m, p)) {
        carry_out(m, p);
        return;
    }
    if (forbidden && for_room && t->dirty == CLEAN && budgets_known(m))
        model_fail(m, "evict", "eviction of p%d, which a disruption budget forbids", p);
    t->refused = t->serial;
    t->refused_at = m->now;
    if (pod_group(t) >= 0)
        group_excuse(m, pod_group(t)); /* other members may be gone before it is evicted */
}

void evictions_by_suspension(struct model *m, const bool pods[PODS])
{
    int taken[BUDGETS] = {0};
    bool known = budgets_known(m);
    for (int p = 0; p < PODS; p++)
        known &= !pods[p] || m->pods[p].dirty == CLEAN;
    for (int p = 0; p < PODS; p++) {
        uint32_t budgets = pods[p] ? budgets_of(m, &m->pods[p]) : 0;
        bool forbidden = budgets & (budgets - 1);
        for (int b = 0; b < BUDGETS; b++)
            forbidden |= budgets >> b & 1 && ++taken[b] > op_get(&m->budgets[b].spec, A_ALLOWED, 0);
        if (forbidden && known && !oracle_broken(m, p))
            model_fail(m, "suspend",
                       "the workload of p%d is suspended, which a disruption budget forbids", p);
    }
}

void evictions_retry(struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        if (t->exists && t->refused == t->serial && !t->deleting &&
            !is_refused(m, budgets_of(m, t)))
            carry_out(m, p);
    }
}

void evictions_give_up(struct model *m)
{
    for (int p = 0; p < PODS; p++) {
        struct pod_truth *t = &m->pods[p];
        if (t->refused == t->serial && m->now - t->refused_at >= EVICT_TIME)
            t->refused = t->preempted = 0;
    }
}

void evictions_end(struct model *m)
{
    for (int b = 0; b < BUDGETS; b++) {
        m->budgets[b].dirty |= m->budgets[b].exists;
        m->budgets[b].exists = false;
    }
    evictions_retry(m);
}
