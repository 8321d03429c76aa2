/* SPDX-License-Identifier: Apache-2.0 */
/* A step plans only for a limited time, so that calls get their answers. The order of gangs stays.
 */
#include <stdio.h>

#include "gang/cluster/lookup.h"
#include "gang/plan/placement.h"
#include "test/lib/world.h"
#include "test/lib/world_queues.h"

enum { NODES = 100, GANGS = 60 };

/* The members need a host port, so a scan visits each node. */
static void add_gang(struct world *w, int i, int priority)
{
    char group[16];
    snprintf(group, sizeof group, "g%02d", i);
    struct gang_group_facts *g = world_group_facts(group, 2);
    g->has_priority = true;
    g->priority = priority;
    world_group_set(w, g);
    for (int k = 0; k < 2; k++) {
        char name[24];
        snprintf(name, sizeof name, "%s-%d", group, k);
        struct gang_pod_facts *f = world_pod_facts(name, group, 1);
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->n_host_ports = 1;
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 1000 + i};
        f->priority = priority;
        world_pod_set(w, f);
    }
}

/* Many gangs and nodes exist when muster starts. There is room for one gang, and the last one is
 * first in the order. */
static struct world *start(int64_t work)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.plan_work = work;
    struct world *w = world_new_with(config, false);
    for (int n = 0; n < NODES; n++) {
        char name[16];
        snprintf(name, sizeof name, "n%03d", n);
        world_node(w, name, n < 2 ? 1 : 0);
    }
    for (int i = 0; i < GANGS; i++)
        add_gang(w, i, i == GANGS - 1 ? 5 : 0);
    world_sync(w);
    return w;
}

static uint64_t plans_tried(const struct world *w)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.plans_made + stats.plans_failed;
}

/* How many steps it takes until no gang is left to plan. */
static int tick_until_done(struct world *w)
{
    int steps = 0;
    while (gang_core_plans_deferred(w->core)) {
        uint64_t before = plans_tried(w);
        w->now = gang_core_next(w->core);
        world_step(w, &(struct gang_event){.kind = GANG_EV_TICK}, 1);
        assert_true(plans_tried(w) > before);
        assert_true(++steps <= GANGS);
    }
    return steps;
}

static void T04_a_step_ends_with_the_gang_that_exceeds_its_work(void **state)
{
    (void)state;
    struct world *w = start(5 * NODES);
    assert_true(gang_core_plans_deferred(w->core));
    assert_true(plans_tried(w) >= 1);
    assert_true(plans_tried(w) <= 6);
    assert_true(gang_core_next(w->core) <= w->now + 1);
    assert_string_equal(world_state(w, "g59"), "Planned"); /* the first in the order */
    world_pod(w, "single", NULL, 0);
    assert_string_not_equal(world_filter(w, "single"),
                            ""); /* it does not wait for the other plans */
    assert_true(tick_until_done(w) >= 5);
    assert_int_equal(plans_tried(w), GANGS);
    assert_string_equal(world_state(w, "g00"), "Waiting");
    assert_string_equal(world_state(w, "g58"), "Waiting");
    world_free(w);
}

static void T04_gangs_left_for_a_later_step_keep_their_order(void **state)
{
    (void)state;
    struct world *w = start(1);
    assert_int_equal(plans_tried(w), 1);
    add_gang(w, GANGS, 9);
    assert_string_equal(world_state(w, "g60"),
                        "Waiting"); /* plans_tried before the gangs that are left */
    world_pod_gone(w, "g59-0");
    world_pod_gone(w, "g59-1");
    tick_until_done(w);
    assert_string_equal(world_state(w, "g60"), "Planned");
    assert_string_equal(world_state(w, "g00"), "Waiting");
    world_free(w);
}

static void T04_an_ordinary_amount_of_work_takes_one_step(void **state)
{
    (void)state;
    struct world *w = start(test_config().plan_work);
    assert_false(gang_core_plans_deferred(w->core));
    assert_int_equal(plans_tried(w), GANGS);
    world_free(w);
}

static bool is_planned(struct world *w, const char *group)
{
    return strcmp(world_state(w, group), "Planned") == 0;
}

/* No gang fits, except the last one in the order. */
static struct world *start_full(int64_t work)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    config.plan_work = work;
    struct world *w = world_new_with(config, false);
    for (int n = 0; n < NODES; n++) {
        char name[16];
        snprintf(name, sizeof name, "n%03d", n);
        world_node(w, name, 0);
    }
    for (int i = 0; i < GANGS; i++)
        add_gang(w, i, 0);
    world_group(w, "last", 1);
    world_pod(w, "last-0", "last", 0);
    world_sync(w);
    return w;
}

/* In each step, room grows, so that all gangs are due again, and the first ones use up its work. */
static void T16_gangs_at_the_end_of_the_order_get_their_turn(void **state)
{
    (void)state;
    struct world *w = start_full(5 * NODES);
    int steps = 0;
    for (; !is_planned(w, "last"); steps++) {
        assert_true(steps <= 2 * GANGS);
        world_node(w, "n000", 0);
        world_node_small(w, "n001", 0, 64000 + steps); /* it grows */
    }
    world_free(w);
}

/* ---- one gang that takes too much work ---- */

/* Each member has another host port, so each needs a scan of all nodes. */
static void add_different(struct world *w, const char *group, int members)
{
    world_group(w, group, members);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        struct gang_pod_facts *f = world_pod_facts(name, group, 0);
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->n_host_ports = 1;
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 1 + i};
        world_pod_set(w, f);
    }
}

static struct world *start_large(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    struct world *w = world_new_with(config, false);
    for (int n = 0; n < 1000; n++) {
        cleanup_free char *name = xasprintf("n%03d", n);
        world_node(w, name, 8);
    }
    return w;
}

static void T16_a_plan_that_takes_too_much_work_is_given_up(void **state)
{
    (void)state;
    struct world *w = start_large();
    add_different(w, "much", PLAN_WORK_MAX / 1000 - 100);
    add_different(w, "toomuch", PLAN_WORK_MAX / 1000 + 100);
    world_sync(w);
    tick_until_done(w);
    assert_string_equal(world_state(w, "much"), "Planned");
    assert_string_equal(world_state(w, "toomuch"), "Waiting");
    assert_string_equal(world_reason_name(w, "toomuch"), "PlanTooLarge");
    assert_true(w->core->work < PLAN_WORK_MAX + PLAN_WORK_MAX / 10);
    world_group(w, "other", 1);
    world_pod(w, "other-0", "other", 1);
    assert_string_equal(world_state(w, "other"), "Planned");
    world_free(w);
}

/* Room grows again and again, but the two gangs cost a plan only every 20 s. */
static void T16_gangs_with_too_large_plans_take_turns(void **state)
{
    (void)state;
    struct world *w = start_large();
    add_different(w, "a", PLAN_WORK_MAX / 1000 + 100);
    add_different(w, "b", PLAN_WORK_MAX / 1000 + 100);
    world_sync(w);
    tick_until_done(w);
    uint64_t before = plans_tried(w);
    for (int i = 0; i < 100; i++) {
        w->now += USEC_PER_SEC;
        world_node_small(w, "n000", 8, 64000 + i); /* it grows */
    }
    assert_true(plans_tried(w) >= before + 3);
    assert_true(plans_tried(w) <= before + 5);
    for (int i = 0; i < 200; i++) { /* fewer members differ */
        cleanup_free char *name = xasprintf("b-%d", i);
        world_pod_gone(w, name);
    }
    world_group(w, "b", PLAN_WORK_MAX / 1000 - 100);
    for (int i = 0; !is_planned(w, "b"); i++) {
        assert_true(i < 60);
        world_wait(w, USEC_PER_SEC);
    }
    assert_string_equal(world_state(w, "a"), "Waiting");
    world_free(w);
}

static void T16_a_gang_that_waits_for_its_turn_says_so(void **state)
{
    (void)state;
    struct world *w = start_large();
    add_different(w, "a", PLAN_WORK_MAX / 1000 + 100);
    world_sync(w);
    tick_until_done(w);
    world_pod_gone(w, "a-0");
    assert_string_equal(world_reason_name(w, "a"), "NotEnoughMembers");
    uint64_t before = plans_tried(w);
    world_pod(w, "a-0", "a", 0);
    assert_int_equal(plans_tried(w), before);
    assert_string_equal(world_reason_name(w, "a"), "PlanTooLarge");
    assert_non_null(strstr(world_reason(w, "a"), "waits for its turn"));
    world_free(w);
}

/* One try is complete, and a second one would take too much work. The reason is that of the first.
 */
static void T16_a_stopped_plan_keeps_the_reason_of_a_complete_try(void **state)
{
    (void)state;
    struct world *w = start_large();
    add_different(w, "g", PLAN_WORK_MAX / 1000 * 3 / 4);
    world_pod_set(w, world_pod_facts("g-0", "g", 9)); /* a node has 8 GPUs */
    world_sync(w);
    tick_until_done(w);
    assert_string_equal(world_reason_name(w, "g"), "NotEnoughResources");
    assert_int_equal(w->core->costly.n, 1);
    world_free(w);
}

/* Each change of queues moves all pods and gangs, which is more work than a step may have before it
 * plans. Every other step plans a gang nevertheless, and in between a pod without a gang passes. */
static void T04_moves_between_queues_do_not_stop_planning(void **state)
{
    (void)state;
    struct world *w = start(1);
    assert_int_equal(plans_tried(w), 1);
    enum { STEPS = GANGS };
    for (int i = 0; i < STEPS; i++) {
        uint64_t tried = plans_tried(w);
        if (i % 2)
            world_queue_gone(w, "q");
        else
            world_queue(w, "q", NULL, 1, 1);
        assert_true(plans_tried(w) <= tried + 1);
    }
    assert_in_range(plans_tried(w), STEPS / 2, STEPS / 2 + 1);
    assert_string_equal(world_state(w, "g59"), "Planned");
    world_pod(w, "single", NULL, 0);
    assert_string_not_equal(world_filter(w, "single"), "");
    tick_until_done(w);
    assert_string_equal(world_state(w, "g00"), "Waiting");
    world_free(w);
}

/* The gangs at the front of the order never fit. The last one does, and gets its turn. */
static void T16_moves_between_queues_do_not_hide_the_end_of_the_order(void **state)
{
    (void)state;
    struct world *w = start_full(1);
    for (int i = 0; !is_planned(w, "last"); i++) {
        assert_true(i <= 8 * GANGS);
        if (i % 2)
            world_queue_gone(w, "q");
        else
            world_queue(w, "q", NULL, 1, 1);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T04_a_step_ends_with_the_gang_that_exceeds_its_work),
        cmocka_unit_test(T04_gangs_left_for_a_later_step_keep_their_order),
        cmocka_unit_test(T04_an_ordinary_amount_of_work_takes_one_step),
        cmocka_unit_test(T04_moves_between_queues_do_not_stop_planning),
        cmocka_unit_test(T16_moves_between_queues_do_not_hide_the_end_of_the_order),
        cmocka_unit_test(T16_a_plan_that_takes_too_much_work_is_given_up),
        cmocka_unit_test(T16_gangs_with_too_large_plans_take_turns),
        cmocka_unit_test(T16_a_gang_that_waits_for_its_turn_says_so),
        cmocka_unit_test(T16_a_stopped_plan_keeps_the_reason_of_a_complete_try),
        cmocka_unit_test(T16_gangs_at_the_end_of_the_order_get_their_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
