/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/verb/victim_gangs.h"

#include "gang/cluster/kube_preemptions.h"
#include "gang/podgroup/quorum.h"

/* About 10 ms. Gangs have some units, so this is enough for thousands of nodes. */
#define WORK_PER_CALL 500000

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
        if (!pod || !pod_is_member(pod) || kube_preempts(g->core, pod))
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

/* Counts the members that kube-scheduler will evict because of earlier calls out (-1) or in (1). */
static void count_earlier_victims(const struct gang_core *core, int by)
{
    map_for_each (e, &core->kube_preemptions.victims) {
        struct pod *pod = kube_victim(core, e);
        if (pod && pod_is_member(pod)) {
            gang_count(core, pod->gang);
            unit_add_bound(pod->unit, by);
        }
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
    count_earlier_victims(core, -1);
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
    count_earlier_victims(g->core, 1);
    free(g->members);
}
