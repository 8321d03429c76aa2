/* SPDX-License-Identifier: Apache-2.0 */
/* Credit: how queues whose gangs are larger than their shares take turns. */
#include <stdio.h>

#include "test/lib/test_config.h"
#include "test/lib/world_queues.h"

#define GPUS 8 /* of the only node */
#define ONE  INT64_C(1000000000)

/* Queues a and b with these weights. Nothing is kept for a gang that has waited for long. */
static struct world *cluster(int a, int b, usec_t half_life)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.starvation = 0;
    config.queue_half_life = half_life;
    struct world *w = world_new_with(config, true);
    world_node(w, "n", GPUS);
    world_queue_weight(w, "a", a);
    world_queue_weight(w, "b", b);
    return w;
}

/* ---- the amount ---- */

/* Queue a waits, and b uses all. Without a bound, the credits of both would become 1.3 times as
 * large: 0.9 of the cluster ÷ ln 2. */
static void Q02_credit_and_debt_are_bounded_by_the_largest_gang(void **state)
{
    (void)state;
    const int64_t half_life = 60;
    struct world *w = cluster(9, 1, SECONDS(half_life));
    world_queued(w, "b0", "b", 1, GPUS);
    world_starts(w, "b0", 1, GPUS);
    world_queued(w, "a0", "a", 1, GPUS);
    world_queued(w, "b1", "b", 1, GPUS);
    for (int64_t i = 0; i < 20 * half_life; i++) {
        world_wait(w, SECONDS(1));
        int64_t a = world_queue_credit(w, "a"), b = world_queue_credit(w, "b");
        if (a < 0 || a > half_life * ONE || b > 0 || b < -half_life * ONE)
            fail_msg("after %d s: %lld and %lld", (int)i, (long long)a, (long long)b);
    }
    assert_int_equal(world_queue_credit(w, "a"), half_life * ONE);
    assert_int_equal(world_queue_credit(w, "b"), -half_life * ONE);
    w->now += SECONDS(1000000000); /* without any step */
    world_wait(w, SECONDS(1));
    assert_int_equal(world_queue_credit(w, "a"), half_life * ONE);
    assert_int_equal(world_queue_credit(w, "b"), -half_life * ONE);
    world_ends(w, "b0", 1);
    assert_string_equal(world_state(w, "a0"), "Planned");
    world_free(w);
}

/* A gang of half the cluster bounds the credit to half. The share of a is 5 of 11, because pods in
 * no queue have a weight of 1. */
static void Q02_a_smaller_gang_bounds_the_credit_further(void **state)
{
    (void)state;
    const int64_t half_life = 60;
    struct world *w = cluster(5, 5, SECONDS(half_life));
    world_pod_seen(w, "other", NULL, GPUS, "n", PHASE_RUNNING); /* in no queue */
    world_queued(w, "a0", "a", 1, GPUS / 2);
    world_queued(w, "b0", "b", 1, GPUS);
    world_wait(w, SECONDS(20 * half_life));
    assert_int_equal(world_queue_credit(w, "a"), half_life * ONE / 2);
    world_free(w);
}

/* `is` is half of `was`. Credit is computed once a second, in steps of a fade. */
static void is_half(int64_t is, int64_t was)
{
    int64_t off = is - was / 2;
    if (off < -ONE || off > ONE)
        fail_msg("%lld is not half of %lld", (long long)is, (long long)was);
}

/* When each queue uses its share, nothing is added to the credits, and they fade. */
static void Q02_credit_fades_with_the_half_life(void **state)
{
    (void)state;
    const usec_t half_life = SECONDS(1000);
    struct world *w = cluster(1, 1, half_life);
    world_queued(w, "b0", "b", 1, GPUS / 2);
    world_queued(w, "b1", "b", 1, GPUS / 2);
    world_starts(w, "b0", 1, GPUS / 2);
    world_starts(w, "b1", 1, GPUS / 2);
    world_queued(w, "b2", "b", 1, GPUS);
    world_queued(w, "a0", "a", 1, GPUS);
    world_wait(w, SECONDS(500));
    world_queued(w, "a1", "a", 1, GPUS / 2);
    world_ends(w, "b0", 1);
    world_starts(w, "a1", 1, GPUS / 2);
    world_wait(w, SECONDS(2));
    int64_t a = world_queue_credit(w, "a"), b = world_queue_credit(w, "b");
    assert_true(a > 200 * ONE && b < -200 * ONE);
    world_wait(w, half_life);
    is_half(world_queue_credit(w, "a"), a);
    is_half(world_queue_credit(w, "b"), b);
    world_free(w);
}

/* ---- turns ---- */

struct turns {
    int n[2];
    usec_t time[2];
};

/* Both queues always have a waiting gang that needs the whole cluster. Gangs of a run for the
 * first time, and those of b for the second. */
static struct turns play(const int weights[2], usec_t half_life, usec_t a, usec_t b, int n)
{
    static const char *const queues[] = {"a", "b"};
    const usec_t lasts[] = {a, b};
    struct turns turns = {.n = {0}};
    struct world *w = cluster(weights[0], weights[1], half_life);
    for (int k = 0; k < 2; k++) {
        cleanup_free char *first = xasprintf("%s0", queues[k]);
        world_queued(w, first, queues[k], 1, GPUS);
    }
    for (int i = 0; i < n; i++) {
        cleanup_free char *of_a = xasprintf("a%d", turns.n[0]),
                          *of_b = xasprintf("b%d", turns.n[1]);
        int k = strcmp(world_state(w, of_a), "Planned") == 0 ? 0 : 1;
        const char *gang = k ? of_b : of_a;
        world_starts(w, gang, 1, GPUS); /* fails if neither has a plan */
        cleanup_free char *next = xasprintf("%s%d", queues[k], ++turns.n[k]);
        world_queued(w, next, queues[k], 1, GPUS);
        world_wait(w, lasts[k]);
        turns.time[k] += lasts[k];
        world_ends(w, gang, 1);
        world_group_gone(w, gang);
    }
    world_free(w);
    return turns;
}

static void Q02_gangs_of_the_whole_cluster_share_turns_by_weight(void **state)
{
    (void)state;
    static const struct {
        int weights[2], half_life, turns_of_a; /* seconds; of 40 */
    } cases[] = {
        {{1, 1}, 3600, 20},
        {{3, 1}, 3600, 30},
        {{1, 3}, 3600, 10},
        {{9, 1}, 3600, 36},
        /* Shorter than a gang: turns become equal, and no queue waits forever. */
        {{1, 1}, 10, 20},
        {{9, 1}, 10, 20},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct turns turns =
            play(cases[i].weights, SECONDS(cases[i].half_life), SECONDS(100), SECONDS(100), 40);
        int off = turns.n[0] - cases[i].turns_of_a;
        if (off < -1 || off > 1)
            fail_msg("case %zu: a gets %d of 40 turns", i, turns.n[0]);
    }
}

/* It is the time that is shared. A gang of a lasts as long as three of b. */
static void Q02_a_queue_with_longer_gangs_has_fewer_turns(void **state)
{
    (void)state;
    struct turns turns = play((const int[]){1, 1}, SECONDS(3600), SECONDS(300), SECONDS(100), 100);
    usec_t off = turns.time[0] - turns.time[1], all = turns.time[0] + turns.time[1];
    if (off < -all / 20 || off > all / 20)
        fail_msg("%d turns of 300 s and %d of 100 s", turns.n[0], turns.n[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q02_credit_and_debt_are_bounded_by_the_largest_gang),
        cmocka_unit_test(Q02_a_smaller_gang_bounds_the_credit_further),
        cmocka_unit_test(Q02_credit_fades_with_the_half_life),
        cmocka_unit_test(Q02_gangs_of_the_whole_cluster_share_turns_by_weight),
        cmocka_unit_test(Q02_a_queue_with_longer_gangs_has_fewer_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
