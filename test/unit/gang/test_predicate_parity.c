/* SPDX-License-Identifier: Apache-2.0 */
/* Predicate parity and the express lane: watches that are behind, many differences, and pods on
 * their way. */
#include <stdio.h>
#include <string.h>

#include "test/lib/world.h"

static void look(struct world *w, const char *names)
{
    world_filter_facts(w, world_pod_facts("g-0", "g", 1), names);
}

/* Two checks, as far apart as a difference must last; both count. */
static void look_twice(struct world *w, const char *names)
{
    look(w, names);
    world_wait(w, SECONDS(1));
    look(w, names);
}

/* ---- watches that are behind ---- */

static void parity_is_not_checked_while_a_watch_is_behind(void **state)
{
    (void)state;
    for (enum gang_watch of = 0; of < GANG_WATCHES; of++) {
        struct world *w = world_checked();
        world_watch(w, of, true); /* "b" may be deleted or full by now */
        for (int i = 0; i < 5; i++, world_wait(w, SECONDS(2)))
            look(w, "a");
        assert_true(world_lane_is_open(w));
        world_free(w);
    }
}

static void parity_is_not_checked_until_kube_scheduler_may_have_caught_up(void **state)
{
    (void)state;
    static const int outages[] = {1, 20, 500}, until[] = {3, 41, 61};
    for (size_t i = 0; i < ARRAY_SIZE(outages); i++) {
        struct world *w = world_checked();
        world_watch(w, GANG_WATCH_PODS, true);
        world_wait(w, SECONDS(outages[i]));
        world_watch(w, GANG_WATCH_PODS, false);
        world_wait(w, SECONDS(until[i]) - 1);
        look_twice(w, "a"); /* the first of the two does not count */
        assert_true(world_lane_is_open(w));
        world_wait(w, SECONDS(1));
        look(w, "a");
        assert_false(world_lane_is_open(w));
        world_free(w);
    }
}

/* ---- differences ---- */

/* Filter for a pod, on 80 nodes. kube-scheduler offers only ten of them. */
static void filter_on_ten_nodes(struct world *w, const char *pod, int gpus)
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
    filter_on_ten_nodes(w, "g-1", 1);
    filter_on_ten_nodes(w, "g-2", 2);
    world_wait(w, SECONDS(2));
    assert_true(world_lane_is_open(w));
    filter_on_ten_nodes(w, "g-1", 1);
    assert_false(world_lane_is_open(w));
    world_free(w);
}

static void old_suspects_make_room_for_new_ones(void **state)
{
    (void)state;
    struct world *w = world_express();
    world_node(w, "a", 100);
    world_node(w, "b", 100);
    world_group(w, "g", 99);
    for (int i = 1; i <= 70; i++) { /* signatures without a second filter call */
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

/* A suspect does not count when the free room of its node has changed since. */
static void a_suspect_is_dropped_when_its_nodes_room_changes(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_node(w, "c", 0);
    world_wait(w, SECONDS(2));
    look(w, "a b c"); /* kube-scheduler already sees its GPUs */
    world_node(w, "c", 2);
    world_wait(w, SECONDS(100));
    world_node(w, "c", 0);
    world_wait(w, SECONDS(2));
    look(w, "a b c"); /* and does not see yet that they are gone again */
    assert_true(world_lane_is_open(w));
    world_free(w);
}

/* Without the lane, other extenders and plugins may also filter nodes. */
static void without_the_lane_a_difference_is_counted_without_a_warning(void **state)
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

/* ---- for which namespaces a difference closes the lane ---- */

/* An ordinary pod of the namespace. */
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
        world_wait(w, SECONDS(61)); /* the pod is no longer on its way */
    }
}

/* A new gang with room on a node of its own; true: it is bound with its first member. */
static bool uses_the_lane(struct world *w, const char *gang)
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

static void T16_a_difference_closes_the_lane_only_for_its_namespace(void **state)
{
    (void)state;
    struct world *w = world_checked();
    differ_in(w, "evil", "e");
    assert_int_equal(closed(w), 1);
    world_pod_gone(w, "g-0");
    world_node(w, "a", 0);
    world_node(w, "b", 0);
    assert_true(uses_the_lane(w, "h"));
    world_free(w);
    w = world_checked();
    differ_in(w, "default", "d");
    world_pod_gone(w, "g-0");
    world_pod_gone(w, "d");
    world_node(w, "a", 0);
    world_node(w, "b", 0);
    assert_false(uses_the_lane(w, "h"));
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
        assert_int_equal(uses_the_lane(w, "h"), n == 2);
        world_free(w);
    }
}

/* A pod of a waiting gang, with a signature of its own. */
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

/* The table of suspects is full of the suspects of one namespace. */
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
    for (int i = 0; i < 20; i++) /* each signature has many differences */
        world_filter_facts(w, waiting_in("evil", i), "unknown");
    world_filter_facts(w, waiting_in("default", 99), "unknown");
    world_wait(w, SECONDS(1));
    world_filter_facts(w, waiting_in("default", 99), "unknown");
    assert_false(world_lane_is_open(w));
    assert_non_null(strstr(gang_core_parity_difference(w->core), "default/p-99"));
    world_free(w);
}

/* A namespace with many filter calls leaves checks to others. */
static void T16_each_namespace_gets_its_share_of_checks(void **state)
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

static void a_filter_call_during_an_express_binding_hides_no_difference(void **state)
{
    (void)state;
    struct world *w = world_checked();
    world_group(w, "h", 2);
    world_members(w, "h", 0, 2, 1);
    world_try(w, "h-0");
    assert_int_equal(w->n_bindings, 2);
    const char *node = world_binding(w, "h-1@a") ? "a" : "b";
    assert_string_equal(world_filter(w, "h-1"),
                        node); /* kube-scheduler's assume fails: no bind call comes */
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
        world_filter(w, "o"); /* kube-scheduler assumes it on "b" and runs PreBind */
        world_pod(w, "p", NULL, 1);
        world_filter(w, "p"); /* on its way later, but for a shorter time */
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

/* A pod that keeps the pods of an app out of its zone. */
static struct gang_pod_facts *wide_anti_affinity(const char *name, const char *app)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->wide_anti_affinity = xcalloc(1, sizeof *f->wide_anti_affinity);
    f->n_wide_anti_affinity = 1;
    struct gang_selector *s = &f->wide_anti_affinity[0];
    s->all_namespaces = true;
    world_term_in(&s->term, "app", app);
    return f;
}

/* Such a pod passes filter, and then one of several things happens. open: the gang "h" may still
 * use the lane. */
static void check_lane_beside_wide_anti_affinity(void (*then)(struct world *), bool open)
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

static void do_nothing(struct world *w)
{
    (void)w;
}

static void let_its_bind_be_refused(struct world *w)
{
    world_node(w, "full", 1);
    world_filter_on(w, "o", "full", NULL);
    world_pod_seen(w, "r", NULL, 1, "full", PHASE_RUNNING);
    world_bind(w, "o", "full");
}

static void wait_a_minute(struct world *w)
{
    world_wait(w, SECONDS(60));
}

static void bring_it_to_bind(struct world *w)
{
    world_node(w, "z", 1);
    world_filter_on(w, "o", "z", NULL);
    world_bind(w, "o", "z");
}

static void bring_it_to_bind_late(struct world *w)
{
    world_node(w, "z", 1);
    world_filter_on(w, "o", "z", NULL);
    wait_a_minute(w);
    world_bind(w, "o", "z");
}

static void a_pod_with_wide_anti_affinity_counts_while_it_is_on_its_way(void **state)
{
    (void)state;
    check_lane_beside_wide_anti_affinity(do_nothing, false);
    check_lane_beside_wide_anti_affinity(bring_it_to_bind, false);
    check_lane_beside_wide_anti_affinity(bring_it_to_bind_late, true);
    check_lane_beside_wide_anti_affinity(let_its_bind_be_refused, true);
    check_lane_beside_wide_anti_affinity(wait_a_minute, true);
}

/* A member that has been checked is checked again when another pod with wide anti-affinity comes.
 */
static void wide_anti_affinity_of_a_later_pod_counts_too(void **state)
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
        world_try(w, "h-0"); /* no rule excludes it, but "o" excludes its sibling */
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

static void with_complete_lists_configured_a_long_list_is_evidence(void **state)
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
            buf_printf(&names, "%ss%d", i ? " " : "", i); /* unknown nodes */
        world_filter_on(w, "g-0", buf_str(&names), NULL);
        assert_int_equal(world_nominated(w, "g-0@a"), !whole);
        assert_string_equal(world_state(w, "g"), whole ? "Waiting" : "Planned");
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parity_is_not_checked_while_a_watch_is_behind),
        cmocka_unit_test(parity_is_not_checked_until_kube_scheduler_may_have_caught_up),
        cmocka_unit_test(many_differences_do_not_hide_each_other),
        cmocka_unit_test(old_suspects_make_room_for_new_ones),
        cmocka_unit_test(a_suspect_is_dropped_when_its_nodes_room_changes),
        cmocka_unit_test(without_the_lane_a_difference_is_counted_without_a_warning),
        cmocka_unit_test(T16_a_difference_closes_the_lane_only_for_its_namespace),
        cmocka_unit_test(T16_differences_in_three_namespaces_close_the_lane_for_all),
        cmocka_unit_test(T16_suspects_of_one_namespace_do_not_hide_those_of_others),
        cmocka_unit_test(T16_each_namespace_gets_its_share_of_checks),
        cmocka_unit_test(a_filter_call_during_an_express_binding_hides_no_difference),
        cmocka_unit_test(a_pod_whose_volumes_are_prepared_is_on_its_way_for_longer),
        cmocka_unit_test(a_pod_with_wide_anti_affinity_counts_while_it_is_on_its_way),
        cmocka_unit_test(wide_anti_affinity_of_a_later_pod_counts_too),
        cmocka_unit_test(with_complete_lists_configured_a_long_list_is_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
