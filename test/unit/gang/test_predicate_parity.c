/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane and its licence, where pictures are old, differences many, and pods on their
 * way. */
#include <stdio.h>
#include <string.h>

#include "test/lib/world.h"

static void look(struct world *w, const char *names)
{
    world_filter_facts(w, world_pod_facts("g-0", "g", 1), names);
}

/* Twice, as far apart as a difference must stand; both count. */
static void look_twice(struct world *w, const char *names)
{
    look(w, names);
    world_wait(w, SECONDS(1));
    look(w, names);
}

/* ---- pictures that are old ---- */

static void an_old_picture_is_compared_with_nothing(void **state)
{
    (void)state;
    for (enum gang_watch of = 0; of < GANG_WATCHES; of++) {
        struct world *w = world_checked();
        world_watch(w, of, true); /* "b" was deleted since, or somebody else is there */
        for (int i = 0; i < 5; i++, world_wait(w, SECONDS(2)))
            look(w, "a");
        assert_true(world_lane_is_open(w));
        world_free(w);
    }
}

static void the_scheduler_has_time_to_catch_up_too(void **state)
{
    (void)state;
    static const int outages[] = {1, 20, 500}, until[] = {3, 41, 61};
    for (size_t i = 0; i < ARRAY_SIZE(outages); i++) {
        struct world *w = world_checked();
        world_watch(w, GANG_WATCH_PODS, true);
        world_wait(w, SECONDS(outages[i]));
        world_watch(w, GANG_WATCH_PODS, false);
        world_wait(w, SECONDS(until[i]) - 1);
        look_twice(w, "a"); /* the first of them says nothing */
        assert_true(world_lane_is_open(w));
        world_wait(w, SECONDS(1));
        look(w, "a");
        assert_false(world_lane_is_open(w));
        world_free(w);
    }
}

/* ---- differences ---- */

/* 80 nodes, of which kube-scheduler offers ten to anybody. */
static void half_a_rule(struct world *w, const char *pod, int gpus)
{
    struct gang_pod_facts *f = world_pod_facts(pod, "g", gpus);
    cleanup_buf struct buf names = BUF_INIT;
    for (int i = 0; i < 10; i++)
        buf_printf(&names, "%sn%d", i ? " " : "", i);
    world_filter_facts(w, f, buf_str(&names));
}

static void many_differences_do_not_hide_each_other(void **state)
{
    (void)state;
    struct world *w = world_express();
    for (int i = 0; i < 80; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        world_node(w, name, 8);
    }
    world_group(w, "g", 9);
    world_pod(w, "g-1", "g", 1);
    world_pod(w, "g-2", "g", 2);
    world_wait(w, SECONDS(2));
    half_a_rule(w, "g-1", 1);
    half_a_rule(w, "g-2", 2);
    world_wait(w, SECONDS(2));
    assert_true(world_lane_is_open(w));
    half_a_rule(w, "g-1", 1);
    assert_false(world_lane_is_open(w));
    world_free(w);
}

static void suspects_of_long_ago_make_place(void **state)
{
    (void)state;
    struct world *w = world_express();
    world_node(w, "a", 100);
    world_node(w, "b", 100);
    world_group(w, "g", 99);
    for (int i = 1; i <= 70; i++) { /* signatures that nobody asks about again */
        char name[8];
        snprintf(name, sizeof name, "g-%d", i);
        world_pod(w, name, "g", i);
    }
    world_wait(w, SECONDS(2));
    for (int i = 1; i <= 70; i++) {
        char name[8];
        snprintf(name, sizeof name, "g-%d", i);
        world_filter_facts(w, world_pod_facts(name, "g", i), "a");
    }
    world_pod(w, "g-0", "g", 80);
    world_wait(w, SECONDS(60));
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 80);
    world_filter_facts(w, f, "a");
    world_wait(w, SECONDS(1));
    assert_true(world_lane_is_open(w));
    world_filter_facts(w, world_pod_facts("g-0", "g", 80), "a");
    assert_false(world_lane_is_open(w));
    world_free(w);
}

/* A suspect of a node that has other amounts since is none of what it is now. */
static void amounts_that_changed_begin_anew(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_node(w, "c", 0);
    world_wait(w, SECONDS(2));
    look(w, "a b c"); /* kube-scheduler has heard of its GPUs already */
    world_node(w, "c", 2);
    world_wait(w, SECONDS(100));
    world_node(w, "c", 0);
    world_wait(w, SECONDS(2));
    look(w, "a b c"); /* and has not yet that they are gone again */
    assert_true(world_lane_is_open(w));
    world_free(w);
}

/* Other extenders and plugins may filter there, and nobody has said that they do not. */
static void without_the_lane_a_difference_is_counted_and_warns_nobody(void **state)
{
    (void)state;
    for (int express = 0; express < 2; express++) {
        struct gang_config config = test_config();
        config.assemble = 0;
        config.express_lane = express;
        struct world *w = world_new_with(config, true);
        world_node(w, "a", 2);
        world_node(w, "b", 2);
        world_group(w, "g", 9);
        world_pod(w, "g-0", "g", 1);
        world_wait(w, SECONDS(2));
        look_twice(w, "a");
        struct gang_stats stats;
        gang_core_stats(w->core, &stats);
        assert_int_equal(stats.mismatches[PREDICATE_NONE], 1);
        assert_non_null(gang_core_parity_difference(w->core));
        assert_int_equal(world_event(w, "PredicateMismatch"), express);
        world_free(w);
    }
}

/* ---- whose lane a difference closes ---- */

/* A pod of a namespace, of nothing else. */
static struct gang_pod_facts *pod_in(const char *ns, const char *name)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    free(f->ns);
    f->ns = xstrdup(ns);
    return f;
}

static void differ_in(struct world *w, const char *ns, const char *name)
{
    world_pod_set(w, pod_in(ns, name));
    for (int i = 0; i < 2; i++) {
        world_wait(w, SECONDS(2));
        world_filter_facts(w, pod_in(ns, name), "a");
        world_wait(w, SECONDS(61)); /* it is not on its way any more */
    }
}

/* With places on nodes of its own; true: the first member is enough. */
static bool takes_the_lane(struct world *w, const char *gang)
{
    cleanup_free char *node = xasprintf("of-%s", gang), *first = xasprintf("%s-0", gang);
    size_t before = w->n_bindings;
    world_node(w, node, 2);
    world_group(w, gang, 2);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("%s-%d", gang, i);
        world_pod(w, name, gang, 1);
    }
    world_filter_on(w, first, node, NULL);
    world_bind(w, first, node);
    return w->n_bindings == before + 2;
}

static struct world *with_full_nodes(void)
{
    struct world *w = world_express();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_wait(w, SECONDS(2));
    return w;
}

static size_t closed(const struct world *w)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.express_closed;
}

static void T16_a_difference_closes_the_lane_for_its_namespace_alone(void **state)
{
    (void)state;
    struct world *w = world_checked();
    differ_in(w, "evil", "e");
    assert_int_equal(closed(w), 1);
    world_pod_gone(w, "g-0");
    world_node(w, "a", 0);
    world_node(w, "b", 0);
    assert_true(takes_the_lane(w, "h"));
    world_free(w);
    w = world_checked();
    differ_in(w, "default", "d");
    world_pod_gone(w, "g-0");
    world_pod_gone(w, "d");
    world_node(w, "a", 0);
    world_node(w, "b", 0);
    assert_false(takes_the_lane(w, "h"));
    world_free(w);
}

static void T16_differences_in_three_namespaces_close_the_lane_for_all(void **state)
{
    (void)state;
    static const char *const rule_labels[] = {"one", "two", "three"};
    for (size_t n = 2; n <= 3; n++) {
        struct world *w = with_full_nodes();
        for (size_t i = 0; i < n; i++)
            differ_in(w, rule_labels[i], rule_labels[i]);
        assert_int_equal(closed(w), n);
        world_node(w, "a", 0);
        world_node(w, "b", 0);
        assert_int_equal(takes_the_lane(w, "h"), n == 2);
        world_free(w);
    }
}

/* Of a signature of its own, in a gang that waits. */
static struct gang_pod_facts *waiting_in(const char *ns, int number)
{
    cleanup_free char *name = xasprintf("p-%d", number);
    struct gang_pod_facts *f = world_pod_facts(name, "waits", 1 + number);
    free(f->ns);
    free(f->group.ns);
    f->ns = xstrdup(ns);
    f->group.ns = xstrdup(ns);
    return f;
}

/* The table of those that wait for their second look is full, of one namespace's. */
static void T16_suspects_of_one_namespace_do_not_hide_those_of_others(void **state)
{
    (void)state;
    struct world *w = world_express();
    for (int i = 0; i < 12; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        world_node(w, name, 200);
    }
    for (int i = 0; i < 20; i++)
        world_pod_set(w, waiting_in("evil", i));
    world_pod_set(w, waiting_in("default", 99));
    world_wait(w, SECONDS(2));
    for (int i = 0; i < 20; i++) /* its own kinds of pods, each with many differences */
        world_filter_facts(w, waiting_in("evil", i), "unknown");
    world_filter_facts(w, waiting_in("default", 99), "unknown");
    world_wait(w, SECONDS(1));
    world_filter_facts(w, waiting_in("default", 99), "unknown");
    assert_false(world_lane_is_open(w));
    assert_non_null(strstr(gang_core_parity_difference(w->core), "default/p-99"));
    world_free(w);
}

/* Who asks all the time leaves looks to others. */
static void T16_looks_are_left_to_other_namespaces(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_pod_set(w, pod_in("evil", "e"));
    world_wait(w, SECONDS(2));
    for (int i = 0; i < 110000; i++)
        world_filter_facts(w, pod_in("evil", "e"), "nowhere");
    struct gang_stats before, after;
    gang_core_stats(w->core, &before);
    world_filter(w, "g-0");
    gang_core_stats(w->core, &after);
    assert_int_equal(after.predicate_checks, before.predicate_checks + 1);
    world_free(w);
}

/* ---- pods on their way ---- */

static void a_sibling_that_crosses_its_own_binding_hides_nothing(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_group(w, "h", 2);
    world_members(w, "h", 0, 2, 1);
    world_try(w, "h-0");
    assert_int_equal(w->n_bindings, 2);
    const char *node = world_binding(w, "h-1@a") ? "a" : "b";
    assert_string_equal(world_filter(w, "h-1"), node); /* assume fails: no bind call comes */
    world_all_bound(w);
    assert_string_equal(world_filter(w, "h-1"), node);
    world_pod_seen(w, "h-0", "h", 1, world_binding(w, "h-0@a") ? "a" : "b", PHASE_RUNNING);
    world_pod_seen(w, "h-1", "h", 1, node, PHASE_RUNNING);
    world_wait(w, SECONDS(2));
    look_twice(w, "c");
    assert_false(world_lane_is_open(w));
    world_free(w);
}

static void a_pod_whose_volumes_are_prepared_is_on_its_way_for_longer(void **state)
{
    (void)state;
    for (int volumes = 0; volumes < 2; volumes++) {
        struct world *w = world_checked();
        struct gang_pod_facts *f = world_pod_facts("o", NULL, 2);
        f->has_pvc = volumes;
        world_pod_set(w, f);
        world_filter(w, "o"); /* assumed on "b", and in PreBind there */
        world_pod(w, "p", NULL, 1);
        world_filter(w, "p"); /* came later, and is over sooner */
        world_wait(w, SECONDS(61));
        look_twice(w, "a");
        assert_int_equal(world_lane_is_open(w), volumes);
        world_wait(w, SECONDS(600));
        look_twice(w, "a");
        assert_false(world_lane_is_open(w));
        world_free(w);
    }
}

static struct gang_pod_facts *of_app(const char *name, const char *app)
{
    struct gang_pod_facts *f = world_pod_facts(name, "h", 1);
    gang_kvs_add(&f->labels, "app", app);
    return f;
}

static struct gang_pod_facts *web(const char *name)
{
    return of_app(name, "web");
}

/* It keeps pods of the app out of its zone. */
static struct gang_pod_facts *wide_anti_affinity(const char *name, const char *app)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->wide_anti_affinity = xcalloc(1, sizeof *f->wide_anti_affinity);
    f->n_wide_anti_affinity = 1;
    struct gang_selector *s = &f->wide_anti_affinity[0];
    s->all_namespaces = true;
    s->term.items = xcalloc(1, sizeof *s->term.items);
    s->term.n = 1;
    struct gang_requirement *r = &s->term.items[0];
    r->key = xstrdup("app");
    r->op = MATCH_IN;
    r->values = xcalloc(1, sizeof *r->values);
    r->values[r->n_values++] = xstrdup(app);
    return f;
}

/* It passes filter, and what comes of that differs: whether "h" then goes the lane. */
static void lane_beside_a_shunning_pod(void (*then)(struct world *), bool open)
{
    struct world *w = world_checked();
    world_pod_set(w, wide_anti_affinity("o", "web"));
    world_filter_on(w, "o", "a b", NULL);
    then(w);
    world_group(w, "h", 2);
    world_pod_set(w, web("h-0"));
    world_pod_set(w, web("h-1"));
    world_forget(w);
    world_try(w, "h-0");
    assert_int_equal(w->n_bindings, open ? 2 : 0);
    world_free(w);
}

static void nothing_yet(struct world *w)
{
    (void)w;
}

static void its_bind_is_refused(struct world *w)
{
    world_node(w, "full", 1);
    world_filter_on(w, "o", "full", NULL);
    world_pod_seen(w, "r", NULL, 1, "full", PHASE_RUNNING);
    world_bind(w, "o", "full");
}

static void a_minute_goes_by(struct world *w)
{
    world_wait(w, SECONDS(60));
}

static void it_comes_to_bind(struct world *w)
{
    world_node(w, "z", 1);
    world_filter_on(w, "o", "z", NULL);
    world_bind(w, "o", "z");
}

static void it_comes_to_bind_late(struct world *w)
{
    world_node(w, "z", 1);
    world_filter_on(w, "o", "z", NULL);
    a_minute_goes_by(w);
    world_bind(w, "o", "z");
}

static void a_shunning_pod_matters_while_it_is_on_its_way(void **state)
{
    (void)state;
    lane_beside_a_shunning_pod(nothing_yet, false);
    lane_beside_a_shunning_pod(it_comes_to_bind, false);
    lane_beside_a_shunning_pod(it_comes_to_bind_late, true);
    lane_beside_a_shunning_pod(its_bind_is_refused, true);
    lane_beside_a_shunning_pod(a_minute_goes_by, true);
}

/* A member that was looked at is kept away by those that come later all the same. */
static void who_shuns_a_member_later_matters_too(void **state)
{
    (void)state;
    for (int later = 0; later < 2; later++) {
        struct world *w = world_checked();
        struct gang_pod_facts *o = wide_anti_affinity("o", "web");
        o->node = xstrdup("z");
        world_pod_set(w, o);
        world_group(w, "h", 2);
        world_pod_set(w, of_app("h-0", "db"));
        world_pod_set(w, web("h-1"));
        world_try(w, "h-0"); /* kept away by nobody, its sibling is by "o" */
        assert_int_equal(w->n_bindings, 0);
        world_pod_set(w, wide_anti_affinity("p", "db"));
        if (later)
            world_filter_on(w, "p", "z", NULL);
        world_pod_gone(w, "o");
        world_try(w, "h-0");
        assert_int_equal(w->n_bindings, later ? 0 : 2);
        world_free(w);
    }
}

static void with_whole_lists_configured_a_long_one_is_evidence_of_all(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct gang_config config = test_config();
        config.assemble = 0;
        config.whole_lists = whole;
        config.steering = GANG_STEER_NEVER;
        struct world *w = world_new_with(config, true);
        cleanup_buf struct buf names = BUF_INIT;
        world_node(w, "a", 1);
        world_group(w, "g", 1);
        world_pod(w, "g-0", "g", 1);
        for (int i = 0; i < 110; i++)
            buf_printf(&names, "%ss%d", i ? " " : "", i); /* with no room, or not known here */
        world_filter_on(w, "g-0", buf_str(&names), NULL);
        assert_int_equal(world_nominated(w, "g-0@a"), !whole);
        assert_string_equal(world_state(w, "g"), whole ? "Waiting" : "Planned");
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_picture_is_compared_with_nothing),
        cmocka_unit_test(the_scheduler_has_time_to_catch_up_too),
        cmocka_unit_test(many_differences_do_not_hide_each_other),
        cmocka_unit_test(suspects_of_long_ago_make_place),
        cmocka_unit_test(amounts_that_changed_begin_anew),
        cmocka_unit_test(without_the_lane_a_difference_is_counted_and_warns_nobody),
        cmocka_unit_test(T16_a_difference_closes_the_lane_for_its_namespace_alone),
        cmocka_unit_test(T16_differences_in_three_namespaces_close_the_lane_for_all),
        cmocka_unit_test(T16_suspects_of_one_namespace_do_not_hide_those_of_others),
        cmocka_unit_test(T16_looks_are_left_to_other_namespaces),
        cmocka_unit_test(a_sibling_that_crosses_its_own_binding_hides_nothing),
        cmocka_unit_test(a_pod_whose_volumes_are_prepared_is_on_its_way_for_longer),
        cmocka_unit_test(a_shunning_pod_matters_while_it_is_on_its_way),
        cmocka_unit_test(who_shuns_a_member_later_matters_too),
        cmocka_unit_test(with_whole_lists_configured_a_long_one_is_evidence_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
