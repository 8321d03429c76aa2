/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane, and the model check that is its licence. */
#include <stdio.h>
#include <string.h>

#include "test/lib/world.h"

static struct world *express_world(void)
{
    struct gang_config config = gang_config_default();
    config.assemble = 0;
    config.express = true;
    return world_new_with(config, true);
}

/* Two members on two nodes of one GPU each. */
static struct world *pair_world(void)
{
    struct world *w = express_world();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    return w;
}

static char *copy(const char *s)
{
    return xstrdup(s);
}

static uint64_t express_bindings(const struct world *w)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.bindings_express;
}

static uint64_t mismatches(const struct world *w, enum gang_predicate p)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.mismatches[p];
}

static bool lane_is_open(const struct world *w)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.express;
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
    assert_string_equal(world_state(w, "g"), "Placed");
    world_free(w);
}

/* One call is all that such a gang ever holds, and it ends at once. */
static void at_the_limit_of_holds_the_lane_needs_none(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        struct gang_config config = gang_config_default();
        config.express = lane;
        config.max_holds = 1;
        struct world *w = world_new_with(config, true);
        world_node(w, "a", 4);
        world_group(w, "g", 2);
        world_members(w, "g", 0, 2, 1);
        world_pod(w, "single", NULL, 1);
        uint64_t other = world_bind(w, "single", "a"); /* open until its Binding is written */
        uint64_t call = world_try(w, "g-0");
        assert_null(world_answer(w, other));
        assert_string_equal(world_state(w, "g"), lane ? "Committing" : "Planned");
        assert_int_equal(world_answer(w, call) == NULL, lane);
        world_free(w);
    }
}

static void without_the_setting_every_member_comes_to_bind(void **state)
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

/* Both ways of filling the gang: one member is as the test wants it, the other is plain. */
static void goes_the_normal_way(struct world *w)
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

static void a_member_with_a_constraint_that_is_not_modelled_keeps_all_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    struct gang_pod_facts *f = world_pod_facts("g-1", "g", 1);
    f->inexact = copy("volumes");
    world_pod(w, "g-0", "g", 1);
    world_pod_set(w, f);
    goes_the_normal_way(w);
}

/* "app" in (web), as a selector of pods of every namespace. */
static void select_web(struct gang_selector *s)
{
    s->all_namespaces = true;
    s->term.items = xcalloc(1, sizeof *s->term.items);
    s->term.n = 1;
    struct gang_requirement *r = &s->term.items[0];
    r->key = copy("app");
    r->op = MATCH_IN;
    r->values = xcalloc(1, sizeof *r->values);
    r->values[r->n_values++] = copy("web");
}

static struct gang_pod_facts *web(const char *name, const char *group)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    gang_kvs_add(&f->labels, "app", "web");
    return f;
}

/* An ordinary pod on a third node keeps pods of the app web out of its zone. */
static void shunning_pod(struct world *w)
{
    world_node(w, "z", 1);
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 1);
    f->node = copy("z");
    f->shuns = xcalloc(1, sizeof *f->shuns);
    f->n_shuns = 1;
    select_web(&f->shuns[0]);
    world_pod_set(w, f);
}

static void a_pod_that_keeps_members_out_of_its_zone_keeps_them_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    shunning_pod(w);
    world_pod_set(w, web("g-0", "g"));
    world_pod_set(w, web("g-1", "g"));
    goes_the_normal_way(w);

    w = pair_world(); /* it is gone again, or never meant these */
    shunning_pod(w);
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void a_member_that_the_watch_has_not_shown_keeps_all_off_the_lane(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_pod(w, "g-0", "g", 1);
    assert_string_equal(world_filter_facts(w, world_pod_facts("g-1", "g", 1), "a b"), "b");
    world_try(w, "g-0");
    assert_int_equal(w->n_bindings, 0);
    world_bind(w, "g-1", "b");
    assert_int_equal(w->n_bindings, 2);
    assert_int_equal(express_bindings(w), 0);
    world_free(w);
}

static void a_node_that_another_pod_is_nominated_to_is_left_to_the_scheduler(void **state)
{
    (void)state;
    struct world *w = pair_world();
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 1);
    f->nominated = copy("b");
    world_pod_set(w, f);
    world_members(w, "g", 0, 2, 1);
    goes_the_normal_way(w);
}

static void nodes_that_come_after_the_nomination_are_left_to_it_too(void **state)
{
    (void)state;
    struct gang_config config = gang_config_default();
    config.assemble = 0;
    config.express = true;
    struct world *w = world_new_with(config, false);
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 1);
    f->nominated = copy("b");
    world_pod_set(w, f);
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_sync(w);
    goes_the_normal_way(w);
}

/* An ordinary pod that the watch shows, nominated there or nowhere (NULL). */
static void nominated_pod(struct world *w, const char *node)
{
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 1);
    f->nominated = xstrdup_null(node);
    world_pod_set(w, f);
}

static void a_nomination_that_the_scheduler_has_cleared_is_forgotten(void **state)
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

static void an_event_older_than_a_nomination_does_not_undo_it(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_group(w, "h", 2);
    world_members(w, "h", 0, 2, 1); /* "a" and "b" are reserved */
    nominated_pod(w, NULL);
    assert_string_equal(world_filter(w, "o"), "");
    world_node(w, "c", 1);
    assert_true(world_nominated(w, "o@c"));
    nominated_pod(w, NULL); /* older than that */
    world_node(w, "d", 1);
    world_members(w, "g", 0, 2, 1); /* "c" and "d" */
    goes_the_normal_way(w);
}

static void a_member_that_is_to_be_spread_keeps_all_off_the_lane(void **state)
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
    struct gang_node_facts *n = world_gpu_node("a", 1);
    gang_kvs_add(&n->labels, "kubernetes.io/hostname", "a");
    world_node_facts(w, n);
    n = world_gpu_node("b", 1);
    gang_kvs_add(&n->labels, "kubernetes.io/hostname", "b");
    world_node_facts(w, n);
    goes_the_normal_way(w);
}

static void a_planned_node_that_a_whole_list_lacks_is_not_bound_to_unasked(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_node(w, "c", 1);
    world_members(w, "g", 0, 2, 1); /* "a" and "b" */
    assert_string_equal(world_filter_on(w, "g-0", "a c", NULL), "a");
    world_bind(w, "g-0", "a");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_bindings, 0); /* of its sibling the scheduler has said no to "b" */
    assert_string_equal(world_filter_on(w, "g-1", "a c", NULL), "c");
    world_bind(w, "g-1", "c");
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void a_place_that_was_swapped_away_is_not_bound_to_unasked(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_node(w, "c", 1);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter_on(w, "g-0", "b c", NULL), "b");
    world_bind(w, "g-0", "b");
    assert_int_equal(w->n_bindings, 0); /* "a" is its sibling's now, and was not on offer */
    world_free(w);
}

static void members_that_are_hoped_for_are_waited_for(void **state)
{
    (void)state;
    struct gang_config config = gang_config_default();
    config.express = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    world_try(w, "g-0");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_bindings, 0);
    world_pod(w, "g-1", "g", 1); /* now all exist: nobody need ask for it */
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void extras_with_a_place_are_bound_with_the_others(void **state)
{
    (void)state;
    struct world *w = express_world();
    world_node(w, "a", 3);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 3, 1);
    world_try(w, "g-2");
    assert_int_equal(w->n_bindings, 3);
    world_free(w);
}

static void a_gang_that_lost_a_member_after_its_commit_goes_the_normal_way(void **state)
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

static void while_a_watch_is_behind_every_member_comes_to_bind(void **state)
{
    (void)state;
    for (enum gang_watch of = 0; of < GANG_WATCHES; of++) {
        struct world *w = pair_world();
        world_members(w, "g", 0, 2, 1);
        world_watch(w, of, true); /* "b" may be cordoned, full or gone */
        goes_the_normal_way(w);
    }
}

static void a_watch_that_has_caught_up_opens_the_lane_to_who_waits_at_bind(void **state)
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

/* ---- kube-scheduler has not heard of it yet ---- */

static void a_member_bound_unasked_is_sent_to_its_node(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    assert_string_equal(world_filter(w, "g-1"), "b");
    uint64_t call = world_bind(w, "g-1", "b");
    assert_null(world_answer(w, call)); /* of the Binding that is under way */
    assert_int_equal(w->n_bindings, 2);
    world_all_bound(w);
    assert_string_equal(world_answer(w, call), "");
    assert_string_equal(world_filter(w, "g-1"), "b"); /* assigned, and the scheduler still behind */
    call = world_bind(w, "g-1", "b");
    assert_string_equal(world_answer(w, call), "");
    world_free(w);
}

static void a_bind_of_a_member_bound_unasked_to_another_node_is_refused(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    uint64_t call = world_bind(w, "g-1", "a");
    assert_non_null(strstr(world_answer(w, call), "b"));
    assert_int_equal(w->n_bindings, 2);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Placed");
    world_free(w);
}

static void its_node_not_on_offer_is_no_node(void **state)
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

/* ---- pods that were let through elsewhere at that moment ---- */

static void an_ordinary_pod_on_its_way_does_not_overcommit(void **state)
{
    (void)state;
    struct world *w = pair_world();
    world_pod(w, "o", NULL, 1);
    world_filter(w, "o"); /* passes both; the scheduler takes "a" */
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
    f->host_ports[0] = (struct gang_port){NULL, copy("TCP"), 8080};
    return f;
}

static void an_ordinary_pod_on_its_way_does_not_take_a_port_twice(void **state)
{
    (void)state;
    struct world *w = express_world();
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

/* ---- the model check ---- */

static const char *look(struct world *w, const char *names)
{
    return world_filter_facts(w, world_pod_facts("g-0", "g", 1), names);
}

static struct gang_pod_facts *beyond(const char *name)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->inexact = copy("volumes");
    return f;
}

/* A gang that waits for a member, so that nothing is ever placed. */
static struct world *checked_world(void)
{
    struct world *w = express_world();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_group(w, "g", 9);
    world_pod(w, "g-0", "g", 1);
    world_wait(w, SECONDS(2));
    return w;
}

static void a_difference_that_stands_a_second_look_closes_the_lane(void **state)
{
    (void)state;
    struct world *w = checked_world();
    look(w, "a");
    assert_true(lane_is_open(w));
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_false(lane_is_open(w));
    assert_int_equal(mismatches(w, PREDICATE_NONE), 1);
    assert_non_null(strstr(gang_core_model_wrong(w->core), "does not offer node b"));
    assert_true(world_event(w, "ModelMismatch"));
    look(w, "a"); /* the same, once */
    assert_int_equal(mismatches(w, PREDICATE_NONE), 1);
    world_free(w);
}

static void the_lane_stays_closed(void **state)
{
    (void)state;
    struct world *w = checked_world();
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
    struct world *w = checked_world();
    struct gang_pod_facts *f = with_port(world_pod_facts("there", NULL, 1));
    f->node = copy("a");
    world_pod_set(w, f);
    world_wait(w, SECONDS(2));
    look(w, "a");
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_false(lane_is_open(w));
    world_pod_set(w, with_port(world_pod_facts("o", NULL, 1)));
    world_wait(w, SECONDS(50));
    uint64_t call = world_bind(w, "o", "a");
    assert_true(world_answer(w, call) && world_answer(w, call)[0]);
    world_wait(w, SECONDS(11));
    world_bind(w, "o", "a");
    assert_true(world_binding(w, "o@a"));
    world_free(w);
}

static void a_node_offered_against_the_rules_is_a_difference(void **state)
{
    (void)state;
    struct world *w = checked_world();
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
    struct world *w = checked_world();
    look(w, "a");
    world_wait(w, SECONDS(2));
    look(w, "a b"); /* it is offered again: the scheduler was behind */
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_true(lane_is_open(w));
    world_free(w);
}

static void a_difference_about_a_node_that_changes_is_none(void **state)
{
    (void)state;
    struct world *w = checked_world();
    look(w, "a");
    world_wait(w, SECONDS(2));
    world_pod_seen(w, "o", NULL, 1, "b", PHASE_RUNNING);
    look(w, "a");
    world_wait(w, USEC_PER_SEC / 2);
    look(w, "a");
    assert_true(lane_is_open(w));
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_true(lane_is_open(w)); /* the first look of a new state */
    world_wait(w, SECONDS(2));
    look(w, "a");
    assert_false(lane_is_open(w));
    world_free(w);
}

static void a_sample_says_nothing_of_nodes_that_are_not_in_it(void **state)
{
    (void)state;
    struct gang_config config = gang_config_default();
    for (int whole = 0; whole < 2; whole++) {
        config.express = true;
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
        assert_int_equal(lane_is_open(w), !whole);
        world_free(w);
    }
}

static void the_call_for_its_nomination_says_nothing(void **state)
{
    (void)state;
    struct world *w = checked_world();
    for (int i = 0; i < 3; i++) {
        struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
        f->nominated = copy("a");
        world_filter_facts(w, f, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(lane_is_open(w));
    world_free(w);
}

static void pods_with_constraints_that_are_not_modelled_say_nothing(void **state)
{
    (void)state;
    struct world *w = checked_world();
    world_pod_set(w, beyond("g-1"));
    for (int i = 0; i < 3; i++) {
        world_filter_facts(w, beyond("g-1"), "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(lane_is_open(w));
    world_free(w);
}

static void a_pod_that_the_scheduler_has_otherwise_says_nothing(void **state)
{
    (void)state;
    struct world *w = checked_world();
    for (int i = 0; i < 3; i++) {
        world_filter_facts(w, world_pod_facts("g-0", "g", 2), "a"); /* it asks for more there */
        world_wait(w, SECONDS(2));
    }
    assert_true(lane_is_open(w));
    world_free(w);
}

static void room_that_may_be_taken_already_is_no_difference(void **state)
{
    (void)state;
    struct world *w = checked_world();
    world_pod(w, "o", NULL, 2);
    world_filter(w, "o"); /* assumed on "b", for all muster knows, until it is at bind */
    for (int i = 0; i < 3; i++) {
        look(w, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(lane_is_open(w));
    uint64_t call = world_bind(w, "o", "b");
    world_result(w, "o", "b", OUTCOME_OK);
    assert_string_equal(world_answer(w, call), "");
    for (int i = 0; i < 3; i++) { /* full, and both know it */
        look(w, "a");
        world_wait(w, SECONDS(2));
    }
    assert_true(lane_is_open(w));
    world_free(w);
}

static void a_node_with_a_nominated_pod_is_no_difference(void **state)
{
    (void)state;
    struct world *w = checked_world();
    struct gang_pod_facts *f = world_pod_facts("o", NULL, 2);
    f->nominated = copy("b");
    world_pod_set(w, f);
    for (int i = 0; i < 3; i++) {
        world_wait(w, SECONDS(2));
        look(w, "a");
    }
    assert_true(lane_is_open(w));
    world_free(w);
}

static void looks_are_paid_for_by_time(void **state)
{
    (void)state;
    struct world *w = checked_world();
    struct gang_stats before, after;
    gang_core_stats(w->core, &before);
    for (int i = 0; i < 60000; i++) /* two nodes each, in one moment */
        world_filter(w, "g-0");
    gang_core_stats(w->core, &after);
    assert_true(after.model_looks - before.model_looks >= 49000);
    assert_true(after.model_looks - before.model_looks <= 50001);
    world_wait(w, SECONDS(1));
    world_filter(w, "g-0");
    gang_core_stats(w->core, &before);
    assert_int_equal(before.model_looks, after.model_looks + 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P03_the_first_member_at_bind_binds_all),
        cmocka_unit_test(at_the_limit_of_holds_the_lane_needs_none),
        cmocka_unit_test(without_the_setting_every_member_comes_to_bind),
        cmocka_unit_test(a_member_with_a_constraint_that_is_not_modelled_keeps_all_off_the_lane),
        cmocka_unit_test(a_pod_that_keeps_members_out_of_its_zone_keeps_them_off_the_lane),
        cmocka_unit_test(a_member_that_the_watch_has_not_shown_keeps_all_off_the_lane),
        cmocka_unit_test(a_node_that_another_pod_is_nominated_to_is_left_to_the_scheduler),
        cmocka_unit_test(nodes_that_come_after_the_nomination_are_left_to_it_too),
        cmocka_unit_test(a_nomination_that_the_scheduler_has_cleared_is_forgotten),
        cmocka_unit_test(an_event_older_than_a_nomination_does_not_undo_it),
        cmocka_unit_test(a_member_that_is_to_be_spread_keeps_all_off_the_lane),
        cmocka_unit_test(a_planned_node_that_a_whole_list_lacks_is_not_bound_to_unasked),
        cmocka_unit_test(a_place_that_was_swapped_away_is_not_bound_to_unasked),
        cmocka_unit_test(members_that_are_hoped_for_are_waited_for),
        cmocka_unit_test(extras_with_a_place_are_bound_with_the_others),
        cmocka_unit_test(a_gang_that_lost_a_member_after_its_commit_goes_the_normal_way),
        cmocka_unit_test(while_a_watch_is_behind_every_member_comes_to_bind),
        cmocka_unit_test(a_watch_that_has_caught_up_opens_the_lane_to_who_waits_at_bind),
        cmocka_unit_test(a_member_bound_unasked_is_sent_to_its_node),
        cmocka_unit_test(a_bind_of_a_member_bound_unasked_to_another_node_is_refused),
        cmocka_unit_test(its_node_not_on_offer_is_no_node),
        cmocka_unit_test(an_ordinary_pod_on_its_way_does_not_overcommit),
        cmocka_unit_test(an_ordinary_pod_on_its_way_does_not_take_a_port_twice),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
