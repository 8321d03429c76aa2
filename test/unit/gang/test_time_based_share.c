/* SPDX-License-Identifier: Apache-2.0 */
/* Time-based fair share: what a queue has used lowers its weight, and fades with the half-life. */
#include <stdio.h>

#include "test/lib/test_config.h"
#include "test/lib/world_queues.h"

#define GPUS      8
#define HALF_LIFE SECONDS(3600)
#define JOBS      64

/* Gangs of one GPU on one node, in the queues a and b. */
struct load {
    struct world *w;
    struct job {
        char name[16];
        const char *queue;
        enum { ABSENT, WAITS, RUNS } state;
    } jobs[JOBS];
    size_t n;
};

/* k: in thousandths. */
static struct load load_new(int64_t k)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.queue_time_factor = k;
    config.queue_half_life = HALF_LIFE;
    struct load l = {.w = world_new_with(config, true)};
    world_node(l.w, "n", GPUS);
    world_queue_weight(l.w, "a", 1);
    world_queue_weight(l.w, "b", 1);
    return l;
}

static void arrive(struct load *l, const char *queue, int n)
{
    for (int i = 0; i < n; i++) {
        assert_true(l->n < JOBS);
        struct job *job = &l->jobs[l->n];
        *job = (struct job){.queue = queue, .state = WAITS};
        snprintf(job->name, sizeof job->name, "%s%zu", queue, l->n++);
        world_queued(l->w, job->name, queue, 1, 1);
    }
}

static int start_planned(struct load *l)
{
    int n = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct job *job = &l->jobs[i];
        if (job->state != WAITS || strcmp(world_state(l->w, job->name), "Planned") != 0)
            continue;
        world_starts(l->w, job->name, 1, 1);
        job->state = RUNS;
        n++;
    }
    return n;
}

/* The job that has run longest ends, and one that waits starts. */
static void replace_oldest(struct load *l)
{
    size_t i = 0;
    while (l->jobs[i].state != RUNS)
        i++;
    l->jobs[i].state = ABSENT;
    world_ends(l->w, l->jobs[i].name, 1);
    world_group_gone(l->w, l->jobs[i].name);
    world_wait(l->w, SECONDS(2));
    assert_int_equal(start_planned(l), 1);
}

/* Queue a uses the cluster alone for one half-life; then both queues have a backlog. Returns how
 * many GPUs a uses when all of its first jobs have ended. Frees the world. */
static int64_t used_by_a_later(struct load l)
{
    arrive(&l, "a", GPUS);
    assert_int_equal(start_planned(&l), GPUS);
    world_wait(l.w, HALF_LIFE);
    arrive(&l, "a", GPUS);
    arrive(&l, "b", GPUS);
    for (int i = 0; i < GPUS; i++)
        replace_oldest(&l);
    int64_t a = world_queue_used(l.w, "a", GPU);
    assert_int_equal(a + world_queue_used(l.w, "b", GPU), GPUS);
    world_free(l.w);
    return a;
}

/*
 * The past use of a is one half: w' is 1/2 + k (1/2 - 1/2) for a, and 1/2 + k / 2 for b. So b gets
 * two thirds with k = 1, and nearly all with k = 10.
 */
static void Q02_past_use_lowers_the_share(void **state)
{
    (void)state;
    assert_int_equal(used_by_a_later(load_new(0)), GPUS / 2);
    assert_int_equal(used_by_a_later(load_new(1000)), 3);
    assert_int_equal(used_by_a_later(load_new(10000)), 1);
}

static void move_below(struct load *l, const char *name, const char *parent)
{
    struct gang_queue_facts *f = world_queue_facts(name, parent);
    f->weight = 1000;
    world_queue_set(l->w, f);
}

/* The queues p and q have never used anything. */
static void Q02_past_use_lowers_the_share_below_a_parent_too(void **state)
{
    (void)state;
    struct load l = load_new(1000);
    world_queue_weight(l.w, "p", 1);
    world_queue_weight(l.w, "q", 1);
    move_below(&l, "a", "p");
    move_below(&l, "b", "p");
    assert_int_equal(used_by_a_later(l), 3);
}

/* If the idle queue counted, w would be 1/4, and w' of a would be 0. */
static void Q02_an_idle_sibling_does_not_count(void **state)
{
    (void)state;
    struct load l = load_new(1000);
    world_queue_weight(l.w, "idle", 2);
    assert_int_equal(used_by_a_later(l), 3);
}

/* After two half-lives, the past use of a is 3/4, so its w' would be 1/2 + 10 (1/2 - 3/4) < 0. That
 * of b is 1/2 + 10 / 2, 11 times its weight. */
static void Q02_a_weight_falls_to_a_thousandth(void **state)
{
    (void)state;
    struct load l = load_new(10000);
    world_node_small(l.w, "n", GPUS, 1000 * GPUS); /* a finer measure than GPUs */
    arrive(&l, "a", GPUS);
    assert_int_equal(start_planned(&l), GPUS);
    world_wait(l.w, 2 * HALF_LIFE);
    arrive(&l, "a", GPUS);
    arrive(&l, "b", GPUS);
    world_wait(l.w, SECONDS(2));
    int64_t a = world_queue_share(l.w, "a", "cpu"), b = world_queue_share(l.w, "b", "cpu");
    assert_int_equal(b, INT64_C(8000000) * 11000 / 11001);
    assert_int_equal(a + b, 8000000);
    world_free(l.w);
}

/* What a queue has used of one resource lowers its share of the others. */
static void Q02_past_use_of_cpu_lowers_the_share_of_gpus(void **state)
{
    (void)state;
    struct load l = load_new(1000);
    struct gang_pod_facts *f = world_pod_facts("cpus", NULL, 0);
    world_node(l.w, "n", 0);
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("a")};
    f->requests.items[0].amount = 64000; /* all of the node */
    f->node = xstrdup("n");
    f->phase = PHASE_RUNNING;
    world_pod_set(l.w, f);
    world_wait(l.w, HALF_LIFE);
    world_pod_gone(l.w, "cpus");
    arrive(&l, "a", GPUS);
    arrive(&l, "b", GPUS);
    world_wait(l.w, SECONDS(2));
    world_node(l.w, "n", GPUS);
    assert_int_equal(start_planned(&l), GPUS);
    assert_int_equal(world_queue_used(l.w, "a", GPU), 3);
    world_free(l.w);
}

/* After some half-lives, past use does not count any more. */
static void Q02_past_use_fades(void **state)
{
    (void)state;
    struct load l = load_new(1000);
    arrive(&l, "a", GPUS);
    start_planned(&l);
    world_wait(l.w, HALF_LIFE);
    for (size_t i = 0; i < l.n; i++) {
        world_ends(l.w, l.jobs[i].name, 1);
        world_group_gone(l.w, l.jobs[i].name);
        l.jobs[i].state = ABSENT;
    }
    for (int i = 0; i < 20; i++)
        world_wait(l.w, HALF_LIFE / 2);
    arrive(&l, "b", 2 * GPUS); /* b is asked first, and has no advantage */
    arrive(&l, "a", 2 * GPUS);
    start_planned(&l);
    for (int i = 0; i < GPUS; i++)
        replace_oldest(&l);
    assert_int_equal(world_queue_used(l.w, "a", GPU), GPUS / 2);
    world_free(l.w);
}

/* Nothing happens in the cluster while a uses all of it. */
static void Q02_past_use_counts_until_it_ends(void **state)
{
    (void)state;
    struct load l = load_new(10000);
    world_queued(l.w, "big", "a", 1, GPUS);
    world_starts(l.w, "big", 1, GPUS);
    world_wait(l.w, SECONDS(60));
    l.w->now += HALF_LIFE; /* without any step */
    world_ends(l.w, "big", 1);
    world_pod_seen(l.w, "other", NULL, GPUS, "n", PHASE_RUNNING);
    arrive(&l, "a", GPUS);
    arrive(&l, "b", GPUS);
    world_wait(l.w, SECONDS(2));
    world_pod_gone(l.w, "other");
    assert_int_equal(start_planned(&l), GPUS);
    assert_int_equal(world_queue_used(l.w, "a", GPU), 1);
    world_free(l.w);
}

/* Without a bound, their sum overflows, and the part of the small one is 0, by which muster
 * divided. */
static void Q05_weights_of_any_size_can_be_compared(void **state)
{
    (void)state;
    struct load l = load_new(10000);
    const int64_t weights[] = {INT64_MAX, INT64_MAX, 1, 0};
    const char *const names[] = {"a", "b", "small", "none"};
    for (size_t i = 0; i < ARRAY_SIZE(weights); i++) {
        struct gang_queue_facts *f = world_queue_facts(names[i], NULL);
        f->weight = weights[i];
        world_queue_set(l.w, f);
        arrive(&l, names[i], GPUS);
    }
    assert_int_equal(start_planned(&l), GPUS);
    world_wait(l.w, HALF_LIFE);
    for (int i = 0; i < GPUS; i++)
        replace_oldest(&l);
    assert_int_equal(world_queue_used(l.w, "a", GPU) + world_queue_used(l.w, "b", GPU), GPUS);
    world_free(l.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q02_past_use_lowers_the_share),
        cmocka_unit_test(Q02_past_use_lowers_the_share_below_a_parent_too),
        cmocka_unit_test(Q02_an_idle_sibling_does_not_count),
        cmocka_unit_test(Q02_a_weight_falls_to_a_thousandth),
        cmocka_unit_test(Q02_past_use_of_cpu_lowers_the_share_of_gpus),
        cmocka_unit_test(Q02_past_use_counts_until_it_ends),
        cmocka_unit_test(Q02_past_use_fades),
        cmocka_unit_test(Q05_weights_of_any_size_can_be_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
