/* SPDX-License-Identifier: Apache-2.0 */
/* What `muster explain` tells about a gang. */
#include <stdio.h>

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

static struct gang_explained explain(struct world *w, const char *name)
{
    char api_group[] = "test", ns[] = "default";
    const struct gang_ref ref = {api_group, ns, (char *)(uintptr_t)name};
    struct gang_explained x;
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_STATE, &x));
    return x;
}

/* Nodes of 4 GPUs and one without any. */
static struct world *three_nodes(void)
{
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_node(w, "b", 4);
    world_node(w, "cpu", 0);
    return w;
}

static void an_unknown_gang_is_not_explained(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    char text[] = "x";
    const struct gang_ref ref = {text, text, text};
    struct gang_explained x;
    assert_false(gang_core_explain(w->core, &ref, GANG_EXPLAIN_STATE, &x));
    world_free(w);
}

static void the_short_resource_and_its_holders_are_named(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    world_pod_seen(w, "single", NULL, 1, "a", PHASE_RUNNING);
    world_group(w, "other", 1);
    world_pod_seen(w, "other-0", "other", 2, "b", PHASE_RUNNING);
    world_pod_seen(w, "other-1", "other", 1, "b", PHASE_RUNNING);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 3, 2);
    assert_string_equal(world_state(w, "g"), "Waiting");
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.n_pods, 3);
    assert_int_equal(x.n_signatures, 1);
    const struct gang_explained_signature *s = &x.signatures[0];
    assert_int_equal(s->pods, 3);
    assert_int_equal(s->nodes, 3);
    assert_int_equal(s->passing, 3);
    assert_int_equal(s->able, 2);
    assert_int_equal(s->roomy, 1);
    assert_int_equal(s->fit, 1);
    assert_string_equal(s->resource, GPU);
    assert_int_equal(s->each, 2);
    assert_int_equal(s->free, 4);
    assert_int_equal(s->largest, 3);
    assert_string_equal(x.held, GPU);
    assert_int_equal(x.n_holders, 2);
    assert_string_equal(x.holders[0].gang->name, "other");
    assert_int_equal(x.holders[0].amount, 3);
    assert_int_equal(x.holders[0].pods, 2);
    assert_int_equal(x.holders[0].reserved, 0);
    assert_null(x.holders[1].gang);
    assert_string_equal(x.holders[1].pod->name, "single");
    assert_int_equal(x.waiting, 1);
    assert_true(x.attempt_until > w->now);
    assert_int_equal(x.backoff_until, 0);
    gang_explained_done(&x);
    world_free(w);
}

static void reservations_count_as_holders(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    world_group(w, "planned", 6);
    world_members(w, "planned", 0, 6, 1);
    assert_string_equal(world_state(w, "planned"), "Planned");
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 1);
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.n_holders, 1);
    assert_int_equal(x.holders[0].amount, 6);
    assert_int_equal(x.holders[0].reserved, 6);
    gang_explained_done(&x);
    x = explain(w, "planned");
    assert_int_equal(x.n_signatures, 0); /* every member has a slot */
    assert_null(x.held);
    assert_int_equal(x.units[0].planned, 6);
    gang_explained_done(&x);
    world_free(w);
}

static void at_most_ten_holders_are_named(void **state)
{
    (void)state;
    struct world *w = world_new();
    char name[16];
    world_node(w, "a", 16);
    for (int i = 0; i < 14; i++) {
        snprintf(name, sizeof name, "p%02d", i);
        world_pod_seen(w, name, NULL, i == 7 ? 2 : 1, "a", PHASE_RUNNING);
    }
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.n_holders, 10);
    assert_string_equal(x.holders[0].pod->name, "p07");
    assert_string_equal(x.holders[1].pod->name, "p00");
    assert_string_equal(x.holders[9].pod->name, "p09");
    assert_int_equal(x.n_others, 4);
    assert_int_equal(x.others_amount, 4);
    gang_explained_done(&x);
    world_free(w);
}

static void members_are_explained_by_signature(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    world_group(w, "g", 4);
    world_pod(w, "big-0", "g", 5);
    world_members(w, "g", 0, 3, 1);
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.n_signatures, 2);
    assert_int_equal(x.signatures[0].pods, 1);
    assert_int_equal(x.signatures[0].able, 0);
    assert_string_equal(x.signatures[0].resource, GPU);
    assert_int_equal(x.signatures[1].pods, 3);
    assert_null(x.signatures[1].resource);
    assert_int_equal(x.signatures[1].fit, 8);
    assert_int_equal(x.pods[0].signature, 0);
    assert_int_equal(x.pods[3].signature, 1);
    gang_explained_done(&x);
    /* Only this many signatures are shown. Members of the others are only counted. */
    world_group(w, "g", 44);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%02d", i);
        world_pod_shaped(w, name, "g", 1, 1000 + i, 0);
    }
    x = explain(w, "g");
    assert_int_equal(x.n_signatures, 16);
    assert_int_equal(x.n_pods, 44);
    assert_int_equal(x.pods[43].signature, -1);
    gang_explained_done(&x);
    world_free(w);
}

static void infeasible_nodes_are_counted(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 3);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_filter_on(w, "g-0", "b cpu",
                    NULL); /* a complete list without "a": kube-scheduler refuses "a" */
    world_filter_on(w, "g-1", "b cpu", NULL);
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.n_signatures, 1);
    assert_int_equal(x.signatures[0].roomy, 2);
    assert_int_equal(x.signatures[0].refused, 1);
    assert_int_equal(x.signatures[0].fit, 1);
    assert_null(x.signatures[0].resource); /* no resource is short */
    assert_true(x.infeasible_until > w->now);
    gang_explained_done(&x);
    world_free(w);
}

static void host_ports_and_cordons_are_counted(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    struct gang_pod_facts *busy = world_pod_facts("busy", NULL, 0);
    busy->host_ports = xcalloc(1, sizeof *busy->host_ports);
    busy->n_host_ports = 1;
    busy->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
    busy->node = xstrdup("a");
    world_pod_set(w, busy);
    struct gang_node_facts *cordoned = world_gpu_node("b", 4);
    cordoned->unschedulable = true;
    world_node_facts(w, cordoned);
    world_group(w, "g", 2);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->n_host_ports = 1;
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
        world_pod_set(w, f);
    }
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.signatures[0].nodes, 3);
    assert_int_equal(x.signatures[0].passing, 2);
    assert_int_equal(x.signatures[0].ports, 1);
    assert_int_equal(x.signatures[0].roomy, 0);
    assert_int_equal(x.signatures[0].fit, 0);
    gang_explained_done(&x);
    world_free(w);
}

static void each_subgroup_has_its_own_figures(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    struct gang_group_facts *g = gang_group_facts_new();
    g->ref = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup("g")};
    g->uid = xstrdup("uid-g");
    g->min_member = 3;
    g->subgroups = xcalloc(2, sizeof *g->subgroups);
    g->n_subgroups = 2;
    g->subgroups[0] =
        (struct gang_subgroup){xstrdup("leader"), .min_member = 1, .min_children = -1};
    g->subgroups[1] =
        (struct gang_subgroup){xstrdup("worker"), .min_member = 2, .min_children = -1};
    struct gang_event ev = {.kind = GANG_EV_GROUP_SET, .group = g};
    world_step(w, &ev, 1);
    struct gang_pod_facts *leader = world_pod_facts("leader-0", "g", 1);
    leader->role = xstrdup("leader");
    world_pod_set(w, leader);
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.n_units, 3);
    assert_int_equal(x.units[0].depth, 0);
    assert_int_equal(x.units[0].needs, 3);
    assert_int_equal(x.units[0].children, 2);
    assert_int_equal(x.units[0].children_needed, 2);
    assert_string_equal(x.units[1].subgroup, "leader");
    assert_int_equal(x.units[1].members, 1);
    assert_int_equal(x.units[2].depth, 1);
    assert_int_equal(x.units[2].needs, 2);
    assert_int_equal(x.units[2].members, 0);
    gang_explained_done(&x);
    world_free(w);
}

static void an_earmark_is_shown_for_its_gang_and_for_those_behind(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.starvation = SECONDS(10);
    struct world *w = world_new_with(config, true);
    world_node(w, "a", 4);
    world_pod_seen(w, "single", NULL, 1, "a", PHASE_RUNNING);
    world_group(w, "large", 2);
    world_members(w, "large", 0, 2, 2);
    world_wait(w, SECONDS(11));
    world_group(w, "late", 2);
    world_members(w, "late", 0, 2, 1);
    struct gang_explained x = explain(w, "large");
    assert_true(x.has_earmark);
    assert_false(x.respects_earmark);
    gang_explained_done(&x);
    x = explain(w, "late");
    assert_false(x.has_earmark);
    assert_true(x.respects_earmark);
    assert_string_equal(x.earmark_gang->name, "large");
    assert_int_equal(x.signatures[0].earmarked, 1);
    assert_int_equal(x.waiting, 2);
    gang_explained_done(&x);
    world_wait(w, SECONDS(51));
    x = explain(w, "large");
    assert_string_equal(world_state(w, "large"), "BackedOff");
    assert_true(x.backoff_until > w->now);
    assert_int_equal(x.attempt_until, 0);
    gang_explained_done(&x);
    world_free(w);
}

/* 3 members of 2 GPUs; a has 3 free, b has 1. */
static void explain_tries_out_what_would_make_room(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    world_pod_seen(w, "single", NULL, 1, "a", PHASE_RUNNING);
    world_group(w, "other", 1);
    world_pod_seen(w, "other-0", "other", 2, "b", PHASE_RUNNING);
    world_pod_seen(w, "other-1", "other", 1, "b", PHASE_RUNNING);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 3, 2);
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.more_nodes, 1);
    assert_string_equal(x.like, "a");
    assert_string_equal(x.holders[0].gang->name, "other");
    assert_int_equal(x.holders[0].enough, GANG_YES);
    assert_string_equal(x.holders[1].pod->name, "single");
    assert_int_equal(x.holders[1].enough, GANG_NO);
    gang_explained_done(&x);
    world_free(w);
}

/* Without `other`, both members fit, but not the 8 GPUs of minResources. */
static void what_would_help_includes_min_resources(void **state)
{
    (void)state;
    struct world *w = three_nodes();
    world_pod_seen(w, "single", NULL, 4, "a", PHASE_RUNNING);
    world_group(w, "other", 1);
    world_pod_seen(w, "other-0", "other", 4, "b", PHASE_RUNNING);
    struct gang_group_facts *f = world_group_facts("g", 2);
    gang_amounts_add(&f->min_resources, GPU, 8);
    world_group_set(w, f);
    world_members(w, "g", 0, 2, 1);
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.n_holders, 2);
    assert_int_equal(x.holders[0].enough, GANG_NO);
    assert_int_equal(x.holders[1].enough, GANG_NO);
    assert_int_equal(x.more_nodes, 2);
    gang_explained_done(&x);
    world_free(w);
}

/* A host port allows one member per node. Counting GPUs alone, one more node would be enough. */
static void the_number_of_missing_nodes_follows_the_rules_between_pods(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_group(w, "g", 3);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", 4);
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
        f->n_host_ports = 1;
        world_pod_set(w, f);
    }
    struct gang_explained x = explain(w, "g");
    assert_int_equal(x.more_nodes, 2);
    gang_explained_done(&x);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_gang_is_not_explained),
        cmocka_unit_test(the_short_resource_and_its_holders_are_named),
        cmocka_unit_test(explain_tries_out_what_would_make_room),
        cmocka_unit_test(what_would_help_includes_min_resources),
        cmocka_unit_test(the_number_of_missing_nodes_follows_the_rules_between_pods),
        cmocka_unit_test(reservations_count_as_holders),
        cmocka_unit_test(at_most_ten_holders_are_named),
        cmocka_unit_test(members_are_explained_by_signature),
        cmocka_unit_test(infeasible_nodes_are_counted),
        cmocka_unit_test(host_ports_and_cordons_are_counted),
        cmocka_unit_test(each_subgroup_has_its_own_figures),
        cmocka_unit_test(an_earmark_is_shown_for_its_gang_and_for_those_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
