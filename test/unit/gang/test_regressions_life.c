/* SPDX-License-Identifier: Apache-2.0 */
/* Regressions: recreated PodGroups and pods, Scheduled gangs, extras, wakes. */
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- a new object with the name of an old one ---- */

static struct gang_pod_facts *recreated_pod(const char *name, const char *group)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    free(f->uid);
    f->uid = xstrdup("uid-anew");
    return f;
}

static void a_recreated_pod_known_from_filter_outlives_the_old_one(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    assert_string_equal(world_filter_facts(w, recreated_pod("p", NULL), "a"), "a");
    world_pod(w, "p", NULL, 1); /* the watch is behind and still shows the old pod */
    world_pod_gone(w, "p");
    world_pod_set(w, recreated_pod("p", NULL));
    assert_string_equal(world_filter_facts(w, recreated_pod("p", NULL), "a"), "a");
    world_free(w);
}

static void filter_fails_for_a_recreated_pod_until_the_watch_shows_it(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    /* An error, not a refusal of nodes: kube-scheduler then retries by itself. Besides, a refusal
     * needs at least one node. */
    assert_string_equal(world_filter_facts(w, recreated_pod("g-0", "g"), ""), "");
    assert_string_not_equal(w->refusal, "");
    assert_string_equal(world_filter_facts(w, recreated_pod("g-0", "g"), "a"), "");
    assert_string_not_equal(w->refusal, "");
    world_pod_gone(w, "g-0");
    world_pod_set(w, recreated_pod("g-0", "g"));
    world_pod(w, "g-1", "g", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(world_filter_facts(w, recreated_pod("g-0", "g"), "a"), "a");
    world_free(w);
}

static void a_recreated_podgroup_gets_its_status(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_members(w, "g", 0, 2, 1);
    size_t before = w->n_statuses;
    assert_true(before > 0);
    world_group_gone(w, "g");
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_wait(w, SECONDS(30));
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_true(w->n_statuses > before);
    world_free(w);
}

static void a_recreated_podgroup_is_another_gang(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_group(w, "g", 4);
    for (int i = 0; i < 4; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        world_pod_seen(w, name, "g", 1, "a", PHASE_RUNNING);
    }
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_group_gone(w, "g");
    world_pod_gone(w, "g-1");
    world_pod_gone(w, "g-2");
    world_pod_gone(w, "g-3");
    struct gang_group_facts *f = gang_group_facts_new();
    f->ref = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup("g")};
    f->uid = xstrdup("another");
    f->min_member = 4;
    struct gang_event event = {.kind = GANG_EV_GROUP_SET, .group = f};
    world_step(w, &event, 1);
    world_pod(w, "g-5", "g", 1);
    world_try(w, "g-5");
    assert_int_equal(w->n_bindings, 0); /* only two of the four needed members exist */
    world_free(w);
}

/* ---- Scheduled and Done gangs, extras ---- */

static void a_done_gang_expects_no_members(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), true);
    world_node(w, "a", 4);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    assert_int_equal(world_reserved(w, "a", GPU),
                     2); /* its own slot, and one for an expected member */
    struct gang_event events[2];
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts(i ? "g-1" : "g-0", "g", 1);
        f->node = xstrdup("a");
        f->phase = PHASE_SUCCEEDED;
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    world_step(w, events, 2);
    assert_string_equal(world_state(w, "g"), "Done");
    assert_int_equal(world_reserved(w, "a", GPU), 0);
    world_free(w);
}

/* The event said "3 of 1 needed members are bound". The PodGroup is created after its pods are
 * bound.
 */
static void an_event_may_count_more_bound_members_than_needed(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_pod_seen(w, "g-0", "g", 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "g-1", "g", 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "g-2", "g", 1, "a", PHASE_RUNNING);
    world_group(w, "g", 1);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_true(world_event(w, "PodGroup/g PodGroupScheduled: 1 member needed, 3 bound"));
    world_free(w);
}

static void an_extra_refused_before_is_woken_when_its_gang_is_placed(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group_timeout(w, "h", 1, SECONDS(5));
    world_pod(w, "h-0", "h", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 3, 1);
    assert_string_equal(world_filter(w, "g-2"), "");
    world_try(w, "g-0");
    world_wait(w, SECONDS(6)); /* h releases its slot */
    world_pod_gone(w, "h-0");
    world_try(w, "g-1");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_wait(w, SECONDS(30));
    assert_true(world_nominated(w, "g-2@a"));
    world_free(w);
}

static void an_extra_blocked_by_a_slot_is_woken_when_the_slot_is_released(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_node(w, "b", 1);
    world_group_timeout(w, "h", 1, SECONDS(8));
    world_pod_shaped(w, "h-0", "h", 1, 1000, 5);
    assert_int_equal(world_reserved(w, "b", GPU), 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_members(w, "g", 0, 3, 1);
    world_try(w, "g-0");
    world_try(w, "g-1");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_string_equal(world_filter_on(w, "g-2", "b", NULL), ""); /* reserved for h */
    world_wait(w, SECONDS(9));
    assert_true(world_nominated(w, "g-2@a") || world_nominated(w, "g-2@b"));
    world_free(w);
}

static void waiting_members_are_woken_when_a_lower_minimum_makes_the_gang_scheduled(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 8);
    world_members(w, "g", 0, 3, 1);
    assert_string_equal(world_filter(w, "g-2"), "");
    world_pod_seen(w, "g-0", "g", 1, "a", PHASE_RUNNING);
    world_pod_seen(w, "g-1", "g", 1, "a", PHASE_RUNNING);
    world_group(w, "g", 2);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_true(world_nominated(w, "g-2@a"));
    world_free(w);
}

static void an_extra_of_a_recovering_gang_gets_a_reason(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group(w, "g", 3);
    world_pod_seen(w, "g-0", "g", 1, "a", PHASE_RUNNING);
    world_members(w, "g", 1, 4, 1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_string_equal(world_filter(w, "g-3"), "");
    assert_string_not_equal(w->refusal, "");
    world_free(w);
}

/* ---- wakes ---- */

/* The ordinary pods o-0 to o-<n - 1>, one GPU each, blocked by slots. */
static void block_pods(struct world *w, int n)
{
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("o-%d", i);
        world_pod(w, name, NULL, 1);
        assert_string_equal(world_filter(w, name), "");
    }
    world_forget(w);
}

static void a_pod_that_passes_filter_in_the_same_step_is_not_woken(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    block_pods(w, 1);
    const char *names[] = {"b"};
    struct gang_event events[] = {
        {.kind = GANG_EV_NODE_SET, .node = world_gpu_node("b", 1)},
        world_filter_event(w, world_pod_facts("o-0", NULL, 1), names, 1),
    };
    world_step(w, events, 2);
    assert_string_equal(w->passed, "b");
    assert_int_equal(w->n_nominations, 0);
    world_free(w);
}

static void C02_every_blocked_pod_with_room_is_woken(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node_small(w, "a", 90, 200000);
    world_group(w, "g", 90);
    world_members(w, "g", 0, 90, 1);
    block_pods(w, 90);
    world_group_gone(w, "g");
    world_wait(w, SECONDS(1)); /* it takes several steps */
    assert_int_equal(w->n_nominations, 90);
    world_free(w);
}

/* Room grows during a round, and the last step of the round ends at its limit. */
static void C02_a_round_that_is_due_begins_without_another_event(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node_small(w, "a", 64, 200000);
    world_node_small(w, "c", 64, 200000);
    world_group(w, "g", 128);
    world_members(w, "g", 0, 128, 1);
    world_pod(w, "large", NULL, 200);
    assert_string_equal(world_filter(w, "large"), "");
    block_pods(w, 128);
    world_group_gone(w, "g");
    assert_int_equal(w->n_nominations, 64);
    world_node_small(w, "b", 200, 1000);
    for (usec_t end = w->now + SECONDS(1); gang_core_next(w->core) < end;) {
        w->now = gang_core_next(w->core);
        world_step(w, &(struct gang_event){.kind = GANG_EV_TICK}, 1);
    }
    assert_int_equal(w->n_nominations, 129);
    world_free(w);
}

static void only_as_many_pods_are_woken_as_there_is_room_for(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    block_pods(w, 10);
    world_group_gone(w, "g");
    assert_int_equal(w->n_nominations, 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recreated_pod_known_from_filter_outlives_the_old_one),
        cmocka_unit_test(filter_fails_for_a_recreated_pod_until_the_watch_shows_it),
        cmocka_unit_test(a_recreated_podgroup_gets_its_status),
        cmocka_unit_test(a_recreated_podgroup_is_another_gang),
        cmocka_unit_test(a_done_gang_expects_no_members),
        cmocka_unit_test(an_event_may_count_more_bound_members_than_needed),
        cmocka_unit_test(an_extra_refused_before_is_woken_when_its_gang_is_placed),
        cmocka_unit_test(an_extra_blocked_by_a_slot_is_woken_when_the_slot_is_released),
        cmocka_unit_test(waiting_members_are_woken_when_a_lower_minimum_makes_the_gang_scheduled),
        cmocka_unit_test(an_extra_of_a_recovering_gang_gets_a_reason),
        cmocka_unit_test(a_pod_that_passes_filter_in_the_same_step_is_not_woken),
        cmocka_unit_test(C02_every_blocked_pod_with_room_is_woken),
        cmocka_unit_test(C02_a_round_that_is_due_begins_without_another_event),
        cmocka_unit_test(only_as_many_pods_are_woken_as_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
