/* SPDX-License-Identifier: Apache-2.0 */
/* Which running pods `muster explain` would move to other nodes, so that a gang fits. */
#include <stdio.h>

#include "gang/cluster/trial.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/podgroups.h"
#include "gang/podgroup/quorum.h"
#include "gang/step/consolidation.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"

static struct world *nodes(int n, int gpus)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    struct world *w = world_new_with(config, true);
    w->unchecked = n > 10;
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("n%d", i);
        world_node(w, name, gpus);
    }
    return w;
}

/* A running pod with a controller. `gang` NULL: an ordinary pod. */
static struct gang_pod_facts *running(const char *name, const char *gang, int gpus,
                                      const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(name, gang, gpus);
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    f->controlled = true;
    return f;
}

static void runs(struct world *w, const char *name, const char *gang, int gpus, const char *node)
{
    world_pod_set(w, running(name, gang, gpus, node));
}

/* A waiting gang whose members need so many GPUs each. It may evict nobody. */
static void waits(struct world *w, int members, int gpus)
{
    world_group(w, "waits", members);
    world_members(w, "waits", 0, members, gpus);
}

/* Searches for evictions, and then for moves if that is the next search. */
static struct gang_explained explained(struct world *w)
{
    char api_group[] = "test", ns[] = "default", name[] = "waits";
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    if (x.next == GANG_EXPLAIN_MOVES) {
        gang_explained_done(&x);
        assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_MOVES, &x));
    }
    return x;
}

/* Each move as "pod name from>to" or "gang name PODS/RESTARTS from>to", and what a budget forbids
 * as "(budget)". */
static const char *moves(struct world *w)
{
    static char text[2000];
    struct gang_explained x = explained(w);
    const struct gang_explained_consolidation *c = &x.consolidation;
    size_t at = 0;
    text[0] = '\0';
    assert_int_equal(c->room, !c->searched               ? GANG_NOT_ASKED
                              : c->n_moves && !c->budget ? GANG_YES
                                                         : GANG_NO);
    for (size_t i = 0; i < c->n_moves; i++) {
        const struct gang_explained_move *m = &c->moves[i];
        if (m->pod)
            at += (size_t)snprintf(text + at, sizeof text - at, "%spod %s %s>%s", i ? ", " : "",
                                   m->pod->name, m->from, m->to);
        else
            at += (size_t)snprintf(text + at, sizeof text - at, "%sgang %s %d/%d %s>%s",
                                   i ? ", " : "", m->gang->name, m->pods, m->restarts, m->from,
                                   m->to);
    }
    if (c->budget)
        snprintf(text + at, sizeof text - at, " (%s)", c->budget->name ? c->budget->name : "all");
    gang_explained_done(&x);
    return text;
}

static void as_few_pods_as_possible_move(void **state)
{
    (void)state;
    struct world *w = nodes(4, 4);
    runs(w, "a", NULL, 1, "n0");
    runs(w, "b", NULL, 1, "n0");
    runs(w, "c", NULL, 2, "n1");
    runs(w, "d", NULL, 2, "n2");
    runs(w, "e", NULL, 3, "n3");
    waits(w, 1, 4);
    assert_string_equal(moves(w), "pod c n1>n0");
    waits(w, 2, 4); /* 7 GPUs are free */
    assert_string_equal(moves(w), "");
    runs(w, "e", NULL, 2, "n3");
    assert_string_equal(moves(w), "pod c n1>n0, pod d n2>n3");
    runs(w, "e", NULL, 3, "n3");
    waits(w, 1, 2); /* it fits */
    assert_string_equal(moves(w), "");
    world_free(w);
}

static void small_pods_move_before_large_ones(void **state)
{
    (void)state;
    struct world *w = nodes(2, 8);
    runs(w, "large", NULL, 3, "n0");
    runs(w, "small", NULL, 2, "n0");
    struct gang_pod_facts *f = running("fixed", NULL, 4, "n1");
    f->of_node = true;
    world_pod_set(w, f);
    waits(w, 1, 5);
    assert_string_equal(moves(w), "pod small n0>n1");
    world_free(w);
}

static void pods_that_must_stay_do_not_move(void **state)
{
    (void)state;
    struct world *w = nodes(2, 4);
    world_pod_set(w, running("fixed", NULL, 2, "n1"));
    struct gang_pod_facts *f = running("fixed", NULL, 2, "n1");
    f->of_node = true;
    world_pod_set(w, f);
    waits(w, 1, 4);
    for (int i = 0; i < 7; i++) {
        f = running("some", NULL, 2, "n0");
        f->controlled = i != 1;
        f->of_node = i == 2;
        f->grace = i == 3 ? SECONDS(7200) : 0;
        f->preemptible = i == 4 ? PREEMPTIBLE_NO : PREEMPTIBLE_BY_PRIORITY;
        f->inexact = i == 5 ? xstrdup("pod affinity") : NULL;
        f->deleting = i == 6;
        world_pod_set(w, f);
        assert_string_equal(moves(w), i == 0 ? "pod some n0>n1" : "");
    }
    world_free(w);
}

/* Nodes n0 and n1 have 2 free GPUs each. The pod on n0 may not run on n1. */
static void rules_of_moved_pods_are_obeyed(void **state)
{
    (void)state;
    struct world *w = nodes(1, 4);
    struct gang_node_facts *node = world_gpu_node("n1", 4);
    node->taints = xcalloc(1, sizeof *node->taints);
    node->taints[0] = (struct gang_taint){xstrdup("t"), xstrdup(""), TAINT_NO_SCHEDULE};
    node->n_taints = 1;
    world_node_facts(w, node);
    struct gang_pod_facts *f = running("fixed", NULL, 2, "n1");
    f->of_node = true;
    gang_kvs_add(&f->labels, "app", "x");
    world_pod_set(w, f);
    runs(w, "a", NULL, 2, "n0");
    waits(w, 1, 4);
    assert_string_equal(moves(w), "");
    world_node(w, "n1", 4);
    assert_string_equal(moves(w), "pod a n0>n1");
    f = running("a", NULL, 2, "n0");
    gang_kvs_add(&f->node_selector, "kubernetes.io/hostname", "n0");
    world_pod_set(w, f);
    assert_string_equal(moves(w), "");
    f = running("a", NULL, 2, "n0");
    f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
    f->n_anti_affinity = 1;
    world_term_in(&f->anti_affinity[0].term, "app", "x");
    world_pod_set(w, f);
    assert_string_equal(moves(w), "");
    world_node(w, "n2", 2);
    assert_string_equal(moves(w), "pod a n0>n2");
    world_free(w);
}

static void budgets_in_the_way_are_named(void **state)
{
    (void)state;
    struct world *w = nodes(3, 4);
    const char *const pods[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        cleanup_free char *node = xasprintf("n%d", i);
        struct gang_pod_facts *f = running(pods[i], NULL, 2, node);
        gang_kvs_add(&f->labels, "app", "");
        world_pod_set(w, f);
    }
    waits(w, 1, 4);
    assert_string_equal(moves(w), "pod a n0>n1");
    world_budget(w, "guard", "app", 0);
    assert_string_equal(moves(w), "pod a n0>n1 (guard)");
    world_budget(w, "guard", "app", 1);
    assert_string_equal(moves(w), "pod a n0>n1");
    world_budget(w, "more", "app", 1);
    assert_string_equal(moves(w), "pod a n0>n1 (all)");
    world_budget_gone(w, "more");
    world_budget(w, "guard", "app", 0);
    waits(w, 2, 4); /* without the budget, there is too little room, too */
    assert_string_equal(moves(w), "");
    world_free(w);
}

/* One pod moves after the other, so a budget of one is enough. */
static void a_budget_of_one_allows_several_moves(void **state)
{
    (void)state;
    struct world *w = nodes(4, 4);
    for (int i = 0; i < 4; i++) {
        cleanup_free char *name = xasprintf("p%d", i), *node = xasprintf("n%d", i);
        struct gang_pod_facts *f = running(name, NULL, 2, node);
        gang_kvs_add(&f->labels, "app", "");
        world_pod_set(w, f);
    }
    world_budget(w, "guard", "app", 1);
    waits(w, 2, 4);
    assert_string_equal(moves(w), "pod p0 n0>n1, pod p2 n2>n3");
    world_free(w);
}

/* A gang that needs all its pods restarts as a whole, so a budget must allow to evict all. */
static void gangs_move_as_a_whole(void **state)
{
    (void)state;
    struct world *w = nodes(4, 4);
    world_group(w, "whole", 3);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("whole-%d", i);
        struct gang_pod_facts *f = running(name, "whole", i == 2 ? 4 : 1, i == 2 ? "n1" : "n0");
        gang_kvs_add(&f->labels, "app", "");
        world_pod_set(w, f);
    }
    world_pod_set(w, running("b", NULL, 3, "n2"));
    world_pod_set(w, running("c", NULL, 3, "n3"));
    waits(w, 1, 4);
    assert_string_equal(moves(w), "gang whole 1/3 n0>n2, gang whole 1/3 n0>n3");
    world_budget(w, "guard", "app", 2);
    assert_string_equal(moves(w), "gang whole 1/3 n0>n2, gang whole 1/3 n0>n3 (guard)");
    world_budget(w, "guard", "app", 3);
    assert_string_equal(moves(w), "gang whole 1/3 n0>n2, gang whole 1/3 n0>n3");
    world_group(w, "whole", 2); /* now each of its members can move alone */
    assert_string_equal(moves(w), "pod whole-0 n0>n2, pod whole-1 n0>n3");
    struct gang_pod_facts *f = running("whole-2", "whole", 4, "n1");
    f->controlled = false;
    world_pod_set(w, f);
    assert_string_equal(moves(w), "pod whole-0 n0>n2, pod whole-1 n0>n3");
    world_group(w, "whole", 3);
    assert_string_equal(moves(w), "");
    world_free(w);
}

/* The restart of a gang of 3 costs more than two ordinary pods. */
static void few_restarts_count_more_than_few_moves(void **state)
{
    (void)state;
    struct world *w = nodes(4, 4);
    world_group(w, "whole", 3);
    runs(w, "whole-0", "whole", 2, "n0");
    runs(w, "whole-1", "whole", 4, "n2");
    runs(w, "whole-2", "whole", 2, "n3");
    runs(w, "a", NULL, 1, "n1");
    runs(w, "b", NULL, 1, "n1");
    struct gang_pod_facts *f = running("d", NULL, 1, "n3");
    f->of_node = true;
    world_pod_set(w, f);
    waits(w, 1, 4);
    assert_string_equal(moves(w), "pod a n1>n3, pod b n1>n0");
    world_free(w);
}

/* Pods without GPUs that use up the cpu of a node with GPUs. */
static void other_resources_count_too(void **state)
{
    (void)state;
    struct world *w = nodes(0, 0);
    world_node_small(w, "gpu", 4, 4000);
    world_node_small(w, "cpu", 0, 8000);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("cpu-%d", i);
        runs(w, name, NULL, 0, "gpu");
    }
    waits(w, 3, 1);
    assert_string_equal(moves(w), "pod cpu-0 gpu>cpu, pod cpu-1 gpu>cpu");
    world_free(w);
}

/* With `preemption`, muster makes room itself. Else both are shown. */
static void evictions_come_first(void **state)
{
    (void)state;
    for (int preemption = 0; preemption < 2; preemption++) {
        struct gang_config config = test_config();
        config.assemble = 0;
        config.preemption = preemption;
        struct world *w = world_new_with(config, true);
        world_node(w, "n0", 4);
        world_node(w, "n1", 4);
        runs(w, "a", NULL, 2, "n0");
        struct gang_pod_facts *f = running("b", NULL, 2, "n1");
        f->priority = 20;
        world_pod_set(w, f);
        world_group(w, "waits", 1);
        f = world_pod_facts("waits-0", "waits", 4);
        f->priority = 10;
        world_pod_set(w, f);
        assert_string_equal(moves(w), preemption ? "" : "pod a n0>n1");
        world_free(w);
    }
}

/* The gang decides and explains in the same way before and after the search. */
static void a_search_changes_nothing(void **state)
{
    (void)state;
    struct world *w = nodes(4, 4);
    world_group(w, "whole", 2);
    runs(w, "whole-0", "whole", 2, "n0");
    runs(w, "whole-1", "whole", 3, "n1");
    runs(w, "b", NULL, 1, "n2");
    runs(w, "c", NULL, 2, "n3");
    waits(w, 1, 4);
    cleanup_free char *first = xstrdup(moves(w));
    assert_string_equal(first, "pod b n2>n1");
    for (int i = 0; i < 3; i++)
        assert_string_equal(moves(w), first);
    struct err err;
    assert_int_equal(gang_core_check(w->core, &err), 0);
    assert_int_equal(world_used(w, "n1", "nvidia.com/gpu"), 3);
    assert_int_equal(world_used(w, "n2", "nvidia.com/gpu"), 1);
    assert_string_equal(world_state(w, "waits"), "Waiting");
    world_pod_gone(w, "b");
    assert_string_equal(world_state(w, "waits"), "Planned");
    world_free(w);
}

/* ---- random clusters ---- */

#define NODES 5
struct play {
    struct world *w;
    unsigned seed;
    int n_pods;
    struct {
        char *name, *gang;
        int gpus, node;
    } pods[100];
    int free[NODES];
};

static int draw(struct play *p, int n)
{
    p->seed = p->seed * 1103515245 + 12345;
    return (int)(p->seed >> 16) % n;
}

static void run_pod(struct play *p, const char *gang, int gpus, int node)
{
    cleanup_free char *on = xasprintf("n%d", node);
    int i = p->n_pods++;
    p->pods[i].name = xasprintf("p%d", i);
    p->pods[i].gang = xstrdup_null(gang);
    p->pods[i].gpus = gpus;
    p->pods[i].node = node;
    p->free[node] -= gpus;
    runs(p->w, p->pods[i].name, gang, gpus, on);
}

static void fill_nodes(struct play *p)
{
    for (int i = 0; i < NODES; i++)
        p->free[i] = 8;
    for (int g = 0; g < 8; g++) {
        cleanup_free char *gang = xasprintf("g%d", g);
        int gpus = 1 + draw(p, 4), n = 1 + draw(p, 3), began = p->n_pods;
        for (int i = 0; i < n; i++) {
            int node = draw(p, NODES);
            if (p->free[node] >= gpus)
                run_pod(p, g < 4 ? gang : NULL, gpus, node);
        }
        int got = p->n_pods - began;
        if (g < 4 && got)
            world_group(p->w, gang, 1 + draw(p, got));
    }
}

/* Creates the replacement, and then deletes the pod. All members of a gang are alike. */
static void move_one(struct play *p, const struct gang_explained_move *m)
{
    for (int i = 0; i < p->n_pods; i++) {
        cleanup_free char *on = xasprintf("n%d", p->pods[i].node);
        const char *name = p->pods[i].name;
        if (!name || strcmp(on, m->from) != 0 ||
            (m->pod ? strcmp(name, m->pod->name) != 0 : !str_eq(p->pods[i].gang, m->gang->name)))
            continue;
        int to = m->to[1] - '0';
        assert_true(p->free[to] >= p->pods[i].gpus);
        run_pod(p, p->pods[i].gang, p->pods[i].gpus, to);
        p->free[p->pods[i].node] += p->pods[i].gpus;
        world_pod_gone(p->w, name);
        free(STEAL(p->pods[i].name));
        return;
    }
    fail_msg("no pod to move");
}

/* Copies the moves, because they are valid only until the next step. */
static int carry_out(struct play *p)
{
    struct gang_explained x = explained(p->w);
    int n = (int)x.consolidation.n_moves;
    struct gang_explained_move all[8];
    char names[8][4][8];
    struct gang_ref refs[8];
    struct gang_pod_facts facts[8];
    assert_true(n <= 8);
    for (int i = 0; i < n; i++) {
        all[i] = x.consolidation.moves[i];
        snprintf(names[i][0], 8, "%s", all[i].from);
        snprintf(names[i][1], 8, "%s", all[i].to);
        snprintf(names[i][2], 8, "%s", all[i].pod ? all[i].pod->name : all[i].gang->name);
        refs[i].name = facts[i].name = names[i][2];
        all[i].from = names[i][0];
        all[i].to = names[i][1];
        all[i].pod = all[i].pod ? &facts[i] : NULL;
        all[i].gang = all[i].gang ? &refs[i] : NULL;
    }
    gang_explained_done(&x);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < all[i].pods; k++)
            move_one(p, &all[i]);
    return n;
}

static bool fits_after(struct play *p, struct trial *t, int i, int to)
{
    char api_group[] = "test", ns[] = "default", name[] = "waits";
    const struct gang_ref ref = {api_group, ns, name};
    cleanup_free char *on = xasprintf("n%d", to);
    struct pod *pod = pod_by_name(t->core, "default", p->pods[i].name);
    struct shortage shortage;
    int64_t work = 100000;
    trial_without_pod(t, pod);
    if (pod->gang && gang_lacks(t->core, pod->gang, STAGE_BOUND) > 0)
        return false;
    trial_with_pod(t, pod, node_by_name(t->core, on));
    return place_in_trial(t, gang_find(t->core, &ref), /* keep= */ false, &work, &shortage) ==
           GANG_YES;
}

/* Tries the move of each pod to each node. */
static bool one_move_is_enough(struct play *p)
{
    bool enough = false;
    struct trial t = trial_begin(p->w->core);
    for (int i = 0; i < p->n_pods; i++)
        for (int to = 0; to < NODES && !enough; to++) {
            if (to != p->pods[i].node && p->free[to] >= p->pods[i].gpus)
                enough = fits_after(p, &t, i, to);
            trial_back(&t, t.begin);
        }
    trial_end(&t);
    return enough;
}

/* In addition, if one move is enough, one is found. */
static void moves_that_are_carried_out_make_room(void **state)
{
    (void)state;
    int found = 0;
    for (unsigned seed = 1; seed <= 2000; seed++) {
        struct play p = {.w = nodes(NODES, 8), .seed = seed};
        p.w->unchecked = true;
        fill_nodes(&p);
        waits(p.w, 1 + draw(&p, 3), 2 + draw(&p, 7));
        bool one = strcmp(world_state(p.w, "waits"), "Waiting") == 0 && one_move_is_enough(&p);
        int n = carry_out(&p);
        if (one && n != 1)
            fail_msg("seed %u: %d moves, but one is enough", seed, n);
        found += n > 0;
        if (n && strcmp(world_state(p.w, "waits"), "Planned") != 0)
            fail_msg("seed %u: the gang is %s after %d moves", seed, world_state(p.w, "waits"), n);
        for (int i = 0; i < p.n_pods; i++) {
            free(p.pods[i].name);
            free(p.pods[i].gang);
        }
        world_free(p.w);
    }
    printf("moves in %d of 2000 clusters\n", found);
    assert_true(found > 300);
}

/* 5,000 nodes with 100,000 pods. On every node, 1 of 8 GPUs is free. */
enum large { ALL_ALIKE, MANY_KINDS, ANTI_AFFINITY, GANGS, BUDGET };

static struct gang_pod_facts *one_of_many(struct world *w, enum large what, int i)
{
    cleanup_free char *pod = xasprintf("p%d", i), *node = xasprintf("n%d", i / 20),
                      *gang = xasprintf("g%d", i / 100);
    bool in_gang = what == GANGS && i % 20 < 7;
    if (in_gang && i % 100 == 0)
        world_group(w, gang, 35);
    struct gang_pod_facts *f = running(pod, in_gang ? gang : NULL, i % 20 < 7, node);
    if (what == MANY_KINDS)
        gang_amounts_add(&f->requests, "memory", 1000 + i % 1000);
    if (what == ANTI_AFFINITY && i % 20 == 0) {
        f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
        f->n_anti_affinity = 1;
        world_term_in(&f->anti_affinity[0].term, "app", "x");
    }
    if (what == BUDGET)
        gang_kvs_add(&f->labels, "app", "");
    return f;
}

static struct world *large_cluster(enum large what)
{
    struct world *w = nodes(5000, 8);
    for (int i = 0; i < 100000; i++)
        world_pod_set(w, one_of_many(w, what, i));
    if (what == BUDGET)
        world_budget(w, "guard", "app", 0);
    return w;
}

/* kube-scheduler's calls wait during the search. It has the same limit as in explain.c. */
static void search_is_short(struct world *w, const char *what, enum gang_answer room, size_t n)
{
    char api_group[] = "test", ns[] = "default", name[] = "waits";
    const struct gang_ref ref = {api_group, ns, name};
    int64_t work = 12000;
    double begin = cost_ms();
    struct consolidation c = consolidation_search(w->core, gang_find(w->core, &ref), &work);
    double took = cost_ms() - begin;
    printf("%s: %.1f ms\n", what, took);
    assert_int_equal(c.room, room);
    assert_int_equal(c.n, n);
    consolidation_done(&c);
    assert_true(took < cost_limit(25));
}

static void T04_a_search_in_a_large_cluster_is_short(void **state)
{
    (void)state;
    struct world *w = large_cluster(ALL_ALIKE);
    waits(w, 1, 2);
    search_is_short(w, "one pod has to move", GANG_YES, 1);
    double begin = cost_ms();
    assert_string_equal(moves(w), "pod p0 n0>n1");
    assert_true(cost_ms() - begin < cost_limit(50));
    waits(w, 8, 2);
    search_is_short(w, "eight pods have to move", GANG_YES, 8);
    waits(w, 9, 2);
    search_is_short(w, "nine pods have to move", GANG_NO, 0);
    world_group(w, "waits", 1);
    world_members(w, "waits", 0, 9, 8);
    search_is_short(w, "seven pods have to move", GANG_YES, 7);
    world_free(w);
    static const char *const names[] = {[MANY_KINDS] = "many kinds",
                                        [ANTI_AFFINITY] = "anti-affinity",
                                        [GANGS] = "gangs of 35",
                                        [BUDGET] = "a budget"};
    for (enum large what = MANY_KINDS; what <= BUDGET; what++) {
        w = large_cluster(what);
        waits(w, 4, 2);
        search_is_short(w, names[what], what == BUDGET ? GANG_NO : GANG_YES, 4);
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_few_pods_as_possible_move),
        cmocka_unit_test(small_pods_move_before_large_ones),
        cmocka_unit_test(pods_that_must_stay_do_not_move),
        cmocka_unit_test(rules_of_moved_pods_are_obeyed),
        cmocka_unit_test(budgets_in_the_way_are_named),
        cmocka_unit_test(a_budget_of_one_allows_several_moves),
        cmocka_unit_test(gangs_move_as_a_whole),
        cmocka_unit_test(few_restarts_count_more_than_few_moves),
        cmocka_unit_test(other_resources_count_too),
        cmocka_unit_test(evictions_come_first),
        cmocka_unit_test(a_search_changes_nothing),
        cmocka_unit_test(moves_that_are_carried_out_make_room),
        cmocka_unit_test(T04_a_search_in_a_large_cluster_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
