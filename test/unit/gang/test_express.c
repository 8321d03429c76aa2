/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane. test_predicate_parity.c and test_predicate_parity_rules.c test when it closes.
 */
#include <string.h>

#include "test/lib/world.h"

/* Two members on two nodes of one GPU each. */
static struct world *pair_world(void)
{
    struct world *w = world_express();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    return w;
}

static uint64_t express_bindings(const struct world *w)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.bindings_express;
}

/* ---- the lane ---- */

static void P03_the_first_member_at_bind_binds_all(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    uint64_t call = world_try(w, "g-0");
    assert_string_equal(world_state(w, "g"), "Committing");
    assert_int_equal(w->n_bindings, 2);
    assert_true(world_binding(w, "g-0@a") && world_binding(w, "g-1@b"));
    assert_int_equal(express_bindings(w), 1);
    world_all_bound(w);
    assert_string_equal(world_answer(w, call), "");
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

/* An express gang holds only one call, which ends at once. */
static void at_the_limit_of_holds_the_lane_still_works(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        struct gang_config config = test_config();
        config.express_lane = lane;
        config.max_holds = 1;
        struct world *w = world_new_with(config, true);
        world_node(w, "a", 4);
        world_group(w, "g", 2);
        world_members(w, "g", 0, 2, 1);
        world_pod(w, "single", NULL, 1);
        uint64_t other = world_try(w, "single"); /* held until its Binding is written */
        uint64_t call = world_try(w, "g-0");
        assert_null(world_answer(w, other));
        assert_string_equal(world_state(w, "g"), lane ? "Committing" : "Planned");
        assert_int_equal(world_answer(w, call) == NULL, lane);
        world_free(w);
    }
}

static void without_the_setting_every_member_must_come_to_bind(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    world_free(w);
}

/* The gang "g" does not use the lane: it commits only when both members are at bind. */
static void must_not_use_the_lane(struct world *w)
{
    world_try(w, "g-0");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    assert_int_not_equal(world_try(w, "g-1"), 0);
    assert_string_equal(world_state(w, "g"), "Committing");
    assert_int_equal(w->n_bindings, 2);
    assert_int_equal(express_bindings(w), 0);
    world_free(w);
}

static void an_unmodelled_constraint_of_one_member_keeps_the_gang_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    struct gang_pod_facts *f = world_pod_facts("g-1", "g", 1);
    f->inexact = xstrdup("volumes");
    world_pod(w, "g-0", "g", 1);
    world_pod_set(w, f);
    must_not_use_the_lane(w);
}

/* "app" in (web), as a selector of pods of every namespace. */
static void select_web(struct gang_selector *s)
{
    s->all_namespaces = true;
    world_term_in(&s->term, "app", "web");
}

static struct gang_pod_facts *web(const char *name, const char *group)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    gang_kvs_add(&f->labels, "app", "web");
    return f;
}

/* An ordinary pod on a third node keeps the pods of the app "web" out of its zone. */
static void add_pod_that_keeps_web_out_of_its_zone(struct world *w)
{
    world_node(w, "z", 1);
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 1);
    f->node = xstrdup("z");
    f->wide_anti_affinity = xcalloc(1, sizeof *f->wide_anti_affinity);
    f->n_wide_anti_affinity = 1;
    select_web(&f->wide_anti_affinity[0]);
    world_pod_set(w, f);
}

static void an_ordinary_pod_that_keeps_members_out_of_its_zone_keeps_them_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    add_pod_that_keeps_web_out_of_its_zone(w);
    world_pod_set(w, web("g-0", "g"));
    world_pod_set(w, web("g-1", "g"));
    must_not_use_the_lane(w);

    w = pair_world(); /* its rule does not select these members */
    add_pod_that_keeps_web_out_of_its_zone(w);
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void a_member_that_the_watch_has_not_shown_keeps_the_gang_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_pod(w, "g-0", "g", 1);
    assert_string_equal(world_filter_facts(w, world_pod_facts("g-1", "g", 1), "a b"), "b");
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 0);
    world_bind(w, "g-1", "b");
    assert_int_equal(w->n_bindings, 0);
    world_pod(w, "g-1", "g", 1);
    assert_int_equal(w->n_bindings, 2);
    assert_int_equal(express_bindings(w), 0);
    world_free(w);
}

static void another_pods_nomination_to_a_planned_node_keeps_the_gang_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 0);
    f->nominated = xstrdup("b");
    world_pod_set(w, f);
    world_members(w, "g", 0, 2, 1);
    must_not_use_the_lane(w);
}

static void a_nomination_older_than_its_node_keeps_the_gang_off_the_lane(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.express_lane = true;
    struct world *w = world_new_with(config, false);
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 0);
    f->nominated = xstrdup("b");
    world_pod_set(w, f);
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_sync(w);
    must_not_use_the_lane(w);
}

/* An ordinary pod as the watch shows it, nominated to node; NULL: not nominated. */
static void nominated_pod(struct world *w, const char *node)
{
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 1);
    f->nominated = xstrdup_null(node);
    world_pod_set(w, f);
}

static void a_cleared_nomination_does_not_keep_the_gang_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    nominated_pod(w, "b");
    nominated_pod(w, NULL);
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 2);
    assert_int_equal(express_bindings(w), 1);
    world_free(w);
}

static void a_pod_event_older_than_a_nomination_does_not_clear_it(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_group(w, "h", 2);
    world_members(w, "h", 0, 2, 1); /* reserves "a" and "b" */
    nominated_pod(w, NULL);
    assert_string_equal(world_filter(w, "o"), "");
    world_node(w, "c", 1);
    assert_true(world_nominated(w, "o@c"));
    nominated_pod(w, NULL); /* an event from before the nomination */
    world_node(w, "d", 1);
    world_members(w, "g", 0, 2, 1); /* "c" and "d" */
    must_not_use_the_lane(w);
}

static void a_member_with_a_spread_keeps_the_gang_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = web(i ? "g-1" : "g-0", "g");
        f->spreads = xcalloc(1, sizeof *f->spreads);
        f->n_spreads = 1;
        f->spreads[0].max_skew = 5;
        select_web(&f->spreads[0].selector);
        world_pod_set(w, f);
    }
    must_not_use_the_lane(w);
}

static void no_express_binding_to_a_node_missing_from_a_siblings_complete_list(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_node(w, "c", 1);
    world_members(w, "g", 0, 2, 1); /* "a" and "b" */
    assert_string_equal(world_filter_on(w, "g-0", "a c", NULL), "a");
    world_bind(w, "g-0", "a");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_bindings,
                     0); /* the list without "b" is evidence about its sibling, too */
    assert_string_equal(world_filter_on(w, "g-1", "a c", NULL), "c");
    world_bind(w, "g-1", "c");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

/* Both members were refused while x ran on b. They are nominated since x has gone. */
static struct world *woken_pair(void)
{
    struct world *w = pair_world();
    world_pod_seen(w, "x", NULL, 1, "b", PHASE_RUNNING);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter_on(w, "g-0", "a", NULL), "");
    assert_string_equal(world_filter_on(w, "g-1", "a", NULL), "");
    world_pod_gone(w, "x");
    assert_true(world_nominated(w, "g-0@a") && world_nominated(w, "g-1@b"));
    return w;
}

/* kube-scheduler leaves out nodes that a nominated sibling fills. This is no evidence against the
 * sibling's slot. */
static void a_node_that_a_nominated_sibling_fills_may_be_missing_from_a_list(void **state)
{
    (void)state;
    struct world *w = woken_pair();
    world_node(w, "c", 1);
    assert_string_equal(world_filter_on(w, "g-0", "a c", NULL), "a");
    world_bind(w, "g-0", "a");
    assert_int_equal(w->n_bindings, 2);
    assert_int_equal(express_bindings(w), 1);
    world_free(w);
}

/* But a member's own nomination does not fill its node, whether kube-scheduler has seen the
 * nomination yet or not. */
static void no_express_binding_to_a_node_missing_from_the_members_own_list(void **state)
{
    (void)state;
    struct world *w = woken_pair();
    assert_string_equal(world_filter_on(w, "g-0", "a c", NULL), "a");
    assert_string_equal(world_filter_on(w, "g-1", "c d", NULL), "");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_bind(w, "g-0", "a");
    assert_int_equal(w->n_bindings, 0);
    world_free(w);
}

static void no_express_binding_to_a_slot_swapped_away_from_a_missing_node(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_node(w, "c", 1);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter_on(w, "g-0", "b c", NULL), "b");
    world_bind(w, "g-0", "b");
    assert_int_equal(w->n_bindings, 0); /* "a", now its sibling's slot, was not offered */
    world_free(w);
}

static void an_express_commit_waits_for_expected_members(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.express_lane = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    world_try(w, "g-0");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    world_pod(w, "g-1", "g", 1); /* now all members exist, and no further call is needed */
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void extras_with_a_slot_are_bound_with_the_others(void **state)
{
    (void)state;
    struct world *w = world_express();
    world_node(w, "a", 3);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 3, 1);
    world_try(w, "g-2");
    assert_int_equal(w->n_bindings, 3);
    world_free(w);
}

static void a_recovering_gang_does_not_use_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    world_result(w, "g-0", "a", OUTCOME_OK);
    world_result(w, "g-1", "b", OUTCOME_REFUSED);
    assert_string_equal(world_state(w, "g"), "Recovering");
    world_forget(w);
    world_try(w, "g-1");
    assert_int_equal(w->n_bindings, 1);
    assert_int_equal(express_bindings(w), 1);
    world_free(w);
}

static void while_a_watch_is_behind_every_member_must_come_to_bind(void **state)
{
    (void)state;
    for (enum gang_watch of = 0; of < GANG_WATCHES; of++) {
        struct world *w = pair_world();
        world_members(w, "g", 0, 2, 1);
        world_watch(w, of, true); /* "b" may be cordoned, full or gone */
        must_not_use_the_lane(w);
    }
}

static void the_lane_opens_for_a_member_at_bind_when_the_watches_catch_up(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_watch(w, GANG_WATCH_NODES, true);
    world_watch(w, GANG_WATCH_PODS, true);
    world_try(w, "g-0");
    world_watch(w, GANG_WATCH_PODS, false);
    assert_int_equal(w->n_bindings, 0);
    world_watch(w, GANG_WATCH_NODES, false);
    assert_int_equal(w->n_bindings, 2);
    assert_int_equal(express_bindings(w), 1);
    world_free(w);
}

/* ---- kube-scheduler has not seen the Binding yet ---- */

static void filter_and_bind_confirm_the_node_of_a_member_bound_by_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_string_equal(world_filter(w, "g-1"), "b");
    uint64_t call = world_bind(w, "g-1", "b");
    assert_null(world_answer(w, call)); /* muster answers when the Binding has a result */
    assert_int_equal(w->n_bindings, 2);
    world_all_bound(w);
    assert_string_equal(world_answer(w, call), "");
    assert_string_equal(world_filter(w, "g-1"),
                        "b"); /* assigned, but kube-scheduler's watch is behind */
    call = world_bind(w, "g-1", "b");
    assert_string_equal(world_answer(w, call), "");
    world_free(w);
}

static void a_member_bound_by_the_lane_cannot_be_bound_to_another_node(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    uint64_t call = world_bind(w, "g-1", "a");
    assert_non_null(strstr(world_answer(w, call), "b"));
    assert_int_equal(w->n_bindings, 2);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void filter_returns_no_node_when_the_bound_node_is_not_offered(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_string_equal(world_filter_on(w, "g-1", "a", NULL), "");
    world_all_bound(w);
    assert_string_equal(world_filter_on(w, "g-1", "a", NULL), "");
    world_free(w);
}

/* ---- pods that passed filter on another node at that moment ---- */

static void an_ordinary_pod_on_its_way_does_not_overcommit_a_node(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_pod(w, "o", NULL, 1);
    world_filter(w, "o"); /* both nodes pass; kube-scheduler takes "a" */
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 2);
    uint64_t call = world_bind(w, "o", "a");
    assert_true(world_answer(w, call) && world_answer(w, call)[0]);
    assert_int_equal(world_used(w, "a", "nvidia.com/gpu"), 1);
    world_free(w);
}

static struct gang_pod_facts *with_port(struct gang_pod_facts *f)
{
    f->host_ports = xcalloc(1, sizeof *f->host_ports);
    f->n_host_ports = 1;
    f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 8080};
    return f;
}

static void an_ordinary_pod_on_its_way_does_not_take_a_port_twice(void **state)
{
    (void)state;
    struct world *w = world_express();
    world_node(w, "a", 4);
    world_group(w, "g", 1);
    world_pod_set(w, with_port(world_pod_facts("o", NULL, 1)));
    world_filter(w, "o");
    world_pod_set(w, with_port(world_pod_facts("g-0", "g", 1)));
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 1);
    uint64_t call = world_bind(w, "o", "a");
    assert_true(world_answer(w, call) && world_answer(w, call)[0]);
    world_free(w);
}

/* ---- what else keeps a gang from the lane ---- */

static void a_gate_that_the_watch_still_shows_keeps_the_gang_off_the_lane(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.express_lane = config.gates = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts(i ? "g-1" : "g-0", "g", 1);
        f->gated = true;
        world_pod_set(w, f);
    }
    assert_int_equal(w->n_ungated, 2); /* kube-scheduler sees it at once, muster's watch later */
    must_not_use_the_lane(w);
}

static void a_gang_whose_bindings_were_refused_does_not_use_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    world_result(w, "g-0", "a", OUTCOME_REFUSED);
    world_result(w, "g-1", "b", OUTCOME_REFUSED);
    assert_string_equal(world_state(w, "g"), "BackedOff");
    world_wait(w, SECONDS(10));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_forget(w);
    world_try(w, "g-0");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    world_try(w, "g-1");
    assert_int_equal(w->n_bindings, 2);
    assert_int_equal(express_bindings(w), 1); /* from the first commit */
    world_free(w);
}

/* Keeps the pods of the app "web" off the host of this pod. */
static struct gang_pod_facts *keeping_web_away(struct gang_pod_facts *f)
{
    f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
    f->n_anti_affinity = 1;
    select_web(&f->anti_affinity[0]);
    return f;
}

/* A pod may be assumed on a node as soon as filter has returned the node. */
static void
a_pod_that_passed_filter_and_keeps_members_out_of_its_zone_keeps_them_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_node(w, "z", 1);
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 1);
    f->wide_anti_affinity = xcalloc(1, sizeof *f->wide_anti_affinity);
    f->n_wide_anti_affinity = 1;
    select_web(&f->wide_anti_affinity[0]);
    world_pod_set(w, f);
    world_pod_set(w, web("g-0", "g"));
    world_pod_set(w, web("g-1", "g"));
    assert_string_equal(world_filter_on(w, "o", "z", NULL), "z");
    must_not_use_the_lane(w);
}

static void host(struct world *w, const char *name, const char *hostname)
{
    struct gang_node_facts *n = world_gpu_node(name, 1);
    free(n->labels.items[0].value); /* its only label */
    n->labels.items[0].value = xstrdup(hostname);
    world_node_facts(w, n);
}

/* For kube-scheduler they are one host, and only one of the members may be there. */
static void anti_affinity_and_two_nodes_of_one_host_name_keep_the_gang_off_the_lane(void **state)
{
    (void)state;
    for (int anti_affinity = 0; anti_affinity < 2; anti_affinity++) {
        struct world *w = world_express();
        host(w, "a", "twin");
        host(w, "b", "twin");
        world_group(w, "g", 2);
        for (int i = 0; i < 2; i++) {
            struct gang_pod_facts *f = web(i ? "g-1" : "g-0", "g");
            world_pod_set(w, anti_affinity ? keeping_web_away(f) : f);
        }
        world_try(w, "g-0");
        assert_int_equal(w->n_bindings, anti_affinity ? 0 : 2);
        world_free(w);
    }
    struct world *w = world_express(); /* now the two nodes have different host names */
    host(w, "a", "twin");
    host(w, "b", "twin");
    host(w, "c", "twin");
    host(w, "b", "b");
    world_node_gone(w, "c");
    world_group(w, "g", 2);
    world_pod_set(w, keeping_web_away(web("g-0", "g")));
    world_pod_set(w, keeping_web_away(web("g-1", "g")));
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void an_ordinary_pod_on_its_way_does_not_join_pods_its_anti_affinity_excludes(void **state)
{
    (void)state;
    struct world *w = world_express();
    world_node(w, "a", 4);
    world_group(w, "g", 1);
    world_pod_set(w, keeping_web_away(world_pod_facts("o", NULL, 1)));
    assert_string_equal(world_filter(w, "o"), "a");
    world_pod_set(w, web("g-0", "g"));
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 1);
    uint64_t call = world_bind(w, "o", "a");
    assert_true(world_answer(w, call) && world_answer(w, call)[0]);
    assert_int_equal(w->n_bindings, 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P03_the_first_member_at_bind_binds_all),
        cmocka_unit_test(at_the_limit_of_holds_the_lane_still_works),
        cmocka_unit_test(without_the_setting_every_member_must_come_to_bind),
        cmocka_unit_test(an_unmodelled_constraint_of_one_member_keeps_the_gang_off_the_lane),
        cmocka_unit_test(
            an_ordinary_pod_that_keeps_members_out_of_its_zone_keeps_them_off_the_lane),
        cmocka_unit_test(a_member_that_the_watch_has_not_shown_keeps_the_gang_off_the_lane),
        cmocka_unit_test(another_pods_nomination_to_a_planned_node_keeps_the_gang_off_the_lane),
        cmocka_unit_test(a_nomination_older_than_its_node_keeps_the_gang_off_the_lane),
        cmocka_unit_test(a_cleared_nomination_does_not_keep_the_gang_off_the_lane),
        cmocka_unit_test(a_pod_event_older_than_a_nomination_does_not_clear_it),
        cmocka_unit_test(a_member_with_a_spread_keeps_the_gang_off_the_lane),
        cmocka_unit_test(no_express_binding_to_a_node_missing_from_a_siblings_complete_list),
        cmocka_unit_test(a_node_that_a_nominated_sibling_fills_may_be_missing_from_a_list),
        cmocka_unit_test(no_express_binding_to_a_node_missing_from_the_members_own_list),
        cmocka_unit_test(no_express_binding_to_a_slot_swapped_away_from_a_missing_node),
        cmocka_unit_test(an_express_commit_waits_for_expected_members),
        cmocka_unit_test(extras_with_a_slot_are_bound_with_the_others),
        cmocka_unit_test(a_recovering_gang_does_not_use_the_lane),
        cmocka_unit_test(while_a_watch_is_behind_every_member_must_come_to_bind),
        cmocka_unit_test(the_lane_opens_for_a_member_at_bind_when_the_watches_catch_up),
        cmocka_unit_test(filter_and_bind_confirm_the_node_of_a_member_bound_by_the_lane),
        cmocka_unit_test(a_member_bound_by_the_lane_cannot_be_bound_to_another_node),
        cmocka_unit_test(filter_returns_no_node_when_the_bound_node_is_not_offered),
        cmocka_unit_test(an_ordinary_pod_on_its_way_does_not_overcommit_a_node),
        cmocka_unit_test(an_ordinary_pod_on_its_way_does_not_take_a_port_twice),
        cmocka_unit_test(a_gate_that_the_watch_still_shows_keeps_the_gang_off_the_lane),
        cmocka_unit_test(a_gang_whose_bindings_were_refused_does_not_use_the_lane),
        cmocka_unit_test(
            a_pod_that_passed_filter_and_keeps_members_out_of_its_zone_keeps_them_off_the_lane),
        cmocka_unit_test(anti_affinity_and_two_nodes_of_one_host_name_keep_the_gang_off_the_lane),
        cmocka_unit_test(an_ordinary_pod_on_its_way_does_not_join_pods_its_anti_affinity_excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
