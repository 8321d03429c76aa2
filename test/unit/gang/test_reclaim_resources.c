/* SPDX-License-Identifier: Apache-2.0 */
/* What a queue may take back from queues that use several resources. */
#include "test/lib/test_config.h"
#include "test/lib/world_jobs.h"

/* Two nodes with 4 GPUs and 64 cpus each. */
static struct jobs *cluster(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    struct jobs *jobs = jobs_new(world_new_with(config, true));
    world_node(jobs->w, "n0", 4);
    world_node(jobs->w, "n1", 4);
    return jobs;
}

/* What the queue deserves; cpus -1: it states nothing about them. */
static void queue(struct jobs *jobs, const char *name, int gpus, int cpus)
{
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    gang_quota_add(f, GPU)->deserved = gpus;
    if (cpus >= 0)
        gang_quota_add(f, "cpu")->deserved = 1000 * cpus;
    world_queue_set(jobs->w, f);
}

/* A job whose only pod needs these GPUs and cpus, on the node ("0", "1", or NULL: it waits). */
static struct job *pod(struct jobs *jobs, const char *name, const char *queue, int gpus, int cpus,
                       const char *on)
{
    return job_add(
        jobs,
        (struct job){.name = name, .queue = queue, .min = 1, .gpus = gpus, .cpus = cpus, .on = on});
}

static void Q08_a_gang_without_devices_takes_no_deserved_devices(void **state)
{
    (void)state;
    struct jobs *jobs = cluster();
    queue(jobs, "a", 8, -1);
    queue(jobs, "b", 0, 64);
    pod(jobs, "train0", "a", 4, 40, "0");
    pod(jobs, "train1", "a", 4, 40, "1");
    pod(jobs, "etl", "b", 0, 48, NULL);
    jobs_pass(jobs, SECONDS(200));
    assert_int_equal(jobs->n_evictions, 0);
    queue(jobs, "a", 4, -1); /* now a has been lent 4 GPUs */
    jobs_pass(jobs, SECONDS(200));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(world_queue_used(jobs->w, "a", GPU), 4);
    assert_int_equal(world_queue_used(jobs->w, "b", "cpu"), 48000);
    jobs_free(jobs);
}

static void Q08_the_levels_above_keep_their_devices(void **state)
{
    (void)state;
    struct jobs *jobs = cluster();
    queue(jobs, "a", 8, -1);
    queue(jobs, "b", 0, 64);
    world_queue(jobs->w, "a1", "a", 0, GANG_UNLIMITED);
    pod(jobs, "train0", "a1", 4, 40, "0");
    pod(jobs, "train1", "a1", 4, 40, "1");
    pod(jobs, "etl", "b", 0, 48, NULL);
    jobs_pass(jobs, SECONDS(200));
    assert_int_equal(jobs->n_evictions, 0);
    jobs_free(jobs);
}

/* The cheaper victim uses no GPU: b has lent no cpu to it. */
static void Q08_each_victim_uses_some_of_what_is_lent(void **state)
{
    (void)state;
    struct jobs *jobs = cluster();
    queue(jobs, "a", 8, 64);
    queue(jobs, "b", 0, 64);
    struct job *etl = pod(jobs, "etl", "b", 0, 60, "0");
    struct job *lent = pod(jobs, "lent", "b", 4, 8, "1");
    pod(jobs, "train", "a", 4, 40, NULL);
    jobs_pass(jobs, SECONDS(200));
    assert_int_equal(job_evicted(jobs, etl), 0);
    assert_int_equal(job_evicted(jobs, lent), 1);
    assert_int_equal(world_queue_used(jobs->w, "a", GPU), 4);
    jobs_free(jobs);
}

/* Otherwise, a queue could keep lent devices for ever with pods that use many cpus. */
static void Q10_lent_devices_come_back_with_their_cpus(void **state)
{
    (void)state;
    struct jobs *jobs = cluster();
    queue(jobs, "a", 4, 0);
    queue(jobs, "b", 4, 80);
    pod(jobs, "lent0", "b", 4, 40, "0");
    pod(jobs, "lent1", "b", 4, 40, "1");
    pod(jobs, "train", "a", 4, 40, NULL);
    jobs_pass(jobs, SECONDS(200));
    assert_int_equal(jobs->n_evictions, 1);
    assert_int_equal(world_queue_used(jobs->w, "a", GPU), 4);
    assert_int_equal(world_queue_used(jobs->w, "b", GPU), 4);
    jobs_free(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q08_a_gang_without_devices_takes_no_deserved_devices),
        cmocka_unit_test(Q08_the_levels_above_keep_their_devices),
        cmocka_unit_test(Q08_each_victim_uses_some_of_what_is_lent),
        cmocka_unit_test(Q10_lent_devices_come_back_with_their_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
