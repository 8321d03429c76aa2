/* SPDX-License-Identifier: Apache-2.0 */
/* Published failures of the preemption of other schedulers, and what is right instead. Each test
 * builds the cluster that its issue describes. */
#include "test/lib/world_jobs.h"

/* Jobs without a plan are left alone after this time. */
#define QUIET SECONDS(200)

static struct jobs *nodes(int n, int gpus)
{
    return jobs_new(world_of_nodes(n, gpus));
}

/* Volcano 5984 (https://github.com/volcano-sh/volcano/issues/5984): on a node of 11 CPUs, a job of
 * 11 pods needs only one of them. A job of higher priority needs one CPU. All 10 pods that the
 * first job does not need were evicted. */
static void Q11_one_pod_is_evicted_where_one_is_enough(void **state)
{
    (void)state;
    struct jobs *jobs = jobs_new(world_new());
    world_node_small(jobs->w, "n0", 0, 11000);
    struct job *victim =
        job_add(jobs, (struct job){.name = "victim", .min = 1, .size = 11, .priority = 10});
    jobs_settle(jobs, QUIET);
    assert_int_equal(job_runs(victim), 11);
    struct job *preemptor =
        job_add(jobs, (struct job){.name = "preemptor", .min = 1, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(victim), 10);
    assert_int_equal(job_runs(preemptor), 1);
    jobs_free(jobs);
}

/* Jobs of one pod with one GPU, as the pods of a Deployment are. */
static void scale(struct jobs *jobs, const char *queue, int from, int to)
{
    for (int i = from; i < to; i++) {
        cleanup_free char *name = xasprintf("%s%d", queue, i);
        job_add(jobs, (struct job){.name = name, .queue = queue, .min = 1, .gpus = 1});
    }
}

static int runs_in(const struct jobs *jobs, const char *queue)
{
    int n = 0;
    for (size_t i = 0; i < jobs->n; i++)
        n += strcmp(jobs->items[i]->queue, queue) == 0 ? job_runs(jobs->items[i]) : 0;
    return n;
}

/* 64 GPUs: queue a deserves 32 and uses 16, b and c deserve 16 each and use 24. */
static struct jobs *three_queues(void)
{
    struct jobs *jobs = nodes(8, 8);
    world_queue(jobs->w, "a", NULL, 32, GANG_UNLIMITED);
    world_queue(jobs->w, "b", NULL, 16, GANG_UNLIMITED);
    world_queue(jobs->w, "c", NULL, 16, GANG_UNLIMITED);
    scale(jobs, "a", 0, 16);
    scale(jobs, "b", 0, 24);
    scale(jobs, "c", 0, 24);
    jobs_settle(jobs, QUIET);
    assert_int_equal(runs_in(jobs, "a"), 16);
    assert_int_equal(runs_in(jobs, "b"), 24);
    assert_int_equal(runs_in(jobs, "c"), 24);
    return jobs;
}

static void each_has_what_it_deserves(struct jobs *jobs)
{
    assert_int_equal(jobs->n_evictions, 16);
    assert_int_equal(runs_in(jobs, "a"), 32);
    assert_int_equal(runs_in(jobs, "b"), 16);
    assert_int_equal(runs_in(jobs, "c"), 16);
}

/* Volcano 5896 (https://github.com/volcano-sh/volcano/issues/5896): queue a grows from 16 to 32. 18
 * pods were evicted, c was left with 15, and its replacement then took room from a. */
static void Q11_reclaim_evicts_no_more_than_was_lent(void **state)
{
    (void)state;
    struct jobs *jobs = three_queues();
    scale(jobs, "a", 16, 32);
    assert_true(jobs_settle(jobs, QUIET));
    each_has_what_it_deserves(jobs);
    jobs_free(jobs);
}

/* The same, if the 16 pods are one gang. */
static void Q11_reclaim_for_a_gang_evicts_no_more_than_was_lent(void **state)
{
    (void)state;
    struct jobs *jobs = three_queues();
    job_add(jobs, (struct job){.name = "gang", .queue = "a", .min = 16, .gpus = 1});
    assert_true(jobs_settle(jobs, QUIET));
    each_has_what_it_deserves(jobs);
    jobs_free(jobs);
}

/* Volcano 3291 (https://github.com/volcano-sh/volcano/issues/3291): one of two nodes is free, and a
 * job of low priority uses the other one. A job of high priority needs both. It waited for ever,
 * because only nodes with victims counted. */
static void Q11_free_nodes_count_beside_those_of_victims(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(2, 8);
    struct job *low = job_add(jobs, (struct job){.name = "low", .min = 1, .gpus = 8});
    jobs_settle(jobs, QUIET);
    assert_int_equal(job_runs(low), 1);
    struct job *high =
        job_add(jobs, (struct job){.name = "high", .min = 2, .gpus = 8, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(high), 2);
    assert_int_equal(job_runs(low), 0);
    jobs_free(jobs);
}

/* Volcano 5026 and 5022 (https://github.com/volcano-sh/volcano/issues/5026): the pods on the first
 * node were evicted although the job then was placed on the second one. On n0, the job of equal
 * priority stays, so the victims there are not enough. */
static void Q11_nothing_is_evicted_on_nodes_that_are_not_used(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(2, 8);
    struct job *equal = job_add(
        jobs, (struct job){.name = "equal", .min = 1, .gpus = 4, .priority = 100, .on = "0"});
    struct job *in_vain =
        job_add(jobs, (struct job){.name = "in-vain", .min = 1, .gpus = 4, .on = "0"});
    struct job *victim = job_add(
        jobs, (struct job){.name = "victim", .min = 1, .gpus = 8, .priority = 50, .on = "1"});
    struct job *high =
        job_add(jobs, (struct job){.name = "high", .min = 1, .gpus = 8, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(victim), 0);
    assert_int_equal(job_runs(high), 1);
    assert_int_equal(job_runs(equal) + job_runs(in_vain), 2);
    jobs_free(jobs);
}

/* The same issues: the evictions were kept although the job could not be placed at all, because the
 * victims were not enough for the whole gang or for the limit of the queue. */
static void Q11_nothing_is_evicted_for_a_gang_that_then_does_not_fit(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(2, 8);
    job_add(jobs, (struct job){.name = "equal", .min = 1, .gpus = 4, .priority = 100, .on = "0"});
    job_add(jobs, (struct job){.name = "low", .min = 1, .gpus = 4, .on = "0"});
    job_add(jobs, (struct job){.name = "victim", .min = 1, .gpus = 8, .on = "1"});
    job_add(jobs, (struct job){.name = "high", .min = 2, .gpus = 8, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 0);
    jobs_free(jobs);

    jobs = nodes(2, 8);
    world_queue(jobs->w, "q", NULL, GANG_NOT_STATED, 8);
    job_add(jobs,
            (struct job){
                .name = "equal", .queue = "q", .min = 1, .gpus = 4, .priority = 100, .on = "0"});
    job_add(jobs, (struct job){.name = "low", .queue = "q", .min = 1, .gpus = 4, .on = "0"});
    job_add(jobs, (struct job){.name = "high", .queue = "q", .min = 1, .gpus = 8, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 0);
    jobs_free(jobs);
}

/* A team with a queue for what it is guaranteed, and one that only borrows. */
static void team(struct jobs *jobs, const char *name, int deserved)
{
    cleanup_free char *guaranteed = xasprintf("%s-guaranteed", name);
    cleanup_free char *borrowing = xasprintf("%s-borrowing", name);
    world_queue(jobs->w, name, "root", deserved, GANG_UNLIMITED);
    world_queue(jobs->w, guaranteed, name, deserved, deserved);
    world_queue(jobs->w, borrowing, name, 0, GANG_UNLIMITED);
}

/* Kueue 10131 (https://github.com/kubernetes-sigs/kueue/issues/10131): in a tree of three teams, a
 * and b borrow 4 GPUs each from c: a with high priority, b with normal priority. c needs 4 of them.
 * Both borrowers were evicted, in a random order, and the second one started again at once. The
 * issue shows its amounts in a picture; here, a and b deserve 4 GPUs, and c 8. */
static void Q11_one_borrower_of_a_tree_is_evicted_where_one_is_enough(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(4, 4);
    world_queue(jobs->w, "root", NULL, 16, 16);
    team(jobs, "a", 4);
    team(jobs, "b", 4);
    team(jobs, "c", 8);
    job_add(jobs, (struct job){.name = "a0", .queue = "a-guaranteed", .min = 1, .gpus = 4});
    job_add(jobs, (struct job){.name = "b0", .queue = "b-guaranteed", .min = 1, .gpus = 4});
    struct job *high = job_add(
        jobs,
        (struct job){.name = "high", .queue = "a-borrowing", .min = 1, .gpus = 4, .priority = 100});
    struct job *normal =
        job_add(jobs, (struct job){.name = "normal", .queue = "b-borrowing", .min = 1, .gpus = 4});
    jobs_settle(jobs, QUIET);
    assert_int_equal(job_runs(high) + job_runs(normal), 2);
    struct job *c0 =
        job_add(jobs, (struct job){.name = "c0", .queue = "c-guaranteed", .min = 1, .gpus = 4});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(normal), 0);
    assert_int_equal(job_runs(high), 1);
    assert_int_equal(job_runs(c0), 1);
    jobs_free(jobs);
}

/* Kueue 5243 (https://github.com/kubernetes-sigs/kueue/issues/5243): on each of 4 nodes of 8 GPUs,
 * 6 GPUs run jobs of high priority and 2 run jobs of low priority. The quota is 32. A job of high
 * priority needs a whole node. The 8 jobs of low priority were evicted, the job fitted into the
 * quota but on no node, and the next small job of high priority waited behind it. */
static struct jobs *fragmented(void)
{
    struct jobs *jobs = nodes(4, 8);
    world_queue(jobs->w, "q", NULL, 32, 32);
    for (int i = 0; i < 32; i++) {
        bool high = i % 8 < 6;
        cleanup_free char *name = xasprintf("%s%d", high ? "high" : "low", i);
        const char on[] = {(char)('0' + i / 8), '\0'};
        job_add(jobs, (struct job){.name = name,
                                   .queue = "q",
                                   .min = 1,
                                   .gpus = 1,
                                   .priority = high ? 100 : 0,
                                   .on = on});
    }
    return jobs;
}

static void Q11_free_quota_in_fragments_evicts_and_blocks_nobody(void **state)
{
    (void)state;
    struct jobs *jobs = fragmented();
    struct job *whole = job_add(
        jobs, (struct job){.name = "whole", .queue = "q", .min = 1, .gpus = 8, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 0);
    assert_int_equal(job_runs(whole), 0);
    struct job *small = job_add(
        jobs, (struct job){.name = "small", .queue = "q", .min = 1, .gpus = 1, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(job_runs(small), 1);
    jobs_free(jobs);
}

/* The same cluster: if the nodes have room for a part of a gang, none of it runs. */
static void Q11_a_gang_that_fits_the_quota_only_does_not_run_in_part(void **state)
{
    (void)state;
    struct jobs *jobs = fragmented();
    struct job *pairs = job_add(
        jobs, (struct job){.name = "pairs", .queue = "q", .min = 2, .gpus = 3, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 0);
    assert_int_equal(job_runs(pairs), 0);
    /* With 2 GPUs, they fit where the jobs of low priority are. */
    job_end(jobs, pairs);
    pairs = job_add(
        jobs, (struct job){.name = "less", .queue = "q", .min = 4, .gpus = 2, .priority = 100});
    assert_true(jobs_settle(jobs, QUIET));
    assert_int_equal(jobs->n_evictions, 8);
    assert_int_equal(job_runs(pairs), 4);
    jobs_free(jobs);
}

/* KAI 2075 (https://github.com/kai-scheduler/KAI-Scheduler/issues/2075): a webhook refuses every
 * bind of a job. The job still got the free GPUs in every cycle, before a job that could run. */
static void Q11_a_job_whose_binds_are_refused_starves_nobody(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(1, 4);
    struct job *before = job_add(jobs, (struct job){.name = "before", .min = 1, .gpus = 4});
    jobs_settle(jobs, QUIET);
    job_add(jobs,
            (struct job){.name = "zombie", .min = 2, .gpus = 2, .priority = 10, .refused = true});
    struct job *healthy =
        job_add(jobs, (struct job){.name = "healthy", .min = 1, .gpus = 4, .priority = 10});
    job_end(jobs, before);
    jobs_settle(jobs, QUIET);
    assert_int_equal(job_runs(healthy), 1);
    jobs_free(jobs);
}

/* The same with preemption: the job evicts a job of low priority, and then cannot use its room. In
 * two hours, it may do this after 0, 10, 30 and 70 minutes. Meanwhile the other job runs again. */
static void Q11_a_job_whose_binds_are_refused_evicts_more_and_more_rarely(void **state)
{
    (void)state;
    struct jobs *jobs = nodes(1, 4);
    struct job *low = job_add(jobs, (struct job){.name = "low", .min = 2, .gpus = 2});
    jobs_settle(jobs, QUIET);
    job_add(jobs,
            (struct job){.name = "zombie", .min = 2, .gpus = 2, .priority = 10, .refused = true});
    for (int i = 1; i <= 12; i++) {
        jobs_pass(jobs, SECONDS(590));
        assert_true(job_evicted(jobs, low) <= (size_t)(i < 2 ? 2 : i < 4 ? 4 : i < 8 ? 6 : 8));
        assert_int_equal(job_runs(low), 2);
    }
    jobs_free(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q11_one_pod_is_evicted_where_one_is_enough),
        cmocka_unit_test(Q11_reclaim_evicts_no_more_than_was_lent),
        cmocka_unit_test(Q11_reclaim_for_a_gang_evicts_no_more_than_was_lent),
        cmocka_unit_test(Q11_free_nodes_count_beside_those_of_victims),
        cmocka_unit_test(Q11_nothing_is_evicted_on_nodes_that_are_not_used),
        cmocka_unit_test(Q11_nothing_is_evicted_for_a_gang_that_then_does_not_fit),
        cmocka_unit_test(Q11_one_borrower_of_a_tree_is_evicted_where_one_is_enough),
        cmocka_unit_test(Q11_free_quota_in_fragments_evicts_and_blocks_nobody),
        cmocka_unit_test(Q11_a_gang_that_fits_the_quota_only_does_not_run_in_part),
        cmocka_unit_test(Q11_a_job_whose_binds_are_refused_starves_nobody),
        cmocka_unit_test(Q11_a_job_whose_binds_are_refused_evicts_more_and_more_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
