/* SPDX-License-Identifier: Apache-2.0 */
/* Complete gangs commit together where many refused pods wait: each Binding wakes all of those. */
#include "test/lib/world.h"

#define MSEC(n) ((usec_t)(n)*USEC_PER_MSEC)

static struct world *world_together(size_t together)
{
    struct gang_config config = gang_config_default();
    config.assemble = 0;
    config.together = together;
    return world_new_with(config, true);
}

/* The gang "w", which has no room: each of its members was asked about, and refused. */
static void refused_gang(struct world *w, int members, int gpus)
{
    world_group(w, "w", members);
    world_members(w, "w", 0, members, gpus);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("w-%d", i);
        assert_string_equal(world_filter(w, name), "");
    }
}

/* Room for four members of a GPU each, and three members of two GPUs each that wait. */
static struct world *crowded_world(size_t together)
{
    struct world *w = world_together(together);
    world_node(w, "n", 4);
    refused_gang(w, 3, 2);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_group(w, "b", 2);
    world_members(w, "b", 0, 2, 1);
    return w;
}

static void P07_complete_gangs_commit_together_behind_many_refused_pods(void **state)
{
    (void)state;
    struct world *w = crowded_world(3);
    world_try_members(w, "a", 0, 2);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(2));
    assert_int_equal(w->n_bindings, 0);
    world_try_members(w, "b", 0, 2);
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(1)); /* three pods are refused: 3 ms after the first gang was complete */
    assert_int_equal(w->n_bindings, 4);
    world_all_bound(w);
    assert_string_equal(world_state(w, "a"), "Placed");
    assert_string_equal(world_state(w, "b"), "Placed");
    world_free(w);
}

static void below_that_number_a_gang_commits_at_once(void **state)
{
    (void)state;
    static const size_t none[] = {0, 4};
    for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
        struct world *w = crowded_world(none[i]);
        world_try_members(w, "a", 0, 2);
        assert_string_equal(world_state(w, "a"), "Committing");
        assert_int_equal(w->n_bindings, 2);
        world_free(w);
    }
}

static void pods_that_are_refused_no_more_are_not_counted(void **state)
{
    (void)state;
    struct world *w = crowded_world(3);
    world_pod_gone(w, "w-0");
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void no_gang_waits_beyond_its_attempt(void **state)
{
    (void)state;
    struct world *w = world_together(1);
    world_node(w, "n", 2);
    refused_gang(w, 9, 1);
    world_group_timeout(w, "a", 2, MSEC(20));
    world_members(w, "a", 0, 2, 1);
    world_wait(w, MSEC(12)); /* 8 ms are left, 9 would be waited */
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void the_wait_ends_when_nobody_comes_to_bind(void **state)
{
    (void)state;
    struct world *w = world_together(200);
    world_node(w, "n", 2);
    refused_gang(w, 400, 1);
    world_group(w, "a", 2);
    world_members(w, "a", 0, 2, 1);
    world_try_members(w, "a", 0, 2);
    world_wait(w, MSEC(149));
    assert_int_equal(w->n_bindings, 0);
    world_wait(w, MSEC(1)); /* of the 400 ms that it would wait for others */
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void a_gang_that_is_no_longer_complete_is_not_committed_with_the_others(void **state)
{
    (void)state;
    struct world *w = crowded_world(3);
    world_try_members(w, "b", 0, 2);
    uint64_t id = world_try(w, "a-0");
    world_try(w, "a-1");
    world_close(w, id);
    world_wait(w, MSEC(3));
    assert_true(world_binding(w, "b-0@n") && world_binding(w, "b-1@n"));
    assert_int_equal(w->n_bindings, 2);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P07_complete_gangs_commit_together_behind_many_refused_pods),
        cmocka_unit_test(below_that_number_a_gang_commits_at_once),
        cmocka_unit_test(pods_that_are_refused_no_more_are_not_counted),
        cmocka_unit_test(no_gang_waits_beyond_its_attempt),
        cmocka_unit_test(the_wait_ends_when_nobody_comes_to_bind),
        cmocka_unit_test(a_gang_that_is_no_longer_complete_is_not_committed_with_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
