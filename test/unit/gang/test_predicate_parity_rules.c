/* SPDX-License-Identifier: Apache-2.0 */
/* The model check, rule by rule: kube-scheduler's whole lists beside what the rules here say. */
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

static void a_difference_that_stands_a_second_look_closes_the_lane(void **state)
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
    look(w, "a"); /* the same, once */
    assert_int_equal(mismatches(w, PREDICATE_NONE), 1);
    world_free(w);
}

static void the_lane_stays_closed(void **state)
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

/* What was bound unasked may be news to kube-scheduler for a while; then it alone judges. */
static void after_the_lane_closed_ports_are_the_schedulers_own_matter(void **state)
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

static void a_node_offered_against_the_rules_is_a_difference(void **state)
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

static void a_difference_that_passes_is_none(void **state)
{
    (void)state;
    struct world *w = world_checked();
    look(w, "a");
    world_wait(w, SECONDS(2));
    look(w, "a b"); /* it is offered again: the scheduler was behind */
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void a_difference_about_a_node_that_changes_is_none(void **state)
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
    assert_true(world_lane_is_open(w)); /* the first look of a new state */
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_false(world_lane_is_open(w));
    world_free(w);
}

static void a_sample_says_nothing_of_nodes_that_are_not_in_it(void **state)
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

static void the_call_for_its_nomination_says_nothing(void **state)
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

static void pods_with_constraints_that_are_not_modelled_say_nothing(void **state)
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

static void a_pod_that_the_scheduler_has_otherwise_says_nothing(void **state)
{
    (void)state;
    struct world *w = world_checked();
    for (int i = 0; i < 3; i++) {
        world_filter_facts(w, world_pod_facts("g-0", "g", 2), "a"); /* it asks for more there */
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void room_that_may_be_taken_already_is_no_difference(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_pod(w, "o", NULL, 2);
    world_filter(w, "o"); /* assumed on "b", for all muster knows, until it is at bind */
    for (int i = 0; i < 3; i++) {
        look(w, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    uint64_t call = world_bind(w, "o", "b");
    world_result(w, "o", "b", OUTCOME_OK);
    assert_string_equal(world_answer(w, call), "");
    for (int i = 0; i < 3; i++) { /* full, and both know it */
        look(w, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(world_lane_is_open(w));
    world_free(w);
}

static void a_node_with_a_nominated_pod_is_no_difference(void **state)
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

static void looks_are_paid_for_by_time(void **state)
{
    (void)state;
    struct world *w = world_checked();
    struct gang_stats before, after;
    gang_core_stats(w->core, &before);
    for (int i = 0; i < 60000; i++) /* two nodes each, in one moment */
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

/* "app" in (web), as a selector of pods of the pod's own namespace. */
static void select_web(struct gang_term *term)
{
    term->items = xcalloc(1, sizeof *term->items);
    term->n = 1;
    struct gang_requirement *r = &term->items[0];
    r->key = xstrdup("app");
    r->op = MATCH_IN;
    r->values = xcalloc(1, sizeof *r->values);
    r->values[r->n_values++] = xstrdup("web");
}

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
    select_web(&f->spreads[0].selector.term);
    return web(f);
}

static struct gang_pod_facts *anti_affinity(struct gang_pod_facts *f)
{
    f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
    f->n_anti_affinity = 1;
    select_web(&f->anti_affinity[0].term);
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

/* What is on "a", what is asked about, and the rule that keeps it off "a". */
static const struct rule_case {
    struct gang_pod_facts *(*there)(struct gang_pod_facts *);
    struct gang_pod_facts *(*asked)(struct gang_pod_facts *);
    enum gang_predicate predicate;
} rule_cases[] = {
    {with_port, with_port, PREDICATE_PORTS}, {web, anti_affinity, PREDICATE_APART},
    {anti_affinity, web, PREDICATE_APART},   {web, spread, PREDICATE_SPREAD},
    {plain, plain, PREDICATE_NONE},
};

/* The hosts "a" and "b", and a member of a gang that never comes together. */
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
        look_twice(w, c, none ? "a b" : "b"); /* as the rule says */
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

/* Who is elsewhere matters too: while a Binding is under way anywhere it is not known who is. */
static void a_spread_says_nothing_while_a_binding_is_under_way(void **state)
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
    look_twice(w, c, "a b"); /* now there is one on each */
    assert_true(world_lane_is_open(w));
    look_twice(w, c, "b");
    assert_false(world_lane_is_open(w));
    world_free(w);
}

/* Nobody else counts on a node that the pod itself is nominated to. */
static void the_node_of_its_own_nomination_is_compared(void **state)
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
        cmocka_unit_test(a_difference_that_stands_a_second_look_closes_the_lane),
        cmocka_unit_test(the_lane_stays_closed),
        cmocka_unit_test(after_the_lane_closed_ports_are_the_schedulers_own_matter),
        cmocka_unit_test(a_node_offered_against_the_rules_is_a_difference),
        cmocka_unit_test(a_difference_that_passes_is_none),
        cmocka_unit_test(a_difference_about_a_node_that_changes_is_none),
        cmocka_unit_test(a_sample_says_nothing_of_nodes_that_are_not_in_it),
        cmocka_unit_test(the_call_for_its_nomination_says_nothing),
        cmocka_unit_test(pods_with_constraints_that_are_not_modelled_say_nothing),
        cmocka_unit_test(a_pod_that_the_scheduler_has_otherwise_says_nothing),
        cmocka_unit_test(room_that_may_be_taken_already_is_no_difference),
        cmocka_unit_test(a_node_with_a_nominated_pod_is_no_difference),
        cmocka_unit_test(looks_are_paid_for_by_time),
        cmocka_unit_test(P03_each_rule_between_pods_is_compared),
        cmocka_unit_test(a_spread_says_nothing_while_a_binding_is_under_way),
        cmocka_unit_test(the_node_of_its_own_nomination_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
