/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/verb/victim_gangs.h"

#include "gang/cluster/kube_preemptions.h"
#include "gang/podgroup/quorum.h"

/* About 10 ms. Gangs have some units, so this is enough for thousands of nodes. */
#define WORK_PER_CALL   500000
#define WORK_PER_LOOKUP 8

static int by_gang(const void *a, const void *b)
{
    const struct pod *x = *(struct pod *const *)a, *y = *(struct pod *const *)b;
    return x->gang < y->gang ? -1 : x->gang > y->gang;
}

static bool pod_is_member(const struct pod *pod)
{
    return pod->gang && !pod->gang->over && pod_runs(pod);
}

static void add_members(struct victim_gangs *g, const struct gang_victims *victims)
{
    for (size_t i = 0; i < victims->n; i++) {
        struct pod *pod = pod_by_uid(g->core, victims->uids[i]);
        if (!pod || !pod_is_member(pod) || kube_will_evict(g->core, pod))
            continue;
        GROW(g->members, g->cap, g->n + 1);
        g->members[g->n++] = pod;
    }
}

static void sort_by_gang(struct victim_gangs *g)
{
    if (g->n > 1)
        qsort(g->members, g->n, sizeof *g->members, by_gang);
}

static void count_out(struct victim_gangs *g, struct pod *pod)
{
    GROW(g->counted_out, g->counted_out_cap, g->n_counted_out + 1);
    g->counted_out[g->n_counted_out++] = pod;
    unit_add_bound(pod->unit, -1);
}

/* kube-scheduler will evict these because of earlier calls. */
static void count_out_earlier_victims(struct victim_gangs *g)
{
    if (!g->n)
        return;
    map_for_each (e, &g->core->kube_preemptions.by_victim) {
        g->work_left -= WORK_PER_LOOKUP;
        if (g->work_left < 0)
            return;
        struct pod *pod = kube_victim(g->core, e);
        if (pod && pod_is_member(pod) &&
            bsearch(&pod, g->members, g->n, sizeof *g->members, by_gang))
            count_out(g, pod);
    }
}

struct victim_gangs victim_gangs_begin(const struct gang_core *core, const struct gang_event *ev)
{
    struct victim_gangs g = {.core = core, .work_left = WORK_PER_CALL};
    for (size_t i = 0; ev->victims && i < ev->n_names; i++)
        add_members(&g, &ev->victims[i]);
    sort_by_gang(&g);
    for (size_t i = 0; i < g.n; i++)
        if (i == 0 || g.members[i]->gang != g.members[i - 1]->gang)
            gang_count(core, g.members[i]->gang);
    count_out_earlier_victims(&g);
    return g;
}

/* The members are victims of one gang. Their Bindings may be under way. */
static bool breaks(struct victim_gangs *g, struct pod *const *members, size_t n)
{
    const struct gang *gang = members[0]->gang;
    struct unit *root = gang->root;
    if (root->t.binding)
        return true; /* the commit is not over */
    list_for_each (group, &gang->groups, struct group, in_gang)
        g->work_left -= (int64_t)group->n_units;
    if (g->work_left < 0)
        return true;
    for (size_t i = 0; i < n; i++)
        unit_add_bound(members[i]->unit, -1);
    bool some_run = root->t.bound > root->t.succeeded;
    bool broken = some_run && unit_lacks(root, STAGE_BOUND) > 0;
    for (size_t i = 0; i < n; i++)
        unit_add_bound(members[i]->unit, 1);
    return broken;
}

bool victims_break_gang(struct victim_gangs *g, const struct gang_victims *victims)
{
    g->n = 0;
    add_members(g, victims);
    sort_by_gang(g);
    for (size_t from = 0, to; from < g->n; from = to) {
        for (to = from + 1; to < g->n && g->members[to]->gang == g->members[from]->gang; to++)
            ;
        if (breaks(g, g->members + from, to - from))
            return true;
    }
    return false;
}

void victim_gangs_end(struct victim_gangs *g)
{
    for (size_t i = 0; i < g->n_counted_out; i++)
        unit_add_bound(g->counted_out[i]->unit, 1);
    free(g->counted_out);
    free(g->members);
}
