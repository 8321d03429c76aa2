/* SPDX-License-Identifier: Apache-2.0 */
/* What `muster explain` says about gangs of a lower priority: without which ones a gang would fit.
 * muster evicts nothing in these tests (preemption: false). */
#include <stdio.h>

#include "test/lib/cpu_cost.h"
#include "test/lib/world_queues.h"

/* A running pod with a controller. `gang` NULL: an ordinary pod. */
static struct gang_pod_facts *running(const char *name, const char *gang, int gpus,
                                      const char *node, int priority)
{
    struct gang_pod_facts *f = world_pod_facts(name, gang, gpus);
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    f->priority = priority;
    f->controlled = true;
    return f;
}

static struct world *nodes(int n, int gpus)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.preemption = false;
    struct world *w = world_new_with(config, true);
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("n%d", i);
        world_node(w, name, gpus);
    }
    return w;
}

static void runs(struct world *w, const char *name, const char *gang, int gpus, const char *node)
{
    world_pod_set(w, running(name, gang, gpus, node, 0));
}

/* A gang of priority 10 whose members need so many GPUs each. */
static void urgent(struct world *w, int members, int gpus)
{
    world_group(w, "urgent", members);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("urgent-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "urgent", gpus);
        f->priority = 10;
        world_pod_set(w, f);
    }
}

/* The names of the victims, sorted, each with a space behind it. */
static const char *victims(struct world *w)
{
    static char text[1000];
    char api_group[] = "test", ns[] = "default", name[] = "urgent";
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    size_t at = 0;
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    text[0] = '\0';
    for (size_t i = 0; i < x.eviction.n_victims; i++) {
        const struct gang_explained_victim *v = &x.eviction.victims[i];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s ",
                               v->pod ? v->pod->name : v->gang->name);
    }
    gang_explained_done(&x);
    return text;
}

/* Gangs of lower priority first, then as few as possible, then those that lose least. */
static void Q07_the_cheapest_gangs_are_found(void **state)
{
    (void)state;
    struct world *w = nodes(3, 4);
    world_group(w, "two", 2);
    runs(w, "two-0", "two", 2, "n0");
    runs(w, "two-1", "two", 2, "n1");
    world_group(w, "one", 1);
    runs(w, "one-0", "one", 2, "n0");
    runs(w, "single", NULL, 2, "n1");
    world_pod_set(w, running("costly", NULL, 4, "n2", 5));
    urgent(w, 1, 4);
    assert_string_equal(victims(w), "one two ");
    urgent(w, 2, 4); /* the other half of the gang is on the other node */
    assert_string_equal(victims(w), "one single two ");
    urgent(w, 3, 4);
    assert_string_equal(victims(w), "one single two costly ");
    urgent(w, 4, 4);
    assert_string_equal(victims(w), "");
    world_free(w);
}

static void runs_since(struct world *w, const char *name, const char *gang, int gpus,
                       const char *node, usec_t since, usec_t saved)
{
    struct gang_pod_facts *f = running(name, gang, gpus, node, 0);
    f->bound_at = since;
    f->saved_at = saved;
    world_pod_set(w, f);
}

/* The work since the checkpoint is lost, also of members that do not state it. */
static void Q07_a_checkpoint_makes_a_victim_cheaper(void **state)
{
    (void)state;
    struct world *w = nodes(2, 4);
    world_wait(w, SECONDS(7200));
    usec_t hour = w->now - SECONDS(3600), minute = w->now - SECONDS(60);
    world_group(w, "old", 2);
    runs_since(w, "old-0", "old", 2, "n0", hour, 0);
    runs_since(w, "old-1", "old", 2, "n0", hour, 0);
    runs_since(w, "young", NULL, 4, "n1", minute, 0);
    urgent(w, 1, 4);
    assert_string_equal(victims(w), "young ");
    runs_since(w, "old-1", "old", 2, "n0", hour, w->now - SECONDS(30));
    assert_string_equal(victims(w), "old ");
    runs_since(w, "young", NULL, 4, "n1", minute, hour); /* saved before it started */
    assert_string_equal(victims(w), "old ");
    runs_since(w, "young", NULL, 4, "n1", minute, w->now + SECONDS(60)); /* nothing is lost */
    assert_string_equal(victims(w), "young ");
    world_free(w);
}

static void Q07_a_member_beyond_the_minimum_is_enough(void **state)
{
    (void)state;
    struct world *w = nodes(2, 4);
    world_group(w, "elastic", 1);
    runs(w, "elastic-0", "elastic", 4, "n0");
    runs(w, "elastic-1", "elastic", 4, "n1");
    urgent(w, 1, 4);
    assert_string_equal(victims(w), "elastic-0 ");
    world_group(w, "elastic", 2);
    assert_string_equal(victims(w), "elastic ");
    world_free(w);
}

static void protected_gangs_and_pods_are_no_victims(void **state)
{
    (void)state;
    struct world *w = nodes(1, 4);
    world_pod_set(w, running("equal", NULL, 4, "n0", 10));
    urgent(w, 1, 1);
    assert_string_equal(victims(w), "");
    for (int i = 0; i < 4; i++) {
        struct gang_pod_facts *f = running("equal", NULL, 4, "n0", 0);
        f->controlled = i != 1;
        f->of_node = i == 2;
        f->preemptible = i == 3 ? PREEMPTIBLE_NO : PREEMPTIBLE_BY_PRIORITY;
        world_pod_set(w, f);
        assert_string_equal(victims(w), i == 0 ? "equal " : "");
    }
    world_pod_set(w, running("equal", NULL, 4, "n0", 0));
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 1);
    f->priority = 10;
    f->never_preempts = true;
    world_pod_set(w, f);
    assert_string_equal(victims(w), "");
    world_free(w);
}

/* What the budget forbids is not counted as room, and the budget is named. */
static void budgets_in_the_way_are_named(void **state)
{
    (void)state;
    char api_group[] = "test", ns[] = "default", name[] = "urgent";
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    struct world *w = nodes(1, 4);
    struct gang_pod_facts *f = running("guarded", NULL, 4, "n0", 0);
    f->bound_at = w->now;
    gang_kvs_add(&f->labels, "a", "");
    world_pod_set(w, f);
    urgent(w, 1, 4);
    world_wait(w, SECONDS(10));
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    assert_int_equal(x.eviction.room, GANG_YES);
    assert_int_equal(x.eviction.lost_seconds, 40);
    assert_null(x.eviction.budget);
    gang_explained_done(&x);
    world_budget(w, "a", "a", 0);
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    assert_int_equal(x.eviction.room, GANG_NO);
    assert_string_equal(x.eviction.budget->name, "a");
    gang_explained_done(&x);
    world_budget(w, "b", "a", 1);
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    assert_int_equal(x.eviction.room, GANG_NO);
    assert_null(x.eviction.budget->name);
    gang_explained_done(&x);
    world_free(w);
}

static void runs_for(struct world *w, const char *job, const char *name, const char *gang, int gpus,
                     const char *node, int priority)
{
    struct gang_pod_facts *f = running(name, gang, gpus, node, priority);
    f->job = xstrdup(job);
    world_pod_set(w, f);
}

/* Whatever priority they have: a Job that fails is not started again. */
static void Q07_jobs_that_would_fail_come_last(void **state)
{
    (void)state;
    struct world *w = nodes(2, 4);
    world_job(w, "fails", 1);
    world_job(w, "survives", 2);
    world_group(w, "fails", 2);
    world_group(w, "survives", 2);
    for (int i = 0; i < 2; i++) {
        const char *fails[] = {"fails-0", "fails-1"}, *survives[] = {"survives-0", "survives-1"};
        runs_for(w, "fails", fails[i], "fails", 2, "n0", 0);
        runs_for(w, "survives", survives[i], "survives", 2, "n1", 5);
    }
    urgent(w, 1, 4);
    assert_string_equal(victims(w), "survives ");
    world_job(w, "fails", 2);
    assert_string_equal(victims(w), "fails ");
    world_job(w, "fails", 0);
    world_job(w, "survives", 1); /* now both would */
    assert_string_equal(victims(w), "fails ");
    struct gang_event ev = {.kind = GANG_EV_JOB_GONE};
    ev.gone = (struct gang_ref){.ns = xstrdup("default"), .name = xstrdup("survives")};
    world_step(w, &ev, 1);
    assert_string_equal(victims(w), "survives ");
    world_free(w);
}

/* The same for pods that a gang does not need, and for ordinary pods: as many as the Job may lose
 * come first. */
static void Q07_a_job_loses_as_many_pods_as_it_may(void **state)
{
    (void)state;
    struct world *w = nodes(4, 2);
    world_job(w, "elastic", 1);
    world_group(w, "elastic", 1);
    runs_for(w, "elastic", "a", "elastic", 2, "n0", 0);
    runs_for(w, "elastic", "b", "elastic", 2, "n1", 0);
    runs_for(w, "elastic", "c", "elastic", 2, "n2", 0);
    runs_for(w, "none", "single", NULL, 2, "n3", 5);
    urgent(w, 2, 2);
    assert_string_equal(victims(w), "a single ");
    world_job(w, "elastic", 2);
    assert_string_equal(victims(w), "a b ");
    world_free(w);
}

/* The room of Terminating pods is enough. */
static void nothing_is_evicted_for_room_that_comes_anyway(void **state)
{
    (void)state;
    struct world *w = nodes(2, 4);
    runs(w, "stays", NULL, 4, "n1");
    runs(w, "leaves", NULL, 4, "n0");
    urgent(w, 1, 4);
    assert_string_equal(victims(w), "leaves ");
    struct gang_pod_facts *f = running("leaves", NULL, 4, "n0", 0);
    f->deleting = true;
    world_pod_set(w, f);
    assert_string_equal(victims(w), "");
    urgent(w, 2, 4); /* now it is not enough */
    assert_string_equal(victims(w), "stays ");
    world_free(w);
}

static void gangs_of_other_queues_are_no_victims(void **state)
{
    (void)state;
    struct world *w = nodes(2, 4);
    world_queue(w, "a", NULL, GANG_NOT_STATED, 6);
    world_queue(w, "b", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    struct gang_group_facts *f = world_group_facts("urgent", 1);
    f->queue = xstrdup("a");
    world_group_set(w, f);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("lower-%d", i), *pod = xasprintf("lower-%d-0", i),
                          *node = xasprintf("n%d", i);
        f = world_group_facts(name, 1);
        f->queue = xstrdup(i ? "a" : "b");
        world_group_set(w, f);
        runs(w, pod, name, 4, node);
    }
    struct gang_pod_facts *member = world_pod_facts("urgent-0", "urgent", 4);
    member->priority = 10;
    world_pod_set(w, member);
    assert_string_equal(victims(w), "lower-1 ");
    /* A limit of the queue is short, and no node is. */
    world_node(w, "n2", 4);
    assert_string_equal(victims(w), "lower-1 ");
    world_free(w);
}

/* Volcano 5984: ten pods were evicted where one was enough, because nothing was put back. */
static void one_pod_is_enough(void **state)
{
    (void)state;
    struct world *w = nodes(1, 10);
    for (int i = 0; i < 10; i++) {
        cleanup_free char *name = xasprintf("p%d", i);
        runs(w, name, NULL, 1, "n0");
    }
    urgent(w, 1, 1);
    assert_string_equal(victims(w), "p0 ");
    world_free(w);
}

/* Volcano 3291: nodes that were free already did not count. */
static void free_nodes_count(void **state)
{
    (void)state;
    struct world *w = nodes(3, 4);
    runs(w, "p0", NULL, 4, "n0");
    runs(w, "p1", NULL, 4, "n1");
    urgent(w, 2, 4);
    assert_string_equal(victims(w), "p0 ");
    world_free(w);
}

/* The search must not stop kube-scheduler's calls, however many victims there are. */
static void T04_a_search_among_many_victims_is_short(void **state)
{
    (void)state;
    struct world *w = nodes(1000, 8);
    w->unchecked = true;
    for (int i = 0; i < 8000; i++) {
        cleanup_free char *name = xasprintf("p%d", i), *node = xasprintf("n%d", i / 8);
        runs(w, name, NULL, 1, node);
    }
    urgent(w, 500, 8);
    double before = cost_ms();
    victims(w);
    assert_true(cost_ms() - before < cost_limit(50));
    world_free(w);
}

enum { ANY = -1 };

/* A gang of 1,000 that needs room on 5,000 nodes, which are full of 2,000 gangs of three
 * priorities. */
static const struct shape {
    const char *what;
    int gpus[4];   /* of its members in turn */
    int unguarded; /* so many nodes have no pod that must not be evicted */
    int evicted;   /* pods */
} shapes[] = {
    {"1 GPU each", {1, 1, 1, 1}, 5000, 1000},
    {"8 GPUs each", {8, 8, 8, 8}, 5000, 10000},
    {"1, 2, 4 and 8 GPUs", {1, 2, 4, 8}, 5000, ANY},
    {"8 GPUs each, and one node too few can be freed", {8, 8, 8, 8}, 999, 0},
    {"8 GPUs each, and no node can be freed", {8, 8, 8, 8}, 0, 0},
};

/* Of the places for pods, 8 on each node. */
static bool is_guard(const struct shape *shape, int place)
{
    int node = place / 8;
    return place % 8 == 7 && shape->unguarded < 5000 &&
           (node % 5 != 0 || node / 5 >= shape->unguarded);
}

/* Gang g, in 20 places without the guards. */
static void add_running(struct world *w, const struct shape *shape, int g)
{
    cleanup_free char *gang = xasprintf("g%d", g);
    int guards = 0;
    for (int i = 20 * g; i < 20 * (g + 1); i++)
        guards += is_guard(shape, i);
    world_group(w, gang, 20 - guards);
    for (int i = 20 * g; i < 20 * (g + 1); i++) {
        cleanup_free char *pod = xasprintf("p%d", i), *node = xasprintf("n%d", i / 8);
        bool guard = is_guard(shape, i);
        struct gang_pod_facts *f = running(pod, guard ? NULL : gang, 1, node, g % 3);
        f->controlled = !guard;
        world_pod_set(w, f);
    }
}

static struct world *large_cluster(const struct shape *shape)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    struct world *w = world_new_with(config, true);
    w->unchecked = true;
    for (int i = 0; i < 5000; i++) {
        cleanup_free char *name = xasprintf("n%d", i);
        world_node(w, name, 8);
    }
    for (int g = 0; g < 2000; g++)
        add_running(w, shape, g);
    return w;
}

static void add_urgent(struct world *w, const struct shape *shape, int i)
{
    cleanup_free char *name = xasprintf("urgent-%d", i);
    struct gang_pod_facts *f = world_pod_facts(name, "urgent", shape->gpus[i % 4]);
    f->priority = 10;
    world_pod_set(w, f);
}

/* In the 20 seconds after the last member has come, or until pods are evicted, in milliseconds. */
static double longest_step(struct world *w, const struct shape *shape)
{
    usec_t end = w->now + SECONDS(20);
    w->longest_ms = 0;
    add_urgent(w, shape, 999);
    while (!w->n_evictions && gang_core_next(w->core) <= end) {
        w->now = gang_core_next(w->core);
        world_step(w, NULL, 0);
    }
    return w->longest_ms;
}

/* Returns the longest step, in milliseconds. */
static double decide(const struct shape *shape)
{
    struct world *w = large_cluster(shape);
    world_group(w, "urgent", 1000);
    for (int k = 0; k < 999; k++)
        add_urgent(w, shape, k);
    assert_int_equal(w->n_evictions, 0);
    double longest = longest_step(w, shape);
    if (shape->evicted != ANY)
        assert_int_equal(w->n_evictions, shape->evicted);
    world_free(w);
    return longest;
}

/* As few gangs as possible are evicted, and no step takes long. The best of some decisions counts,
 * as in test_plan_cost.c. */
static void Q09_a_decision_in_a_large_cluster_is_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        double longest = decide(&shapes[i]);
        for (int again = cost_is_strict() ? 4 : 0; again > 0; again--) {
            double ms = decide(&shapes[i]);
            longest = ms < longest ? ms : longest;
        }
        printf("%s: the longest step took %.1f ms\n", shapes[i].what, longest);
        assert_true(longest < cost_limit(50));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q07_the_cheapest_gangs_are_found),
        cmocka_unit_test(Q07_a_checkpoint_makes_a_victim_cheaper),
        cmocka_unit_test(Q07_a_member_beyond_the_minimum_is_enough),
        cmocka_unit_test(protected_gangs_and_pods_are_no_victims),
        cmocka_unit_test(budgets_in_the_way_are_named),
        cmocka_unit_test(Q07_jobs_that_would_fail_come_last),
        cmocka_unit_test(Q07_a_job_loses_as_many_pods_as_it_may),
        cmocka_unit_test(nothing_is_evicted_for_room_that_comes_anyway),
        cmocka_unit_test(gangs_of_other_queues_are_no_victims),
        cmocka_unit_test(one_pod_is_enough),
        cmocka_unit_test(free_nodes_count),
        cmocka_unit_test(Q09_a_decision_in_a_large_cluster_is_short),
        cmocka_unit_test(T04_a_search_among_many_victims_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
