/* SPDX-License-Identifier: Apache-2.0 */
/* Predicate parity, rule by rule: kube-scheduler's complete lists against muster's predicates. */
#include <stdio.h>
#include <string.h>

#include "test/lib/world.h"

static uint64_t mismatches(const struct world *w, enum gang_predicate p)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.mismatches[p];
}

static struct gang_pod_facts *with_port(struct gang_pod_facts *f)
{
    f->host_ports = xcalloc(1, sizeof *f->host_ports);
    f->n_host_ports = 1;
    f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 8080};
    return f;
}

static const char *look(struct world *w, const char *names)
{
    return world_filter_facts(w, world_pod_facts("g-0", "g", 1), names);
}

static struct gang_pod_facts *beyond(const char *name)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->inexact = xstrdup("volumes");
    return f;
}

static void a_difference_found_in_two_checks_closes_the_lane(void **state)
{
    (void)state;
    struct world *w = world_checked();
    look(w, "a");
    assert_true(world_lane_is_open(w));
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_false(world_lane_is_open(w));
    assert_int_equal(mismatches(w, PREDICATE_NONE), 1);
    assert_non_null(strstr(gang_core_parity_difference(w->core), "does not offer node b"));
    assert_true(world_event(w, "PredicateMismatch"));
    look(w, "a"); /* the same difference counts once */
    assert_int_equal(mismatches(w, PREDICATE_NONE), 1);
    world_free(w);
}

static void a_closed_lane_stays_closed(void **state)
{
    (void)state;
    struct world *w = world_checked();
    look(w, "a");
    world_wait(w, SECONDS(2));
    look(w, "a");
    world_wait(w, SECONDS(100));
    world_filter(w, "g-0");
    world_group(w, "h", 2);
    world_members(w, "h", 0, 2, 1);
    world_try(w, "h-0");
    assert_string_equal(world_state(w, "h"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    world_free(w);
}

/* kube-scheduler may not know of express Bindings for a while. After that, muster leaves the rule
 * to it. */
static void some_time_after_the_lane_closed_bind_no_longer_checks_host_ports(void **state)
{
    (void)state;
    struct world *w = world_checked();
    struct gang_pod_facts *f = with_port(world_pod_facts("there", NULL, 1));
    f->node = xstrdup("a");
    world_pod_set(w, f);
    world_wait(w, SECONDS(2));
    look(w, "a");
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_false(world_lane_is_open(w));
    world_pod_set(w, with_port(world_pod_facts("o", NULL, 1)));
    world_wait(w, SECONDS(50));
    world_filter_on(w, "o", "a", NULL);
    uint64_t call = world_bind(w, "o", "a");
    assert_true(world_answer(w, call) && world_answer(w, call)[0]);
    world_wait(w, SECONDS(11));
    world_filter_on(w, "o", "a", NULL);
    world_bind(w, "o", "a");
    assert_true(world_binding(w, "o@a"));
    world_free(w);
}

static void an_offered_node_that_fails_a_predicate_is_a_difference(void **state)
{
    (void)state;
    struct world *w = world_checked();
    struct gang_node_facts *n = world_gpu_node("b", 2);
    n->unschedulable = true;
    world_node_facts(w, n);
    world_node(w, "c", 0);
    world_wait(w, SECONDS(2));
    look(w, "a b c");
    world_wait(w, SECONDS(2));
    look(w, "a b c");
    assert_int_equal(mismatches(w, PREDICATE_UNSCHEDULABLE), 1);
    assert_int_equal(mismatches(w, PREDICATE_RESOURCES), 1);
    assert_int_equal(mismatches(w, PREDICATE_NONE), 0);
    world_free(w);
}

static void a_difference_that_disappears_does_not_count(void **state)
{
    (void)state;
    struct world *w = world_checked();
    look(w, "a");
    world_wait(w, SECONDS(2));
    look(w, "a b"); /* offered again: kube-scheduler was behind */
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void a_difference_about_a_node_that_changed_does_not_count(void **state)
{
    (void)state;
    struct world *w = world_checked();
    look(w, "a");
    world_wait(w, SECONDS(2));
    world_pod_seen(w, "o", NULL, 1, "b", PHASE_RUNNING);
    look(w, "a");
    world_wait(w, USEC_PER_SEC / 2);
    look(w, "a");
    assert_true(world_lane_is_open(w));
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_true(world_lane_is_open(w)); /* the first check after the change */
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_false(world_lane_is_open(w));
    world_free(w);
}

static void a_node_missing_from_a_sample_is_not_a_difference(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    for (int whole = 0; whole < 2; whole++) {
        config.express_lane = true;
        config.assemble = 0;
        config.whole_lists = whole;
        struct world *w = world_new_with(config, true);
        cleanup_buf struct buf names = BUF_INIT;
        for (int i = 0; i < 120; i++) {
            char name[8];
            snprintf(name, sizeof name, "n%d", i);
            world_node(w, name, 1);
            if (i < 110)
                buf_printf(&names, "%s%s", i ? " " : "", name);
        }
        world_group(w, "g", 900);
        world_pod(w, "g-0", "g", 1);
        for (int i = 0; i < 3; i++) {
            world_wait(w, SECONDS(2));
            look(w, buf_str(&names));
        }
        assert_int_equal(world_lane_is_open(w), !whole);
        world_free(w);
    }
}

static void a_call_for_a_nomination_is_not_compared(void **state)
{
    (void)state;
    struct world *w = world_checked();
    for (int i = 0; i < 3; i++) {
        struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
        f->nominated = xstrdup("a");
        world_filter_facts(w, f, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void pods_with_unmodelled_constraints_are_not_compared(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_pod_set(w, beyond("g-1"));
    for (int i = 0; i < 3; i++) {
        world_filter_facts(w, beyond("g-1"), "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void a_pod_that_kube_scheduler_sees_in_another_version_is_not_compared(void **state)
{
    (void)state;
    struct world *w = world_checked();
    for (int i = 0; i < 3; i++) {
        world_filter_facts(w, world_pod_facts("g-0", "g", 2),
                           "a"); /* kube-scheduler's version requests more */
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void room_that_a_pod_on_its_way_may_take_is_not_a_difference(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_pod(w, "o", NULL, 2);
    world_filter(w, "o"); /* kube-scheduler may assume it on "b" */
    for (int i = 0; i < 3; i++) {
        look(w, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    uint64_t call = world_bind(w, "o", "b");
    world_result(w, "o", "b", OUTCOME_OK);
    assert_string_equal(world_answer(w, call), "");
    for (int i = 0; i < 3; i++) { /* full, for muster and for kube-scheduler */
        look(w, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void a_node_with_a_nominated_pod_is_not_a_difference(void **state)
{
    (void)state;
    struct world *w = world_checked();
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 2);
    f->nominated = xstrdup("b");
    world_pod_set(w, f);
    for (int i = 0; i < 3; i++) {
        world_wait(w, SECONDS(2));
        look(w, "a");
    }
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void the_number_of_checks_per_second_is_limited(void **state)
{
    (void)state;
    struct world *w = world_checked();
    struct gang_stats before, after;
    gang_core_stats(w->core, &before);
    for (int i = 0; i < 60000; i++) /* two nodes each, without a pause */
        world_filter(w, "g-0");
    gang_core_stats(w->core, &after);
    assert_true(after.predicate_checks - before.predicate_checks >= 49000);
    assert_true(after.predicate_checks - before.predicate_checks <= 50001);
    world_wait(w, SECONDS(1));
    world_filter(w, "g-0");
    gang_core_stats(w->core, &before);
    assert_int_equal(before.predicate_checks, after.predicate_checks + 1);
    world_free(w);
}

/* ---- each rule ---- */

static struct gang_pod_facts *web(struct gang_pod_facts *f)
{
    gang_kvs_add(&f->labels, "app", "web");
    return f;
}

static struct gang_pod_facts *spread(struct gang_pod_facts *f)
{
    f->spreads = xcalloc(1, sizeof *f->spreads);
    f->n_spreads = 1;
    f->spreads[0].max_skew = 1;
    world_term_in(&f->spreads[0].selector.term, "app", "web");
    return web(f);
}

static struct gang_pod_facts *anti_affinity(struct gang_pod_facts *f)
{
    f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
    f->n_anti_affinity = 1;
    world_term_in(&f->anti_affinity[0].term, "app", "web");
    return f;
}

static struct gang_pod_facts *plain(struct gang_pod_facts *f)
{
    return f;
}

static struct gang_pod_facts *on(struct gang_pod_facts *f, const char *node)
{
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    return f;
}

/* A pod on "a", a pod that is filtered, and the rule that excludes "a" for it. */
static const struct rule_case {
    struct gang_pod_facts *(*there)(struct gang_pod_facts *);
    struct gang_pod_facts *(*asked)(struct gang_pod_facts *);
    enum gang_predicate predicate;
} rule_cases[] = {
    {with_port, with_port, PREDICATE_PORTS}, {web, anti_affinity, PREDICATE_APART},
    {anti_affinity, web, PREDICATE_APART},   {web, spread, PREDICATE_SPREAD},
    {plain, plain, PREDICATE_NONE},
};

/* The hosts "a" and "b", and a member of a gang that stays incomplete. */
static struct world *world_of_rule(const struct rule_case *c)
{
    struct world *w = world_express();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_group(w, "g", 9);
    world_pod_set(w, on(c->there(world_pod_facts("there", NULL, 0)), "a"));
    world_pod_set(w, c->asked(world_pod_facts("g-0", "g", 1)));
    world_wait(w, SECONDS(2));
    return w;
}

static void look_twice(struct world *w, const struct rule_case *c, const char *names)
{
    for (int i = 0; i < 2; i++) {
        world_filter_facts(w, c->asked(world_pod_facts("g-0", "g", 1)), names);
        world_wait(w, SECONDS(2));
    }
}

static void P03_each_rule_between_pods_is_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rule_cases); i++) {
        const struct rule_case *c = &rule_cases[i];
        bool none = c->predicate == PREDICATE_NONE;
        struct world *w = world_of_rule(c);
        look_twice(w, c, none ? "a b" : "b"); /* as the rule requires */
        assert_true(world_lane_is_open(w));
        look_twice(w, c, none ? "b" : "a b");
        assert_int_equal(mismatches(w, c->predicate), 1);
        assert_false(world_lane_is_open(w));
        if (!none)
            assert_non_null(
                strstr(gang_core_parity_difference(w->core), gang_predicate_name(c->predicate)));
        world_free(w);
    }
}

/* A spread counts pods on all nodes, so it cannot be checked while a Binding is under way anywhere.
 */
static void a_spread_is_not_compared_while_a_binding_is_under_way(void **state)
{
    (void)state;
    static const struct rule_case *const c = &rule_cases[3];
    struct world *w = world_of_rule(c);
    world_pod_set(w, web(world_pod_facts("o", NULL, 0)));
    world_filter_on(w, "o", "b", NULL);
    uint64_t call = world_bind(w, "o", "b");
    world_wait(w, SECONDS(2));
    look_twice(w, c, "b");
    look_twice(w, c, "a b");
    assert_true(world_lane_is_open(w));
    world_result(w, "o", "b", OUTCOME_OK);
    assert_string_equal(world_answer(w, call), "");
    world_pod_set(w, on(web(world_pod_facts("o", NULL, 0)), "b"));
    world_wait(w, SECONDS(2));
    look_twice(w, c, "a b"); /* now each node has one pod */
    assert_true(world_lane_is_open(w));
    look_twice(w, c, "b");
    assert_false(world_lane_is_open(w));
    world_free(w);
}

/* The pod's own nomination takes no room from it. */
static void the_node_of_a_pods_own_nomination_is_compared(void **state)
{
    (void)state;
    struct world *w = world_checked();
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
        f->nominated = xstrdup("b");
        world_pod_set(w, f);
        world_wait(w, SECONDS(2));
        f = world_pod_facts("g-0", "g", 1);
        f->nominated = xstrdup("b");
        world_filter_facts(w, f, "a");
    }
    assert_int_equal(mismatches(w, PREDICATE_NONE), 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_found_in_two_checks_closes_the_lane),
        cmocka_unit_test(a_closed_lane_stays_closed),
        cmocka_unit_test(some_time_after_the_lane_closed_bind_no_longer_checks_host_ports),
        cmocka_unit_test(an_offered_node_that_fails_a_predicate_is_a_difference),
        cmocka_unit_test(a_difference_that_disappears_does_not_count),
        cmocka_unit_test(a_difference_about_a_node_that_changed_does_not_count),
        cmocka_unit_test(a_node_missing_from_a_sample_is_not_a_difference),
        cmocka_unit_test(a_call_for_a_nomination_is_not_compared),
        cmocka_unit_test(pods_with_unmodelled_constraints_are_not_compared),
        cmocka_unit_test(a_pod_that_kube_scheduler_sees_in_another_version_is_not_compared),
        cmocka_unit_test(room_that_a_pod_on_its_way_may_take_is_not_a_difference),
        cmocka_unit_test(a_node_with_a_nominated_pod_is_not_a_difference),
        cmocka_unit_test(the_number_of_checks_per_second_is_limited),
        cmocka_unit_test(P03_each_rule_between_pods_is_compared),
        cmocka_unit_test(a_spread_is_not_compared_while_a_binding_is_under_way),
        cmocka_unit_test(the_node_of_a_pods_own_nomination_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
