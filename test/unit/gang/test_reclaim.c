/* SPDX-License-Identifier: Apache-2.0 */
/* Which gangs may take room back in a step, and how much a queue loses within a while. */
#include <stdio.h>

#include "test/lib/test_config.h"
#include "test/lib/world_jobs.h"

#define MINUTES(n) SECONDS(60 * (n))

/* A cluster of n nodes with 4 GPUs. Others may take back `percent` of what a queue uses per ten
 * minutes. */
static struct jobs *cluster(int n, int percent)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.reclaim_limit = percent;
    struct jobs *jobs = jobs_new(world_new_with(config, true));
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("n%d", i);
        world_node(jobs->w, name, 4);
    }
    return jobs;
}

/* Jobs with one member each. */
static void add(struct jobs *jobs, const char *queue, const char *prefix, int n, int gpus)
{
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("%s%d", prefix, i);
        job_add(jobs, (struct job){.name = name, .queue = queue, .min = 1, .gpus = gpus});
    }
    jobs_look(jobs);
}

/* Queue a deserves all 20 GPUs, and b uses them. */
static struct jobs *all_lent(int percent)
{
    struct jobs *jobs = cluster(5, percent);
    world_queue(jobs->w, "a", NULL, 20, GANG_UNLIMITED);
    world_queue(jobs->w, "b", NULL, 0, GANG_UNLIMITED);
    add(jobs, "b", "lent", 10, 2);
    jobs_pass(jobs, MINUTES(2));
    assert_int_equal(world_queue_used(jobs->w, "b", GPU), 20);
    return jobs;
}

static void a_queue_loses_no_more_than_the_limit(void **state)
{
    (void)state;
    struct jobs *jobs = all_lent(20);
    add(jobs, "a", "own", 10, 2);
    jobs_pass(jobs, SECONDS(5));
    /* A tenth of the queue in five minutes, then 2 of 18 GPUs in 5.6 minutes, and so on. */
    assert_int_equal(jobs->n_evictions, 1);
    jobs_pass(jobs, MINUTES(5) - SECONDS(10));
    assert_int_equal(jobs->n_evictions, 1);
    jobs_pass(jobs, MINUTES(1) + SECONDS(20));
    assert_int_equal(jobs->n_evictions, 2);
    jobs_pass(jobs, MINUTES(4));
    assert_int_equal(jobs->n_evictions, 2);
    jobs_pass(jobs, MINUTES(120)); /* all of it comes back */
    assert_int_equal(world_queue_used(jobs->w, "a", GPU), 20);
    jobs_free(jobs);
}

/* Otherwise, a gang that needs more would wait for ever. */
static void a_large_gang_takes_all_that_it_needs(void **state)
{
    (void)state;
    struct jobs *jobs = all_lent(20);
    job_add(jobs, (struct job){.name = "large", .queue = "a", .min = 4, .gpus = 4});
    jobs_pass(jobs, SECONDS(5));
    assert_int_equal(jobs->n_evictions, 8); /* 16 of 20 GPUs, four times the limit */
    add(jobs, "a", "next", 1, 4);
    jobs_pass(jobs, MINUTES(38));
    assert_int_equal(jobs->n_evictions, 8);
    jobs_pass(jobs, MINUTES(4));
    assert_int_equal(jobs->n_evictions, 10);
    jobs_free(jobs);
}

static void there_is_no_limit_by_default(void **state)
{
    (void)state;
    struct jobs *jobs = all_lent(0);
    add(jobs, "a", "own", 10, 2);
    jobs_pass(jobs, SECONDS(40));
    assert_int_equal(jobs->n_evictions, 10);
    jobs_free(jobs);
}

/* Queue b deserves nothing, and its queues b1 and b2 use 4 and 16 GPUs. */
static struct jobs *lent_by_two(void)
{
    struct jobs *jobs = cluster(5, 20);
    world_queue(jobs->w, "a", NULL, 20, GANG_UNLIMITED);
    world_queue(jobs->w, "b", NULL, 0, GANG_UNLIMITED);
    world_queue(jobs->w, "b1", "b", 0, GANG_UNLIMITED);
    world_queue(jobs->w, "b2", "b", 0, GANG_UNLIMITED);
    add(jobs, "b1", "first", 1, 4);
    add(jobs, "b2", "second", 4, 4);
    jobs_pass(jobs, MINUTES(2));
    return jobs;
}

static void the_queue_below_the_common_ancestor_has_the_limit(void **state)
{
    (void)state;
    struct jobs *jobs = lent_by_two();
    add(jobs, "a", "own", 5, 4);
    jobs_pass(jobs, SECONDS(5));
    assert_int_equal(jobs->n_evictions, 1); /* a fifth of b */
    jobs_pass(jobs, MINUTES(9));
    assert_int_equal(jobs->n_evictions, 1);
    jobs_pass(jobs, MINUTES(3));
    assert_int_equal(jobs->n_evictions, 2);
    jobs_free(jobs);
}

/* What two queues of a team take from each other does not protect them from other teams. */
static void losses_inside_a_team_do_not_count_for_others(void **state)
{
    (void)state;
    struct jobs *jobs = lent_by_two();
    world_queue(jobs->w, "b1", "b", 8, GANG_UNLIMITED);
    world_queue(jobs->w, "b", NULL, 8, GANG_UNLIMITED);
    add(jobs, "b1", "back", 1, 4);
    jobs_pass(jobs, SECONDS(70));
    assert_int_equal(jobs->n_evictions, 1);
    add(jobs, "a", "own", 1, 4);
    jobs_pass(jobs, SECONDS(5));
    assert_int_equal(jobs->n_evictions, 2);
    jobs_free(jobs);
}

/* A small queue cannot lose a pod on purpose, and then borrow in safety. */
static void a_queue_that_grows_rests_for_a_shorter_time(void **state)
{
    (void)state;
    struct jobs *jobs = cluster(5, 20);
    world_queue(jobs->w, "a", NULL, 20, GANG_UNLIMITED);
    world_queue(jobs->w, "b", NULL, 0, GANG_UNLIMITED);
    job_add(jobs, (struct job){.name = "other", .min = 1, .gpus = 4, .on = "0"});
    add(jobs, "b", "small", 1, 4);
    jobs_pass(jobs, MINUTES(2));
    job_add(jobs, (struct job){.name = "large", .queue = "a", .min = 4, .gpus = 4});
    jobs_pass(jobs, SECONDS(5));
    assert_int_equal(jobs->n_evictions, 1); /* all that b used: 50 minutes */
    job_end(jobs, jobs->items[2]);
    add(jobs, "b", "more", 3, 4);
    jobs_pass(jobs, MINUTES(2));
    assert_int_equal(world_queue_used(jobs->w, "b", GPU), 16);
    add(jobs, "a", "own", 1, 4);
    jobs_pass(jobs, MINUTES(9)); /* 4 of 16 GPUs: 12.5 minutes after the loss */
    assert_int_equal(jobs->n_evictions, 1);
    jobs_pass(jobs, MINUTES(3));
    assert_int_equal(jobs->n_evictions, 2);
    jobs_free(jobs);
}

/* The limit does not apply to priority inside a queue. */
static void the_queue_itself_has_no_limit(void **state)
{
    (void)state;
    struct jobs *jobs = all_lent(20);
    add(jobs, "a", "own", 1, 2);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("urgent%d", i);
        job_add(jobs,
                (struct job){.name = name, .queue = "b", .min = 1, .gpus = 2, .priority = 10});
    }
    jobs_pass(jobs, SECONDS(60));
    assert_int_equal(jobs->n_evictions, 4);
    jobs_free(jobs);
}

static void an_explanation_names_the_queue_and_the_time(void **state)
{
    (void)state;
    struct jobs *jobs = all_lent(20);
    add(jobs, "a", "own", 2, 2);
    jobs_pass(jobs, SECONDS(70));
    assert_int_equal(jobs->n_evictions, 1);
    bool first_runs = strcmp(world_state(jobs->w, "own0"), "Scheduled") == 0;
    char api_group[] = "test", ns[] = "default", name[] = "own0";
    name[3] += first_runs;
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    assert_true(gang_core_explain(jobs->w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    assert_int_equal(x.eviction.room, GANG_NO);
    assert_string_equal(x.eviction.resting->name, "b");
    usec_t left = x.eviction.rests_until - jobs->w->now;
    assert_true(left > MINUTES(3) && left < MINUTES(5));
    gang_explained_done(&x);
    jobs_free(jobs);
}

static void waits(struct world *w, const char *name, int members, int32_t priority)
{
    struct gang_group_facts *g = world_group_facts(name, members);
    g->queue = xstrdup("a");
    world_group_set(w, g);
    for (int i = 0; i < members; i++) {
        cleanup_free char *pod = xasprintf("%s-%d", name, i);
        struct gang_pod_facts *f = world_pod_facts(pod, name, 4);
        f->priority = priority;
        world_pod_set(w, f);
    }
}

/* In each step, only some gangs are asked whether their queue may take room back. The last one here
 * is the only one that may. */
static void gangs_that_are_not_asked_get_another_turn(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_queue(w, "a", NULL, 0, GANG_UNLIMITED);
    world_queue(w, "b", NULL, 0, GANG_UNLIMITED);
    struct gang_pod_facts *f = world_pod_facts("lent", NULL, 4);
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("b")};
    f->node = xstrdup("n0");
    f->phase = PHASE_RUNNING;
    f->controlled = true;
    f->priority = 100; /* nothing has a lower priority */
    world_pod_set(w, f);
    for (int i = 0; i < 100; i++) {
        cleanup_free char *name = xasprintf("large%02d", i);
        waits(w, name, 2, 10);
    }
    waits(w, "small", 1, 0);
    world_wait(w, SECONDS(600));
    world_queue(w, "a", NULL, 4, GANG_UNLIMITED);
    world_wait(w, SECONDS(120));
    assert_true(world_evicted(w, "lent"));
    world_free(w);
}

/* A gang that was not entitled a moment ago is asked again at the end of its short pause. */
static void Q10_a_change_during_the_pause_is_not_lost(void **state)
{
    (void)state;
    for (int ms = 0; ms < 1200; ms += 300) {
        struct jobs *jobs = cluster(1, 0);
        world_queue(jobs->w, "a", NULL, 0, GANG_UNLIMITED);
        world_queue(jobs->w, "b", NULL, 0, GANG_UNLIMITED);
        add(jobs, "b", "lent", 1, 4);
        jobs_pass(jobs, MINUTES(2));
        add(jobs, "a", "own", 1, 4);
        jobs_pass(jobs, ms * USEC_PER_MSEC);
        world_queue(jobs->w, "a", NULL, 4, GANG_UNLIMITED);
        jobs_look(jobs);
        jobs_pass(jobs, SECONDS(10));
        assert_int_equal(jobs->n_evictions, 1);
        jobs_free(jobs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_loses_no_more_than_the_limit),
        cmocka_unit_test(a_large_gang_takes_all_that_it_needs),
        cmocka_unit_test(there_is_no_limit_by_default),
        cmocka_unit_test(the_queue_below_the_common_ancestor_has_the_limit),
        cmocka_unit_test(losses_inside_a_team_do_not_count_for_others),
        cmocka_unit_test(a_queue_that_grows_rests_for_a_shorter_time),
        cmocka_unit_test(the_queue_itself_has_no_limit),
        cmocka_unit_test(an_explanation_names_the_queue_and_the_time),
        cmocka_unit_test(gangs_that_are_not_asked_get_another_turn),
        cmocka_unit_test(Q10_a_change_during_the_pause_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
