/* SPDX-License-Identifier: Apache-2.0 */
/* What filter, prioritize and preempt answer: offered and missing nodes, samples, nominations. */
#include "test/lib/world.h"

#include <stdio.h>

/* The given names and n unknown nodes, "x0" to "x<n-1>": a list long enough to be a sample. */
static char *with_unknown_nodes(const char *names, int n)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s", names);
    for (int i = 0; i < n; i++)
        buf_printf(&b, " x%d", i);
    return buf_steal(&b);
}

static void C08_a_sample_without_the_planned_node_moves_the_slot(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 2);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 1); /* the fullest node with room */
    cleanup_free char *sample = with_unknown_nodes("b", 120);
    assert_string_equal(world_filter_on(w, "g-0", sample, NULL), "b");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 1);
    world_free(w);
}

static void C08_a_sample_without_any_node_that_fits_steers_by_nomination(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    cleanup_free char *sample = with_unknown_nodes("", 120);
    assert_string_equal(world_filter_on(w, "g-0", sample, NULL), "");
    assert_true(world_nominated(w, "g-0@a"));
    assert_string_equal(world_state(w, "g"), "Planned"); /* a sample is not evidence */
    assert_string_equal(world_filter_on(w, "g-0", "a", "a"), "a");
    world_free(w);
}

/* g is planned on a node that pod x has just left. */
static struct world *just_freed(void)
{
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_pod_seen(w, "x", NULL, 1, "a", PHASE_RUNNING);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    world_pod_gone(w, "x");
    return w;
}

/* kube-scheduler offers the nodes as they were when its scheduling cycle began. */
static void a_node_that_just_became_free_may_be_missing_from_a_list(void **state)
{
    (void)state;
    struct world *w = just_freed();
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(world_filter_on(w, "g-0", "a", NULL),
                        "a"); /* kube-scheduler has seen the change */
    world_free(w);
}

/* After a nomination or half a second, kube-scheduler has seen the change, and its list counts. */
static void a_freed_node_is_infeasible_once_kube_scheduler_knows_of_it(void **state)
{
    (void)state;
    for (int later = 0; later < 2; later++) {
        struct world *w = just_freed();
        if (later) {
            world_wait(w, USEC_PER_SEC / 2);
        } else {
            assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "");
            assert_true(world_nominated(w, "g-0@a"));
        }
        assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "");
        assert_string_equal(world_state(w, "g"), "Waiting");
        world_free(w);
    }
}

/* The list is evidence against a, but not against b, which became free just now. */
static void a_gang_is_planned_on_a_freed_node_when_another_is_infeasible(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_pod_seen(w, "x", NULL, 1, "b", PHASE_RUNNING);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    world_pod_gone(w, "x");
    assert_string_equal(world_filter_on(w, "g-0", "c", NULL), "");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 1);
    world_free(w);
}

static void a_call_for_a_nomination_moves_no_slot(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 2);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    assert_string_equal(world_filter_on(w, "g-0", "b", "b"), "");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 1);
    assert_string_equal(world_filter_on(w, "g-0", "b a", "b"), "a");
    world_free(w);
}

static void siblings_with_equal_requests_swap_slots(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    /* One slot on each node. The first member is offered only its sibling's node. */
    const char *mine = world_filter(w, "g-0");
    cleanup_free char *first = xstrdup(mine);
    const char *other = first[0] == 'a' ? "b" : "a";
    assert_string_equal(world_filter_on(w, "g-1", first, NULL),
                        ""); /* g-0 is on its way to that node */
    assert_int_equal(w->n_bindings, 0);
    world_free(w);

    w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter_on(w, "g-0", other, NULL), other);
    assert_string_equal(world_filter(w, "g-1"), first);
    world_bind(w, "g-0", other);
    world_bind(w, "g-1", first);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void C09_a_complete_list_is_evidence_and_the_plan_moves(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 4);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 2);
    /* kube-scheduler allows only b for these pods, for a reason that muster does not model. */
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "b");
    assert_string_equal(world_filter_on(w, "g-1", "b", NULL), "b");
    world_bind(w, "g-0", "b");
    world_bind(w, "g-1", "b");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void
C09_a_gang_waits_when_kube_scheduler_refuses_its_nodes_and_is_planned_again_later(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_members(w, "g", 0, 2, 1);
    assert_int_equal(
        world_reserved(w, "a", "nvidia.com/gpu") + world_reserved(w, "b", "nvidia.com/gpu"), 2);
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "b");
    world_bind(w, "g-0", "b");
    assert_string_equal(world_filter_on(w, "g-1", "b", NULL), "");
    /* Node b has room for one member. Without node a, no node is left for the other. */
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 members needed, room for 1 (kube-scheduler refuses the "
                        "nodes that have room for g-1)");
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 0);
    world_forget(w);
    world_wait(w, SECONDS(3)); /* evidence expires */
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_true(w->n_nominations > 0); /* the rejected member is woken */
    world_free(w);
}

static void an_infeasible_node_that_changes_is_planned_on_at_once(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 0);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "");
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_node(w, "a", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void a_pod_known_only_from_filter_is_a_member(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_string_equal(world_filter_facts(w, world_pod_facts("g-1", "g", 1), "a"), "a");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_pod_gone(w, "g-1");
    assert_string_equal(world_state(w, "g"), "Assembling");
    /* A late filter call does not bring the deleted pod back. */
    assert_string_equal(world_filter_facts(w, world_pod_facts("g-1", "g", 1), "a"), "");
    assert_string_equal(world_state(w, "g"), "Assembling");
    world_free(w);
}

static void filter_returns_the_node_of_a_bound_pod_and_none_for_a_replaced_pod(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_pod_seen(w, "p", NULL, 1, "a", PHASE_RUNNING);
    assert_string_equal(world_filter(w, "p"), "a");
    assert_string_equal(world_filter_on(w, "p", "b", NULL), "");
    assert_string_equal(w->refusal, "pod default/p is already bound to node a");
    world_pod_seen(w, "p", NULL, 1, "a", PHASE_SUCCEEDED);
    assert_string_equal(world_filter(w, "p"), "");
    struct gang_pod_facts *other = world_pod_facts("p", NULL, 1);
    free(other->uid);
    other->uid = xstrdup("another");
    assert_string_equal(world_filter_facts(w, other, "a"), "");
    world_free(w);
}

static void ordinary_pods_pass_on_nodes_unknown_to_muster(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    world_pod(w, "o", NULL, 1);
    assert_string_equal(world_filter_on(w, "o", "a new", NULL), "new");
    world_free(w);
}

static void C02_an_ordinary_pod_at_bind_displaces_slots(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_pod(w, "o", NULL, 1);
    assert_string_equal(world_filter(w, "o"), "a"); /* before the gang exists */
    world_node(w, "b", 2);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 1);
    uint64_t id = world_bind(w, "o", "a");
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 1);
    world_result(w, "o", "a", OUTCOME_OK);
    assert_string_equal(world_answer(w, id), "");
    assert_string_equal(world_filter(w, "g-0"), "b");
    world_free(w);
}

static void C02_pods_assigned_by_other_programs_displace_slots(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 2);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    world_pod_seen(w, "static", NULL, 1, "a", PHASE_RUNNING);
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 1);
    world_pod_seen(w, "static2", NULL, 2, "b", PHASE_RUNNING);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

static void prioritize_fills_gpu_nodes_and_keeps_other_pods_off_them(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "empty", 4);
    world_node(w, "half", 4);
    world_node(w, "cpu", 0);
    world_pod_seen(w, "x", NULL, 2, "half", PHASE_RUNNING);
    const char *names[] = {"empty", "half", "cpu", "stranger"};
    struct gang_event ev = {.kind = GANG_EV_PRIORITIZE, .id = 900, .names = names, .n_names = 4};
    ev.pod = world_pod_facts("g", NULL, 1);
    world_step(w, &ev, 1);
    assert_int_equal(w->scores[0], 0);
    assert_int_equal(w->scores[1], 5);
    ev = (struct gang_event){.kind = GANG_EV_PRIORITIZE, .id = 901, .names = names, .n_names = 4};
    ev.pod = world_pod_facts("c", NULL, 0);
    world_step(w, &ev, 1);
    assert_int_equal(w->scores[0], 0);
    assert_int_equal(w->scores[2], 10);
    assert_int_equal(w->scores[3], 0);
    world_free(w);
}

static void preempt_spares_reserved_nodes_and_gives_members_no_victims(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 0);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    const char *names[] = {"a", "b"};
    struct gang_event ev = {.kind = GANG_EV_PREEMPT, .id = 900, .names = names, .n_names = 2};
    ev.pod = world_pod_facts("o", NULL, 0);
    world_step(w, &ev, 1);
    assert_string_equal(w->kept, "b");
    ev = (struct gang_event){.kind = GANG_EV_PREEMPT, .id = 901, .names = names, .n_names = 2};
    ev.pod = world_pod_facts("g-0", "g", 1);
    world_step(w, &ev, 1);
    assert_string_equal(w->kept, "");
    world_free(w);
}

static void the_text_on_a_pod_changes_seldom_when_only_figures_change(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 1);
    world_group_timeout(w, "g", 64, SECONDS(60000));
    world_members(w, "g", 0, 64, 1);
    int changes = 0;
    cleanup_free char *text = xstrdup("");
    for (int i = 1; i <= 60; i++) { /* a new node every 10 s, for 10 minutes */
        cleanup_free char *node = xasprintf("n%d", i);
        world_node(w, node, 1);
        world_filter(w, "g-0");
        if (strcmp(text, w->refusal) != 0) {
            changes++;
            free(text);
            text = xstrdup(w->refusal);
        }
        world_wait(w, SECONDS(10));
    }
    /* The figures change 60 times. The text changes 12 times at pauses that double from 5 ms to 30
     * s, and then every 30 s. */
    assert_in_range(changes, 20, 30);
    world_free(w);
}

static void S11_members_created_one_by_one_soon_show_the_current_count(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_group(w, "g", 3);
    world_pod(w, "g-0", "g", 1);
    world_filter(w, "g-0");
    assert_string_equal(w->refusal, "gang default/g: 1 of 3 members exist");
    world_pod(w, "g-1", "g", 1);
    world_wait(w, 10 * USEC_PER_MSEC); /* kube-scheduler's second try */
    world_filter(w, "g-0");
    assert_string_equal(w->refusal, "gang default/g: 2 of 3 members exist");
    world_free(w);
}

static void a_new_reason_is_reported_at_once_or_by_an_event(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    world_filter(w, "g-0");
    world_pod(w, "g-1", "g", 1);
    world_filter(w, "g-1");
    assert_string_equal(w->refusal, "gang default/g: 2 members needed, room for 1 (1 short of "
                                    "nvidia.com/gpu)");
    world_wait(w, SECONDS(3));
    assert_true(world_event(w, "Pod/g-0 Unschedulable: gang default/g: 2 members needed"));
    assert_false(world_event(w, "Pod/g-1"));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(C08_a_sample_without_the_planned_node_moves_the_slot),
        cmocka_unit_test(C08_a_sample_without_any_node_that_fits_steers_by_nomination),
        cmocka_unit_test(a_node_that_just_became_free_may_be_missing_from_a_list),
        cmocka_unit_test(a_freed_node_is_infeasible_once_kube_scheduler_knows_of_it),
        cmocka_unit_test(a_gang_is_planned_on_a_freed_node_when_another_is_infeasible),
        cmocka_unit_test(a_call_for_a_nomination_moves_no_slot),
        cmocka_unit_test(siblings_with_equal_requests_swap_slots),
        cmocka_unit_test(C09_a_complete_list_is_evidence_and_the_plan_moves),
        cmocka_unit_test(
            C09_a_gang_waits_when_kube_scheduler_refuses_its_nodes_and_is_planned_again_later),
        cmocka_unit_test(an_infeasible_node_that_changes_is_planned_on_at_once),
        cmocka_unit_test(a_pod_known_only_from_filter_is_a_member),
        cmocka_unit_test(filter_returns_the_node_of_a_bound_pod_and_none_for_a_replaced_pod),
        cmocka_unit_test(ordinary_pods_pass_on_nodes_unknown_to_muster),
        cmocka_unit_test(C02_an_ordinary_pod_at_bind_displaces_slots),
        cmocka_unit_test(C02_pods_assigned_by_other_programs_displace_slots),
        cmocka_unit_test(prioritize_fills_gpu_nodes_and_keeps_other_pods_off_them),
        cmocka_unit_test(preempt_spares_reserved_nodes_and_gives_members_no_victims),
        cmocka_unit_test(the_text_on_a_pod_changes_seldom_when_only_figures_change),
        cmocka_unit_test(S11_members_created_one_by_one_soon_show_the_current_count),
        cmocka_unit_test(a_new_reason_is_reported_at_once_or_by_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
