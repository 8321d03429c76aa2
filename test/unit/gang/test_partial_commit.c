/* SPDX-License-Identifier: Apache-2.0 */
/* A gang whose commit muster began and did not finish goes before all others, for a limited time. A
 * gang keeps its place in the order if other programs bound a part of it, or if its minimum rises.
 */
#include "test/lib/world.h"

#define MINUTES(n) SECONDS(60 * (n))

/* A member that runs on node a. bound_at: may be by the clock of its kubelet. */
static void seen_bound(struct world *w, const char *name, const char *group, bool committed,
                       usec_t bound_at)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    f->node = xstrdup("a");
    f->phase = PHASE_RUNNING;
    f->committed = committed;
    f->bound_at = bound_at;
    world_pod_set(w, f);
}

/* A gang of two with a higher priority waits. */
static void rival_comes(struct world *w)
{
    world_group(w, "rival", 2);
    world_pod_shaped(w, "rival-0", "rival", 1, 1000, 100);
    world_pod_shaped(w, "rival-1", "rival", 1, 1000, 100);
}

/* Node b becomes free, which has room for one of the two gangs: `first` gets it. */
static void assert_planned_first(struct world *w, const char *first, const char *other)
{
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 0);
    world_node(w, "b", 2);
    cleanup_free char *member = xasprintf("%s-1", first);
    cleanup_free char *loser = xasprintf("%s-1", other);
    assert_string_equal(world_filter(w, member), "b");
    assert_string_equal(world_filter(w, loser), "");
}

static void T08_a_raised_minimum_does_not_move_a_gang_ahead(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 2);
    world_members(w, "g", 2, 4, 1);
    world_try_members(w, "g", 2, 4);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_group(w, "g", 4);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    rival_comes(w);
    assert_planned_first(w, "rival", "g");
    world_free(w);
}

/* The annotations are from this run of muster, and its commit is finished. */
static void T08_the_annotation_of_a_finished_commit_does_not_count(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 2);
    world_members(w, "g", 2, 4, 1);
    world_try_members(w, "g", 2, 4);
    world_all_bound(w);
    seen_bound(w, "g-2", "g", true, MINUTES(60));
    seen_bound(w, "g-3", "g", true, MINUTES(60));
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_group(w, "g", 4);
    world_members(w, "g", 0, 2, 1);
    rival_comes(w);
    assert_planned_first(w, "rival", "g");
    world_free(w);
}

/* The added members start together when it is their turn. */
static void T08_added_members_start_together(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_try_members(w, "g", 0, 2);
    world_all_bound(w);
    world_group(w, "g", 4);
    world_members(w, "g", 2, 4, 1);
    assert_string_equal(world_filter(w, "g-2"), ""); /* there is room for only one of the two */
    world_node(w, "b", 1);
    size_t bound = w->n_bindings;
    world_try(w, "g-2");
    assert_int_equal(w->n_bindings, bound);
    world_try(w, "g-3");
    assert_int_equal(w->n_bindings, bound + 2);
    world_free(w);
}

static void T08_members_created_on_a_node_do_not_move_a_gang_ahead(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_wait(w, MINUTES(2));
    world_group(w, "g", 4);
    seen_bound(w, "g-2", "g", false, 0);
    seen_bound(w, "g-3", "g", true, SECONDS(1)); /* its creator added the annotation */
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    rival_comes(w);
    assert_planned_first(w, "rival", "g");
    world_free(w);
}

/* Two of four members are bound, the next Binding is refused. */
static struct world *partial_commit(void)
{
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_node(w, "b", 0);
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 1);
    world_try_members(w, "g", 0, 4);
    assert_string_equal(world_state(w, "g"), "Committing");
    rival_comes(w);
    for (int i = 3; i >= 0; i--) {
        cleanup_free char *name = xasprintf("g-%d", i);
        if (i == 1)
            world_pod_seen(w, "other", NULL, 2, "a", PHASE_RUNNING); /* another pod took the room */
        world_result(w, name, "a", i > 1 ? OUTCOME_OK : OUTCOME_REFUSED);
    }
    assert_string_equal(world_state(w, "g"), "Recovering");
    return w;
}

static void T08_a_gang_with_a_partial_commit_goes_first(void **state)
{
    (void)state;
    struct world *w = partial_commit();
    assert_planned_first(w, "g", "rival");
    world_free(w);
}

static void T08_a_partial_commit_goes_first_for_at_most_five_minutes(void **state)
{
    (void)state;
    struct world *w = partial_commit();
    world_wait(w, MINUTES(5));
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_planned_first(w, "rival", "g");
    world_free(w);
}

/* muster was killed during a commit: two of four members are bound. age: how long ago. */
static struct world *restarted(bool committed, usec_t age)
{
    struct world *w = world_new_with(test_config(), false);
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 4);
    seen_bound(w, "g-2", "g", committed, MINUTES(60));
    seen_bound(w, "g-3", "g", committed, MINUTES(60));
    world_members(w, "g", 0, 2, 1);
    struct gang_pod_facts *f = world_pod_facts("latest", NULL, 0);
    f->created = MINUTES(60) + age;
    world_pod_set(w, f);
    rival_comes(w);
    world_sync(w);
    assert_string_equal(world_state(w, "g"), "Recovering");
    return w;
}

static void T08_a_partial_commit_goes_first_after_a_restart_too(void **state)
{
    (void)state;
    struct world *w = restarted(true, SECONDS(10));
    assert_planned_first(w, "g", "rival");
    world_free(w);
    w = restarted(true, MINUTES(4));
    world_wait(w, SECONDS(61)); /* five minutes in total */
    assert_planned_first(w, "rival", "g");
    world_free(w);
}

static void T08_without_a_recent_annotation_no_gang_goes_first_after_a_restart(void **state)
{
    (void)state;
    struct world *w = restarted(false, 0);
    assert_planned_first(w, "rival", "g");
    world_free(w);
    w = restarted(true, MINUTES(6));
    assert_planned_first(w, "rival", "g");
    world_free(w);
}

/* The clock of the node is an hour ahead. */
static void T08_a_binding_in_the_future_gains_at_most_five_minutes(void **state)
{
    (void)state;
    struct world *w = restarted(true, -MINUTES(60));
    world_wait(w, MINUTES(5));
    assert_planned_first(w, "rival", "g");
    world_free(w);
}

/* A Binding from before the restart arrives when muster runs again. */
static void T08_a_late_binding_of_a_commit_counts_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 3, 1);
    rival_comes(w);
    world_wait(w, SECONDS(50));
    seen_bound(w, "g-2", "g", true, MINUTES(60));
    world_pod_seen(w, "other", NULL, 1, "a", PHASE_RUNNING);
    assert_planned_first(w, "g", "rival");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T08_a_raised_minimum_does_not_move_a_gang_ahead),
        cmocka_unit_test(T08_the_annotation_of_a_finished_commit_does_not_count),
        cmocka_unit_test(T08_added_members_start_together),
        cmocka_unit_test(T08_members_created_on_a_node_do_not_move_a_gang_ahead),
        cmocka_unit_test(T08_a_gang_with_a_partial_commit_goes_first),
        cmocka_unit_test(T08_a_partial_commit_goes_first_for_at_most_five_minutes),
        cmocka_unit_test(T08_a_partial_commit_goes_first_after_a_restart_too),
        cmocka_unit_test(T08_without_a_recent_annotation_no_gang_goes_first_after_a_restart),
        cmocka_unit_test(T08_a_binding_in_the_future_gains_at_most_five_minutes),
        cmocka_unit_test(T08_a_late_binding_of_a_commit_counts_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
