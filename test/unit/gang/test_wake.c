/* SPDX-License-Identifier: Apache-2.0 */
/* Waking pods that sleep, and steering planned members. */
#include "test/lib/world.h"

#include <stdio.h>

#define DELAY (20 * USEC_PER_MSEC)

/* The nodes n000, n001 and so on, with four GPUs each. */
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

static void with_steering_always_members_are_nominated_with_the_plan(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_ALWAYS, 2);
    gang_of_four(w);
    assert_int_equal(w->n_nominations, 4);
    assert_true(world_nominated(w, "g-0@n000"));
    assert_true(world_nominated(w, "g-3@n000"));
    /* Only once: muster does not repeat a nomination that kube-scheduler cleared. */
    world_wait(w, USEC_PER_SEC);
    world_pod(w, "g-0", "g", 1);
    assert_int_equal(w->n_nominations, 4);
    world_free(w);
}

static void with_steering_never_only_refused_members_are_nominated(void **state)
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

static void clusters_below_300_nodes_are_not_steered(void **state)
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

static void queued_members_are_steered_after_a_delay(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_AUTO, 600);
    gang_of_four(w);
    assert_int_equal(w->n_nominations, 0);
    /* kube-scheduler calls filter for one member before the delay ends, so it needs no nomination.
     */
    assert_string_equal(world_filter_on(w, "g-1", "n000 n001", NULL), "n000");
    world_wait(w, DELAY);
    assert_int_equal(w->n_nominations, 3);
    assert_false(world_nominated(w, "g-1@n000"));
    world_free(w);
}

/* The rate is bounded, so that members that are filtered meanwhile need no nomination. */
static void a_large_gang_is_steered_at_a_bounded_rate(void **state)
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

/* The rate counts for all gangs together, in whatever steps they are planned. */
static void all_gangs_share_the_rate_of_steering(void **state)
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

/* One write for each member clears the nominations of a dropped plan. */
static void nominations_of_a_dropped_plan_are_cleared(void **state)
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

/* A member takes free room on an offered node rather than the slot of a nominated sibling. */
static void a_slot_moves_to_free_room_rather_than_to_a_nominated_siblings_node(void **state)
{
    (void)state;
    struct world *w = world_steered(GANG_STEER_AUTO, 600);
    world_group(w, "g", 8);
    world_members(w, "g", 0, 8, 1); /* 4 on n000, 4 on n001 */
    world_wait(w, DELAY);
    assert_int_equal(w->n_nominations, 8);
    /* All siblings on n001 are nominated there. n002 has room and needs no write. */
    assert_string_equal(world_filter_on(w, "g-0", "n001 n002", NULL), "n002");
    assert_int_equal(w->n_nominations, 8);
    world_free(w);
}

/* One member at bind is enough for the whole gang, so the others need no write. */
static void express_gangs_are_not_steered(void **state)
{
    (void)state;
    struct world *w = world_express();
    make_nodes(w, 600);
    gang_of_four(w);
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_nominations, 0);
    world_group(w, "h", 2); /* muster does not know all rules of these members */
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts(i ? "h-1" : "h-0", "h", 1);
        f->inexact = xstrdup("something that is not modelled");
        world_pod_set(w, f);
    }
    world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_nominations, 2);
    world_free(w);
}

/* If muster does not know all rules of one member, the whole gang cannot use the lane. */
static void a_gang_with_one_unmodelled_member_is_steered_completely(void **state)
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

/* A refused member sleeps, and the plan's nomination that wakes it is lost. */
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
    world_wait(w, SECONDS(15)); /* the pause gets longer each time */
    assert_int_equal(w->n_nominations, 2);
    world_wait(w, SECONDS(5));
    assert_int_equal(w->n_nominations, 3);
    world_free(w);
}

static void a_nomination_that_the_watch_shows_is_not_written_again(void **state)
{
    (void)state;
    struct world *w = world_with_a_sleeper();
    world_show_nominated(w, "g-0", "g", "n000");
    world_wait(w, SECONDS(50));
    assert_int_equal(w->n_nominations, 1);
    world_free(w);
    w = world_with_a_sleeper(); /* a filter call also shows that it is awake */
    assert_string_equal(world_filter(w, "g-0"), "n000");
    world_wait(w, SECONDS(50));
    assert_int_equal(w->n_nominations, 1);
    world_free(w);
}

/* The attempt ends first. The next plan wakes members that may still sleep. */
static void the_next_plan_wakes_members_that_may_still_sleep(void **state)
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

/* An ordinary pod is blocked by slots. The write that should wake it is lost, and no other event
 * comes. */
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

static struct gang_pod_facts *solo(const char *other)
{
    struct gang_pod_facts *f = world_pod_facts("solo", NULL, 1);
    if (other)
        gang_amounts_add(&f->requests, other, 1);
    return f;
}

/* The gang has all GPUs. A node without GPUs comes, then one with GPUs. The second case adds a
 * resource that only the first offered node has. kube-scheduler has also offered a node without it,
 * so muster ignores it. */
static void a_pod_is_woken_only_for_nodes_with_its_resources(void **state)
{
    (void)state;
    static const char *const others[] = {NULL, "example.com/counted-elsewhere"};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        struct world *w = world_steered(GANG_STEER_NEVER, 2);
        struct gang_node_facts *f = world_gpu_node("n000", 4);
        if (others[i])
            gang_amounts_add(&f->allocatable, others[i], 1);
        world_node_facts(w, f);
        world_group(w, "big", 8);
        world_members(w, "big", 0, 8, 1);
        world_pod_set(w, solo(others[i]));
        assert_string_equal(world_filter_facts(w, solo(others[i]), "n000 n001"), "");
        world_node(w, "cpus", 0);
        world_wait(w, SECONDS(10));
        assert_int_equal(w->n_nominations, 0);
        world_forget(w);
        world_node(w, "gpus", 4);
        world_wait(w, SECONDS(1));
        assert_true(world_nominated(w, "solo@gpus"));
        world_free(w);
    }
}

/* muster was killed and had nominated the members. The new plan has another node for one of them.
 * The new nomination frees the room that kube-scheduler keeps there. */
static void a_nomination_from_before_a_restart_is_overwritten(void **state)
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

/* There is room for a few pods. A namespace with many pods does not come before all others. */
static void T16_namespaces_take_turns_in_waking_their_pods(void **state)
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
    assert_true(w->n_nominations >= 40); /* and all room is used */
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_steering_always_members_are_nominated_with_the_plan),
        cmocka_unit_test(with_steering_never_only_refused_members_are_nominated),
        cmocka_unit_test(clusters_below_300_nodes_are_not_steered),
        cmocka_unit_test(queued_members_are_steered_after_a_delay),
        cmocka_unit_test(a_large_gang_is_steered_at_a_bounded_rate),
        cmocka_unit_test(all_gangs_share_the_rate_of_steering),
        cmocka_unit_test(nominations_of_a_dropped_plan_are_cleared),
        cmocka_unit_test(a_slot_moves_to_free_room_rather_than_to_a_nominated_siblings_node),
        cmocka_unit_test(express_gangs_are_not_steered),
        cmocka_unit_test(a_gang_with_one_unmodelled_member_is_steered_completely),
        cmocka_unit_test(a_lost_nomination_is_written_again),
        cmocka_unit_test(a_nomination_that_the_watch_shows_is_not_written_again),
        cmocka_unit_test(the_next_plan_wakes_members_that_may_still_sleep),
        cmocka_unit_test(a_starved_pod_is_woken_again),
        cmocka_unit_test(a_pod_is_woken_only_for_nodes_with_its_resources),
        cmocka_unit_test(a_nomination_from_before_a_restart_is_overwritten),
        cmocka_unit_test(T16_namespaces_take_turns_in_waking_their_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
