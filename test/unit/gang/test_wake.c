/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that sleep are woken, planned members are nominated. */
#include "test/lib/world.h"

#include <stdio.h>

#define DELAY (20 * USEC_PER_MSEC)

/* n000, n001 and so on, of four GPUs each. */
static void make_nodes(struct world *w, int nodes)
{
    for (int i = 0; i < nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%03d", i);
        world_node(w, name, 4);
    }
}

static struct world *world_steered(enum gang_steering steering, int nodes)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.steering = steering;
    struct world *w = world_new_with(config, true);
    make_nodes(w, nodes);
    return w;
}

static void gang_of_four(struct world *w)
{
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
}

static void always_steers_with_the_plan(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_ALWAYS, 2);
    gang_of_four(w);
    assert_int_equal(w->n_nominations, 4);
    assert_true(world_nominated(w, "g-0@n000"));
    assert_true(world_nominated(w, "g-3@n000"));
    /* Once: what the scheduler clears is not written again while the plan stands. */
    world_wait(w, USEC_PER_SEC);
    world_pod(w, "g-0", "g", 1);
    assert_int_equal(w->n_nominations, 4);
    world_free(w);
}

static void never_steers_but_wakes(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_NEVER, 600);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    world_filter_on(w, "g-0", "n000 n001", NULL);
    world_pod(w, "g-1", "g", 1);
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_nominations, 1);
    assert_true(world_nominated(w, "g-0@n000")); /* it was refused and sleeps */
    world_free(w);
}

static void few_nodes_are_not_worth_it(void **state)
{
    (void)state;
    static const struct {
        int nodes, nominations;
    } cases[] = {{50, 0}, {299, 0}, {300, 4}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = world_steered(GANG_STEER_AUTO, cases[i].nodes);
        gang_of_four(w);
        world_wait(w, USEC_PER_SEC);
        assert_int_equal(w->n_nominations, cases[i].nominations);
        world_free(w);
    }
}

static void members_in_the_queue_are_steered(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_AUTO, 600);
    gang_of_four(w);
    assert_int_equal(w->n_nominations, 0);
    /* One is asked about before the delay is over: it needs no nomination. */
    assert_string_equal(world_filter_on(w, "g-1", "n000 n001", NULL), "n000");
    world_wait(w, DELAY);
    assert_int_equal(w->n_nominations, 3);
    assert_false(world_nominated(w, "g-1@n000"));
    world_free(w);
}

/* A large gang at a bounded pace, so that those asked about meanwhile need none. */
static void a_large_gang_is_steered_in_pieces(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_ALWAYS, 30);
    world_group(w, "g", 100);
    world_members(w, "g", 0, 100, 1);
    assert_int_equal(w->n_nominations, 32);
    world_wait(w, DELAY);
    assert_int_equal(w->n_nominations, 64);
    world_try_members(w, "g", 0, 100);
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_nominations, 64);
    world_free(w);
}

/* The pace is that of all gangs together, whatever steps they are planned in. */
static void small_gangs_are_steered_at_one_pace(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_ALWAYS, 30);
    for (int g = 0; g < 5; g++) {
        cleanup_free char *name = xasprintf("g%d", g);
        world_group(w, name, 8);
        world_members(w, name, 0, 8, 1);
    }
    assert_int_equal(w->n_nominations, 32);
    world_wait(w, DELAY);
    assert_int_equal(w->n_nominations, 40);
    world_free(w);
}

/* The plan is undone: its nominations are taken back, by one write each. */
static void an_undone_plan_takes_its_nominations_back(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_ALWAYS, 1);
    gang_of_four(w);
    assert_int_equal(w->n_nominations, 4);
    world_node_gone(w, "n000");
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_int_equal(w->n_nominations, 8);
    assert_true(world_nominated(w, "g-0@"));
    assert_true(world_nominated(w, "g-3@"));
    world_free(w);
}

/* A place on offer whose member was not nominated is taken before one whose member was. */
static void swaps_with_those_that_cost_no_write(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_AUTO, 600);
    world_group(w, "g", 8);
    world_members(w, "g", 0, 8, 1); /* 4 on n000, 4 on n001 */
    world_wait(w, DELAY);
    assert_int_equal(w->n_nominations, 8);
    /* All siblings on n001 are nominated there; n002 has room and costs nobody a write. */
    assert_string_equal(world_filter_on(w, "g-0", "n001 n002", NULL), "n002");
    assert_int_equal(w->n_nominations, 8);
    world_free(w);
}

/* The first member at bind is enough for the others: they cost no write. */
static void who_goes_express_is_not_steered(void **state)
{
    (void)state;
    struct world *w = world_express();
    make_nodes(w, 600);
    gang_of_four(w);
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_nominations, 0);
    world_group(w, "h", 2); /* kube-scheduler alone can judge these */
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts(i ? "h-1" : "h-0", "h", 1);
        f->inexact = xstrdup("something that is not modelled");
        world_pod_set(w, f);
    }
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_nominations, 2);
    world_free(w);
}

/* One member that kube-scheduler alone can judge keeps the whole gang off the lane. */
static void a_mixed_gang_is_steered_as_a_whole(void **state)
{
    (void)state;
    struct world *w = world_express();
    make_nodes(w, 600);
    world_group(w, "g", 4);
    world_members(w, "g", 0, 3, 1);
    struct gang_pod_facts *f = world_pod_facts("g-3", "g", 1);
    f->inexact = xstrdup("something that is not modelled");
    world_pod_set(w, f);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_nominations, 4);
    world_free(w);
}

/* One refused member sleeps; the plan's nomination, which is to wake it, is lost on its way. */
static struct world *world_with_a_sleeper(void)
{
    struct world *w = world_steered(GANG_STEER_NEVER, 2);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    world_filter(w, "g-0");
    world_pod(w, "g-1", "g", 1);
    assert_int_equal(w->n_nominations, 1);
    assert_true(world_nominated(w, "g-0@n000"));
    return w;
}

static void world_show_nominated(struct world *w, const char *pod, const char *group,
                                 const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(pod, group, 1);
    f->nominated = xstrdup(node);
    world_pod_set(w, f);
}

static void a_lost_nomination_is_written_again(void **state)
{
    (void)state;
    struct world *w = world_with_a_sleeper();
    world_wait(w, SECONDS(9));
    assert_int_equal(w->n_nominations, 1);
    world_wait(w, SECONDS(2));
    assert_int_equal(w->n_nominations, 2);
    assert_string_equal(w->nominations[1], "g-0@n000");
    world_wait(w, SECONDS(15)); /* after longer pauses each time */
    assert_int_equal(w->n_nominations, 2);
    world_wait(w, SECONDS(5));
    assert_int_equal(w->n_nominations, 3);
    world_free(w);
}

static void a_nomination_that_is_seen_is_not_written_again(void **state)
{
    (void)state;
    struct world *w = world_with_a_sleeper();
    world_show_nominated(w, "g-0", "g", "n000");
    world_wait(w, SECONDS(50));
    assert_int_equal(w->n_nominations, 1);
    world_free(w);
    w = world_with_a_sleeper(); /* or asked about: it is awake, whatever has woken it */
    assert_string_equal(world_filter(w, "g-0"), "n000");
    world_wait(w, SECONDS(50));
    assert_int_equal(w->n_nominations, 1);
    world_free(w);
}

/* The attempt ends before: the next plan wakes whoever may still sleep. */
static void the_next_plan_wakes_who_was_not_seen_to_wake(void **state)
{
    (void)state;
    struct world *w = world_with_a_sleeper();
    world_wait(w, SECONDS(5));
    world_node_gone(w, "n000");
    world_node_gone(w, "n001");
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(w->nominations[w->n_nominations - 1], "g-0@");
    world_node(w, "n002", 4);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(w->nominations[w->n_nominations - 1], "g-0@n002");
    world_free(w);
}

/* An ordinary pod that reservations kept out: what was to wake it is lost, nobody else comes. */
static void a_starved_pod_is_woken_again(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_NEVER, 1);
    gang_of_four(w);
    world_pod(w, "solo", NULL, 1);
    assert_string_equal(world_filter(w, "solo"), "");
    world_group_gone(w, "g");
    assert_true(world_nominated(w, "solo@n000"));
    world_wait(w, SECONDS(6));
    assert_string_equal(w->nominations[w->n_nominations - 1], "solo@");
    world_wait(w, SECONDS(6));
    assert_string_equal(w->nominations[w->n_nominations - 1], "solo@n000");
    assert_int_equal(w->n_nominations, 3);
    world_free(w);
}

/* Killed with members nominated: where the new plan has another place for one, the room that
 * kube-scheduler keeps for it is not in the way of others. */
static void a_nomination_of_an_earlier_life_is_overwritten(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.steering = GANG_STEER_NEVER;
    struct world *w = world_new_with(config, false);
    world_node(w, "n000", 2);
    world_node(w, "n001", 2);
    world_group(w, "g", 2);
    world_show_nominated(w, "g-0", "g", "n001");
    world_show_nominated(w, "g-1", "g", "n000");
    world_sync(w);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_nominations, 1);
    assert_true(world_nominated(w, "g-0@n000"));
    world_free(w);
}

static struct gang_pod_facts *pod_in(const char *ns, const char *name, int gpus)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, gpus);
    free(f->ns);
    f->ns = xstrdup(ns);
    return f;
}

/* Room for a few: those who have many pods are not all before the others. */
static void T16_pods_are_woken_in_turn_by_namespace(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 40);
    world_group(w, "g", 40);
    world_members(w, "g", 0, 40, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    for (int i = 0; i < 100; i++) {
        cleanup_free char *name = xasprintf("e-%d", i);
        world_pod_set(w, pod_in("evil", name, 1));
        world_filter_facts(w, pod_in("evil", name, 1), "n");
    }
    world_pod_set(w, pod_in("good", "p", 1));
    world_filter_facts(w, pod_in("good", "p", 1), "n");
    world_forget(w);
    world_group_gone(w, "g");
    world_wait(w, 0);
    assert_true(world_nominated(w, "p@n"));
    assert_true(w->n_nominations >= 40); /* and all the room is used */
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_steers_with_the_plan),
        cmocka_unit_test(never_steers_but_wakes),
        cmocka_unit_test(few_nodes_are_not_worth_it),
        cmocka_unit_test(members_in_the_queue_are_steered),
        cmocka_unit_test(a_large_gang_is_steered_in_pieces),
        cmocka_unit_test(small_gangs_are_steered_at_one_pace),
        cmocka_unit_test(an_undone_plan_takes_its_nominations_back),
        cmocka_unit_test(swaps_with_those_that_cost_no_write),
        cmocka_unit_test(who_goes_express_is_not_steered),
        cmocka_unit_test(a_mixed_gang_is_steered_as_a_whole),
        cmocka_unit_test(a_lost_nomination_is_written_again),
        cmocka_unit_test(a_nomination_that_is_seen_is_not_written_again),
        cmocka_unit_test(the_next_plan_wakes_who_was_not_seen_to_wake),
        cmocka_unit_test(a_starved_pod_is_woken_again),
        cmocka_unit_test(a_nomination_of_an_earlier_life_is_overwritten),
        cmocka_unit_test(T16_pods_are_woken_in_turn_by_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
