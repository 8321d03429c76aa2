/* SPDX-License-Identifier: Apache-2.0 */
/* Regressions: planning, evidence, displaced slots, the ledger, nominations. */
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- the ledger ---- */

/* A pod that requests a resource that no node offers. kube-scheduler may be configured to ignore
 * it. */
static struct gang_pod_facts *pod_with_ignored(const char *name)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 0);
    gang_amounts_add(&f->requests, "example.com/ignored", 1);
    return f;
}

static void a_slot_is_displaced_only_by_a_shortage_of_what_it_uses(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node_small(w, "a", 2, 8000);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 0);
    assert_int_equal(world_reserved(w, "a", "cpu"), 2000);
    uint64_t held = world_try(w, "g-0");
    world_node_small(w, "b", 0, 64000);
    world_pod_seen(w, "o", NULL, 3, "a", PHASE_RUNNING); /* too many GPUs, but enough CPU */
    assert_null(world_answer(w, held));
    assert_int_equal(world_reserved(w, "a", "cpu"), 2000);
    world_free(w);
}

static void an_ignored_resource_displaces_no_slot(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    struct gang_pod_facts *f = pod_with_ignored("o");
    f->node = xstrdup("a");
    f->phase = PHASE_RUNNING;
    world_pod_set(w, f);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    uint64_t held = world_try(w, "g-0");
    assert_true(held != 0);
    world_node(w, "a", 4); /* the kubelet's heartbeat */
    assert_null(world_answer(w, held));
    world_free(w);
}

static void an_ignored_resource_does_not_block_a_pod(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    world_pod_set(w, pod_with_ignored("o"));
    assert_string_equal(world_filter(w, "o"), "a");
    world_free(w);
}

static void an_ignored_resource_at_bind_displaces_no_slot(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 8);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    world_pod_set(w, pod_with_ignored("o"));
    world_filter_on(w, "o", "a", NULL);
    world_bind(w, "o", "a");
    assert_true(world_binding(w, "o@a"));
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    world_free(w);
}

/* ---- overflow ---- */

static void sums_of_huge_requests_do_not_overflow(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts(i ? "x" : "y", NULL, 0);
        gang_amounts_add(&f->requests, "memory", INT64_MAX);
        f->node = xstrdup("a");
        world_pod_set(w, f);
    }
    assert_true(world_used(w, "a", "memory") > 0);
    world_free(w);
}

static void a_huge_shortage_is_not_shown_as_negative(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 3);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", 0);
        gang_amounts_add(&f->requests, "memory", INT64_MAX / 2);
        world_pod_set(w, f);
    }
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_non_null(strstr(world_reason(w, "g"), "short of memory"));
    assert_null(strstr(world_reason(w, "g"), "(-"));
    world_free(w);
}

static void a_huge_schedule_timeout_does_not_overflow(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group_timeout(w, "g", 2, INT64_MAX);
    world_members(w, "g", 0, 2, 1);
    world_wait(w, SECONDS(1));
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

/* ---- evidence ---- */

static void C09_evidence_about_two_signatures_does_not_make_plans_alternate(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n1", 1);
    world_node(w, "n2", 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_pod_shaped(w, "x", "g", 1, 1000, 0);
    world_pod_shaped(w, "y", "g", 1, 2000, 0);
    int plans = 0;
    for (; plans < 10 && strcmp(world_state(w, "g"), "Planned") == 0; plans++) {
        world_filter_on(w, "x", "n2", NULL); /* kube-scheduler refuses n1 for both members */
        if (w->passed[0])
            world_filter_on(w, "y", "n2", NULL);
    }
    assert_in_range(plans, 1, 9);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

static void C09_each_signature_is_tried_again_when_its_own_evidence_expires(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "z", 1);
    world_pod_seen(w, "g-0", "g", 1, "z", PHASE_RUNNING);
    world_node_small(w, "n1", 1, 1000);
    world_node_small(w, "m", 0, 5000);
    world_node_small(w, "x", 0, 100);
    world_group_timeout(w, "g", 3, SECONDS(7200)); /* no timeout starts a new attempt */
    world_pod(w, "gpu", "g", 1);
    world_pod_shaped(w, "cpu", "g", 0, 5000, 0);
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_int_equal(world_reserved(w, "n1", GPU), 1);
    for (int i = 0; i < 4; i++) {
        if (i)
            world_wait(w, SECONDS(20));
        world_filter_on(w, "gpu", "x", NULL);
    }
    assert_int_equal(world_reserved(w, "m", "cpu"), 0); /* by now this evidence lasts long */
    world_node_small(w, "n3", 1, 1000);
    assert_int_equal(world_reserved(w, "m", "cpu"), 5000);
    world_filter_on(w, "cpu", "x", NULL); /* this evidence lasts only a short time */
    world_node_gone(w, "n3");
    world_wait(w, SECONDS(3600));
    assert_int_equal(world_reserved(w, "n1", GPU), 1);
    assert_int_equal(world_reserved(w, "m", "cpu"), 5000);
    world_free(w);
}

static void C09_a_refused_extra_does_not_change_the_plan(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_node(w, "c", 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_members(w, "g", 0, 2, 1);
    world_pod_shaped(w, "x", "g", 1, 5, 0);
    world_pod_seen(w, "o", NULL, 0, "b", PHASE_RUNNING);
    uint64_t held = world_try(w, "g-0");
    assert_string_equal(world_filter_on(w, "x", "b", NULL), "");
    assert_null(world_answer(w, held));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* ---- nominations ---- */

/* Adds 120 nodes without a GPU: enough names for a sample. */
static struct buf add_nodes_of_a_sample(struct world *w)
{
    struct buf names = BUF_INIT;
    for (int i = 0; i < 120; i++) {
        cleanup_free char *name = xasprintf("c%d", i);
        world_node(w, name, 0);
        buf_printf(&names, "%s ", name);
    }
    return names;
}

/* A gang of two, planned on node a, with 120 other nodes in the cluster. */
static struct world *planned_in_a_large_cluster(struct buf *ret_names)
{
    struct world *w = world_new();
    *ret_names = add_nodes_of_a_sample(w);
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    return w;
}

static void C08_several_samples_cause_one_nomination(void **state)
{
    (void)state;
    cleanup_buf struct buf names = BUF_INIT;
    struct world *w = planned_in_a_large_cluster(&names);
    for (int i = 0; i < 20; i++)
        world_filter_on(w, "g-0", buf_str(&names), NULL);
    assert_true(world_nominated(w, "g-0@a"));
    assert_int_equal(w->n_nominations, 1);
    world_free(w);
}

/* kube-scheduler tries the nominated node first and alone. If it then offers others, it has refused
 * it. */
static void C09_a_sample_after_a_nomination_is_evidence_about_the_nominated_node(void **state)
{
    (void)state;
    cleanup_buf struct buf names = BUF_INIT;
    struct world *w = planned_in_a_large_cluster(&names);
    world_filter_on(w, "g-0", buf_str(&names), NULL);
    assert_true(world_nominated(w, "g-0@a"));
    world_filter_on(w, "g-0", buf_str(&names), "a");
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_non_null(strstr(world_reason(w, "g"), "kube-scheduler"));
    world_node(w, "b", 2); /* the new node was not refused */
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "b");
    world_free(w);
}

/* muster itself refused in the call for the nomination, so the call is not evidence. */
static void C09_a_nominated_node_that_muster_refused_is_not_infeasible(void **state)
{
    (void)state;
    cleanup_buf struct buf names = BUF_INIT;
    struct world *w = planned_in_a_large_cluster(&names);
    world_node(w, "b", 2);
    world_filter_on(w, "g-0", "b", "b"); /* another program nominated it to b */
    world_node_gone(w, "a");
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 2);
    world_filter_on(w, "g-0", buf_str(&names), "b");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_filter_on(w, "g-0", buf_str(&names), "b");
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

/* muster refused in a call for another node. */
static void C09_a_node_that_muster_refused_does_not_hide_evidence_about_another(void **state)
{
    (void)state;
    cleanup_buf struct buf names = BUF_INIT;
    struct world *w = planned_in_a_large_cluster(&names);
    world_filter_on(w, "g-0", "c7", "c7");
    world_filter_on(w, "g-0", buf_str(&names), "a");
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

static void a_nomination_is_cleared_although_the_watch_was_behind(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_members(w, "g", 0, 2, 1);
    world_filter(w, "g-0");
    world_node(w, "b", 1);
    assert_true(world_nominated(w, "g-0@a"));
    world_pod(w, "g-0", "g", 1); /* the watch shows a version from before the nomination */
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
    f->nominated = xstrdup("a");
    world_pod_set(w, f);      /* the watch shows the nomination */
    world_pod_gone(w, "g-1"); /* the plan is dropped */
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_true(world_nominated(w, "g-0@"));
    world_free(w);
}

static void nominations_are_cleared_when_a_node_shrinks(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_group_timeout(w, "g", 2, SECONDS(600));
    world_members(w, "g", 0, 2, 1);
    world_node(w, "a", 1);
    world_filter(w, "g-0");
    world_filter(w, "g-1");
    world_node(w, "a", 2);
    assert_true(world_nominated(w, "g-0@a"));
    assert_true(world_nominated(w, "g-1@a"));
    world_node(w, "a", 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_true(world_nominated(w, "g-0@"));
    assert_true(world_nominated(w, "g-1@"));
    world_free(w);
}

static void nominations_from_before_a_restart_are_cleared(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), false);
    world_node(w, "a", 1);
    world_group_timeout(w, "g", 2, SECONDS(600));
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts(i ? "g-1" : "g-0", "g", 1);
        f->nominated = xstrdup("a");
        world_pod_set(w, f);
    }
    world_sync(w);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_true(world_nominated(w, "g-0@"));
    assert_true(world_nominated(w, "g-1@"));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_is_displaced_only_by_a_shortage_of_what_it_uses),
        cmocka_unit_test(an_ignored_resource_displaces_no_slot),
        cmocka_unit_test(an_ignored_resource_does_not_block_a_pod),
        cmocka_unit_test(an_ignored_resource_at_bind_displaces_no_slot),
        cmocka_unit_test(sums_of_huge_requests_do_not_overflow),
        cmocka_unit_test(a_huge_shortage_is_not_shown_as_negative),
        cmocka_unit_test(a_huge_schedule_timeout_does_not_overflow),
        cmocka_unit_test(C09_evidence_about_two_signatures_does_not_make_plans_alternate),
        cmocka_unit_test(C09_each_signature_is_tried_again_when_its_own_evidence_expires),
        cmocka_unit_test(C09_a_refused_extra_does_not_change_the_plan),
        cmocka_unit_test(C08_several_samples_cause_one_nomination),
        cmocka_unit_test(C09_a_sample_after_a_nomination_is_evidence_about_the_nominated_node),
        cmocka_unit_test(C09_a_nominated_node_that_muster_refused_is_not_infeasible),
        cmocka_unit_test(C09_a_node_that_muster_refused_does_not_hide_evidence_about_another),
        cmocka_unit_test(a_nomination_is_cleared_although_the_watch_was_behind),
        cmocka_unit_test(nominations_are_cleared_when_a_node_shrinks),
        cmocka_unit_test(nominations_from_before_a_restart_are_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
