/* SPDX-License-Identifier: Apache-2.0 */
/* Regressions: holds, commits and the results of Bindings. */
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

static bool is_refused(const struct world *w, uint64_t call)
{
    const char *answer = world_answer(w, call);
    return answer && answer[0];
}

/* ---- answers ---- */

static void a_bind_call_without_a_slot_is_refused(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 3, 1);
    world_try(w, "g-0");
    world_try(w, "g-1");
    assert_string_equal(world_state(w, "g"), "Committing");
    uint64_t late = world_bind(w, "g-2", "a");
    assert_true(is_refused(w, late));
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void a_bind_call_whose_plan_ends_in_the_same_step_is_refused(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_pod_seen(w, "o", NULL, 2, "b", PHASE_RUNNING);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter(w, "g-0"), "a");
    const char *names[] = {"b"};
    struct gang_event events[] = {
        world_filter_event(w, world_pod_facts("g-1", "g", 1), names, 1),
        world_bind_event(w, "g-0", "a"),
    };
    uint64_t call = events[1].id;
    world_step(w, events, 2);
    assert_true(is_refused(w, call));
    assert_int_equal(w->n_bindings, 0);
    world_free(w);
}

static void a_bind_call_closed_in_the_same_step_is_not_held(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_filter(w, "g-0");
    struct gang_event events[] = {
        world_bind_event(w, "g-0", "a"),
        {.kind = GANG_EV_CALL_CLOSED},
    };
    events[1].id = events[0].id;
    world_step(w, events, 2);
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    assert_int_equal(stats.held, 0);
    world_try(w, "g-1");
    assert_int_equal(w->n_bindings, 0);
    world_free(w);
}

/* ---- held members ---- */

static void the_slot_of_a_held_member_is_never_swapped(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), false);
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_sync(w);
    /* As after a restart: the bind call comes without a filter call. */
    uint64_t held = world_bind(w, "g-0", "a");
    assert_null(world_answer(w, held));
    assert_string_equal(world_filter_on(w, "g-1", "a", NULL), "");
    assert_int_equal(w->n_bindings, 0);
    world_free(w);
}

static void the_call_of_a_held_pod_that_changes_its_podgroup_is_answered(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_node(w, "b", 4);
    world_group(w, "g", 2);
    world_group(w, "h", 2);
    world_members(w, "g", 0, 2, 1);
    uint64_t held = world_try(w, "g-0");
    assert_null(world_answer(w, held));
    world_pod(w, "h-0", "h", 1);
    world_pod(w, "g-0", "h", 1); /* a user edits its label */
    assert_true(is_refused(w, held));
    assert_string_equal(world_state(w, "h"), "Planned");
    world_wait(w, SECONDS(60));
    world_free(w);
}

static void C02_a_held_pod_that_changes_its_podgroup_does_not_complete_a_quorum(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 1);
    world_node(w, "c", 1);
    world_group_timeout(w, "h", 2, SECONDS(600));
    world_members(w, "h", 0, 2, 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_pod(w, "g-0", "g", 2);
    world_pod(w, "g-1", "g", 0);
    assert_string_equal(world_filter(w, "g-0"), "a");
    world_bind(w, "g-0", "a");
    world_group_timeout(w, "k", 1, SECONDS(600));
    world_pod_shaped(w, "k-0", "k", 2, 1000, 10); /* is planned on a as soon as there is room */
    world_pod(w, "g-0", "h", 2);                  /* now a member of h, without a slot */
    world_try(w, "h-0");
    assert_int_equal(w->n_bindings, 0); /* h-1 is not at bind */
    world_free(w);
}

static void a_held_pod_that_changes_its_rules_is_bound_only_to_the_node_of_its_call(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_filter(w, "g-0");
    uint64_t held = world_bind(w, "g-0", "a");
    assert_null(world_answer(w, held));
    world_node_small(w, "c", 1, 2000); /* from now on the planner's choice */
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
    f->tolerations = xcalloc(1, sizeof *f->tolerations);
    f->n_tolerations = 1;
    f->tolerations[0] =
        (struct gang_toleration){.key = xstrdup("x"), .exists = true, .any_effect = true};
    world_pod_set(w, f);
    world_bind(w, "g-1", world_filter_on(w, "g-1", "a c", NULL));
    assert_false(world_binding(w, "g-0@c"));
    assert_true(is_refused(w, held) || world_binding(w, "g-0@a"));
    world_free(w);
}

static void a_gang_that_becomes_scheduled_binds_its_held_members(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 3, 1);
    uint64_t held = world_try(w, "g-0");
    world_pod_seen(w, "g-1", "g", 1, "a", PHASE_RUNNING);
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_null(world_answer(w, held));
    world_group(w, "g", 1);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_true(world_binding(w, "g-0@a"));
    world_all_bound(w);
    assert_string_equal(world_answer(w, held), "");
    world_free(w);
}

/* ---- limits ---- */

static void C03_a_closed_call_does_not_shorten_later_holds(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_members(w, "g", 0, 2, 1);
    uint64_t first = world_try(w, "g-0");
    world_wait(w, SECONDS(1));
    world_close(w, first);
    world_wait(w, SECONDS(18));
    uint64_t second = world_try(w, "g-1");
    world_wait(w, SECONDS(2));
    assert_null(world_answer(w, second));
    world_wait(w, SECONDS(18));
    assert_true(is_refused(w, second));
    world_free(w);
}

static void the_call_that_completes_the_quorum_needs_no_hold(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.max_holds = 3;
    struct world *w = world_new_with(config, true);
    world_node(w, "a", 4);
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 1);
    for (int i = 0; i < 4; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        assert_int_equal(w->n_bindings, 0);
        world_try(w, name);
    }
    assert_int_equal(w->n_bindings, 4);
    world_free(w);
}

static void the_answer_to_a_held_call_names_the_timeout(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group_timeout(w, "g", 2, SECONDS(10));
    world_members(w, "g", 0, 2, 1);
    uint64_t held = world_try(w, "g-0");
    world_wait(w, SECONDS(10));
    assert_string_equal(world_answer(w, held),
                        "gang default/g: 1 of 2 members at bind; awaited: g-1 (scheduler "
                        "default-scheduler); not placed within 10 s");
    world_free(w);
}

/* ---- Bindings ---- */

static void a_gang_whose_bindings_are_always_refused_backs_off(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group_timeout(w, "g", 1, SECONDS(30));
    world_pod(w, "g-0", "g", 1);
    for (int i = 0; i < 20 && strcmp(world_state(w, "g"), "BackedOff") != 0; i++) {
        if (world_try(w, "g-0"))
            world_result(w, "g-0", "a", OUTCOME_REFUSED);
        world_wait(w, SECONDS(5));
    }
    assert_string_equal(world_state(w, "g"), "BackedOff");
    world_free(w);
}

static void C02_a_member_found_bound_elsewhere_is_charged_there(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter(w, "g-0"), "a");
    world_bind(w, "g-0", "a");
    world_try(w, "g-1");
    world_result(w, "g-1", "a", OUTCOME_OK);
    world_result(w, "g-0", "a", OUTCOME_UNCLEAR);
    world_read(w, "g-0", "b", OUTCOME_OK); /* another program bound it */
    assert_int_equal(world_used(w, "a", GPU), 1);
    assert_int_equal(world_used(w, "b", GPU), 1);
    assert_int_equal(world_reserved(w, "a", GPU), 0);
    assert_int_equal(world_reserved(w, "b", GPU), 0);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void C02_muster_reads_a_bound_pod_that_the_watch_never_shows(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_filter_facts(w, world_pod_facts("p", NULL, 1), "a");
    world_bind(w, "p", "a");
    world_result(w, "p", "a", OUTCOME_OK);
    assert_int_equal(world_used(w, "a", GPU), 1);
    world_wait(w, SECONDS(61));
    assert_true(w->n_reads > 0);
    assert_int_equal(world_used(w, "a", GPU), 1);
    world_read(w, "p", NULL, OUTCOME_REFUSED);
    assert_int_equal(world_used(w, "a", GPU), 0);
    world_free(w);
}

static void C02_a_pod_resized_while_it_is_bound_is_charged_completely(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_pod(w, "o", NULL, 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    world_try(w, "o");
    world_pod(w, "o", NULL, 2);
    assert_int_equal(world_used(w, "a", GPU), 2);
    assert_int_equal(world_reserved(w, "a", GPU), 0);
    world_free(w);
}

static struct gang_pod_facts *pod_with_port(const char *name, const char *group, int gpus)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    f->host_ports = xcalloc(1, sizeof *f->host_ports);
    f->n_host_ports = 1;
    f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
    return f;
}

static void C05_a_held_member_whose_port_was_taken_is_not_bound(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_pod_set(w, pod_with_port("g-0", "g", 1));
    world_pod(w, "g-1", "g", 1);
    uint64_t held = world_try(w, "g-0");
    assert_null(world_answer(w, held));
    struct gang_pod_facts *other = pod_with_port("o", NULL, 0);
    other->node = xstrdup("a");
    other->phase = PHASE_RUNNING;
    world_pod_set(w, other);
    world_try(w, "g-1");
    assert_int_equal(w->n_bindings, 0);
    assert_true(is_refused(w, held));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bind_call_without_a_slot_is_refused),
        cmocka_unit_test(a_bind_call_whose_plan_ends_in_the_same_step_is_refused),
        cmocka_unit_test(a_bind_call_closed_in_the_same_step_is_not_held),
        cmocka_unit_test(the_slot_of_a_held_member_is_never_swapped),
        cmocka_unit_test(the_call_of_a_held_pod_that_changes_its_podgroup_is_answered),
        cmocka_unit_test(C02_a_held_pod_that_changes_its_podgroup_does_not_complete_a_quorum),
        cmocka_unit_test(a_held_pod_that_changes_its_rules_is_bound_only_to_the_node_of_its_call),
        cmocka_unit_test(a_gang_that_becomes_scheduled_binds_its_held_members),
        cmocka_unit_test(C03_a_closed_call_does_not_shorten_later_holds),
        cmocka_unit_test(the_call_that_completes_the_quorum_needs_no_hold),
        cmocka_unit_test(the_answer_to_a_held_call_names_the_timeout),
        cmocka_unit_test(a_gang_whose_bindings_are_always_refused_backs_off),
        cmocka_unit_test(C02_a_member_found_bound_elsewhere_is_charged_there),
        cmocka_unit_test(C02_muster_reads_a_bound_pod_that_the_watch_never_shows),
        cmocka_unit_test(C02_a_pod_resized_while_it_is_bound_is_charged_completely),
        cmocka_unit_test(C05_a_held_member_whose_port_was_taken_is_not_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
