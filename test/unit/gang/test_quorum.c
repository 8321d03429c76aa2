/* SPDX-License-Identifier: Apache-2.0 */
/* Minimums of parts of a gang: subgroups, tasks, equal parts. */
#include <stdio.h>

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- subgroups ---- */

static void C11_every_subgroup_needs_its_minimum(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 3);
    struct gang_group_facts *f = world_group_facts("g", 0);
    world_subgroup(f, "launcher", NULL, 1);
    world_subgroup(f, "worker", NULL, 2);
    world_group_set(w, f);
    world_role(w, "w0", "g", "worker", 1);
    world_role(w, "w1", "g", "worker", 1);
    world_role(w, "w2", "g", "worker", 1);
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 of 3 members exist (subgroup launcher: 0 of 1)");
    world_role(w, "x", "g", "luncher", 1);
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 of 3 members exist (subgroup launcher: 0 of 1); x names "
                        "subgroup luncher, which PodGroup default/g does not have");
    world_pod_gone(w, "x");
    world_role(w, "l", "g", "launcher", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "n", GPU), 3);
    uint64_t a = world_try(w, "w0"), b = world_try(w, "w1");
    assert_true(a && b);
    assert_null(world_answer(w, a)); /* two workers are not a quorum, and three are not either */
    assert_int_equal(world_try(w, "w2"), 0);
    world_try(w, "l");
    assert_string_equal(world_state(w, "g"), "Committing");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void C11_the_subgroup_of_the_short_members_is_named(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 2);
    struct gang_group_facts *f = world_group_facts("g", 0);
    world_subgroup(f, "launcher", NULL, 1);
    world_subgroup(f, "worker", NULL, 2);
    world_group_set(w, f);
    world_role(w, "l", "g", "launcher", 0);
    world_role(w, "w0", "g", "worker", 2);
    world_role(w, "w1", "g", "worker", 2);
    assert_string_equal(
        world_reason(w, "g"),
        "gang default/g: 3 members needed, room for 2 (2 short of nvidia.com/gpu, for subgroup "
        "worker)");
    world_node(w, "m", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void C11_the_shortages_of_members_of_several_sizes_are_added_up(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 0);
    struct gang_group_facts *f = world_group_facts("g", 0);
    world_subgroup(f, "head", NULL, 1);
    world_subgroup(f, "worker", NULL, 2);
    world_group_set(w, f);
    world_role(w, "h", "g", "head", 1);
    world_role(w, "w0", "g", "worker", 2);
    world_role(w, "w1", "g", "worker", 2);
    assert_string_equal(
        world_reason(w, "g"),
        "gang default/g: 3 members needed, room for 0 (5 short of nvidia.com/gpu, for subgroup "
        "worker)");
    world_free(w);
}

static void C11_nested_subgroups_count_below_their_parent(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    struct gang_group_facts *f = world_group_facts("g", 0);
    f->min_children = 1;
    world_subgroup(f, "decode", NULL, 3);
    world_subgroup(f, "leader", "decode", 1);
    world_subgroup(f, "worker", "decode", 1);
    world_subgroup(f, "prefill", NULL, 2);
    world_group_set(w, f);
    world_role(w, "l", "g", "leader", 1);
    world_role(w, "w0", "g", "worker", 1);
    assert_string_equal(world_state(w, "g"),
                        "Assembling"); /* decode needs three members, prefill two */
    world_role(w, "p0", "g", "prefill", 1);
    world_role(w, "p1", "g", "prefill", 1);
    assert_string_equal(world_state(w, "g"), "Planned"); /* one of the two is enough */
    assert_int_equal(world_reserved(w, "n", GPU), 2); /* decode is incomplete and gets no slots */
    world_role(w, "w1", "g", "worker", 1);
    assert_int_equal(world_reserved(w, "n", GPU), 5); /* a complete decode joins the plan */
    world_free(w);
}

static void C11_if_one_of_several_subgroups_is_enough_one_that_fits_is_chosen(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 2);
    struct gang_group_facts *f = world_group_facts("g", 0);
    f->min_children = 1;
    world_subgroup(f, "a", NULL, 1);
    world_subgroup(f, "b", NULL, 2);
    world_group_set(w, f);
    world_role(w, "a0", "g", "a", 4); /* does not fit on any node */
    world_role(w, "b0", "g", "b", 1);
    world_role(w, "b1", "g", "b", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_try(w, "b0");
    world_try(w, "b1");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

/* A Volcano subGroupPolicy: parts of `size` pods each; `needed` of them are needed. */
static struct gang_group_facts *parts(const char *name, int size, int needed)
{
    struct gang_group_facts *f = world_group_facts(name, 0);
    struct gang_subgroup *s = world_subgroup(f, "replica", NULL, 0);
    s->by_labels = true;
    s->split_by = xcalloc(1, sizeof *s->split_by);
    s->split_by[s->n_split_by++] = xstrdup("replica");
    s->part_size = size;
    s->min_children = needed;
    return f;
}

static void part_pod(struct world *w, const char *name, const char *replica, int gpus)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", gpus);
    gang_kvs_add(&f->labels, "replica", replica);
    world_pod_set(w, f);
}

static void C11_only_complete_equal_parts_count(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 5);
    world_group_set(w, parts("g", 2, 2));
    part_pod(w, "a0", "a", 1);
    part_pod(w, "b0", "b", 1);
    part_pod(w, "c0", "c", 1);
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 of 4 members exist (subgroup replica: 2 of 4)");
    part_pod(w, "a1", "a", 1);
    assert_string_equal(world_state(w, "g"), "Assembling"); /* only one part is complete */
    part_pod(w, "c1", "c", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "n", GPU), 4); /* b0 alone is not a complete part */
    assert_string_equal(world_filter(w, "b0"), "");
    const char *names[] = {"a0", "a1", "c0", "c1"};
    for (size_t i = 0; i < 4; i++)
        world_try(w, names[i]);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void C11_a_part_without_members_does_not_count(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    struct gang_group_facts *f = parts("g", 2, -1); /* every existing part is needed */
    world_group_set(w, f);
    part_pod(w, "a0", "a", 1);
    part_pod(w, "a1", "a", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    part_pod(w, "b0", "b", 1);
    assert_string_equal(world_state(w, "g"), "Assembling");
    world_pod_gone(w, "b0");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void C11_members_are_expected_only_for_known_subgroups(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 8);
    struct gang_group_facts *f = world_group_facts("g", 0);
    world_subgroup(f, "launcher", NULL, 1);
    world_subgroup(f, "worker", NULL, 3);
    world_group_set(w, f);
    world_role(w, "w0", "g", "worker", 2);
    assert_string_equal(world_state(w, "g"),
                        "Assembling"); /* the requests of the launcher are unknown */
    world_role(w, "l", "g", "launcher", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "n", GPU),
                     7); /* two more workers are expected, equal to w0 */
    assert_true(world_try(w, "w0"));
    world_role(w, "w1", "g", "worker", 2);
    world_wait(w, SECONDS(4)); /* one worker never comes */
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_int_equal(world_reserved(w, "n", GPU), 0);
    world_free(w);
}

/* ---- contradictions ---- */

static void assert_refused(struct world *w, struct gang_group_facts *f, const char *text)
{
    world_group_set(w, f);
    world_members(w, "g", 0, 3, 1);
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_string_equal(world_reason(w, "g"), text);
    world_filter(w, "g-0");
    assert_non_null(strstr(w->refusal, text));
    assert_non_null(strstr(w->last_status, text));
    world_group_gone(w, "g");
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "g-%d", i);
        world_pod_gone(w, name);
    }
}

static void C11_contradictory_podgroups_are_refused_with_the_field(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);

    struct gang_group_facts *f = world_group_facts("g", 4);
    f->max_member = 3;
    assert_refused(w, f,
                   "PodGroup default/g: spec.maxMember is 3, but spec.minMember is 4; raise "
                   "spec.maxMember or remove it");

    f = world_group_facts("g", 1);
    world_subgroup(f, "a", "nobody", 1);
    assert_refused(
        w, f,
        "PodGroup default/g: spec.subGroups: subgroup a: its parent nobody does not exist; name "
        "another subgroup");

    f = world_group_facts("g", 1);
    world_subgroup(f, "a", "b", 1)->min_children = 1;
    world_subgroup(f, "b", "a", 1)->min_children = 1;
    assert_refused(w, f,
                   "PodGroup default/g: spec.subGroups: subgroup b: its parents lead back to this "
                   "subgroup; remove one of them");

    f = world_group_facts("g", 1);
    world_subgroup(f, "a", NULL, 1);
    world_subgroup(f, "a", NULL, 2);
    assert_refused(
        w, f,
        "PodGroup default/g: spec.subGroups: two subgroups have the name a; give each its own "
        "name");

    f = world_group_facts("g", 0);
    world_subgroup(f, "a", NULL, 1);
    f->min_children = 2;
    assert_refused(
        w, f,
        "PodGroup default/g: spec.minSubGroup is 2, but the PodGroup has 1 subgroups at the top "
        "level; lower spec.minSubGroup or add subgroups");

    f = world_group_facts("g", 0);
    world_subgroup(f, "a", NULL, 2);
    world_subgroup(f, "b", NULL, 2);
    f->max_member = 3;
    assert_refused(
        w, f,
        "PodGroup default/g: the minimums need 4 members, but spec.maxMember is 3; raise "
        "spec.maxMember or lower the minimums");

    f = world_group_facts("g", -1);
    assert_refused(w, f, "PodGroup default/g: spec.minMember is -1; it must be 0 to 1000000");

    f = world_group_facts("g", 1);
    f->min_member = INT64_C(2147483648);
    assert_refused(w, f,
                   "PodGroup default/g: spec.minMember is 2147483648; it must be 0 to 1000000");

    f = world_group_facts("g", 1);
    f->invalid = xstrdup("spec.minMember is \"two\"; write a number");
    assert_refused(w, f, "PodGroup default/g: spec.minMember is \"two\"; write a number");
    world_free(w);
}

static void C11_a_corrected_podgroup_continues(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    struct gang_group_facts *f = world_group_facts("g", 2);
    world_subgroup(f, "a", "nobody", 1);
    world_group_set(w, f);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter(w, "g-0"), "");
    world_forget(w);
    world_group(w, "g", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_true(world_nominated(w, "g-0@n")); /* wakes the assert_refused member */
    world_free(w);
}

static void C11_a_subgroup_with_an_unknown_parent_does_no_harm(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    struct gang_group_facts *f = world_group_facts("g", 1);
    world_subgroup(f, "w", "nobody", 1);
    world_group_set(w, f);
    world_role(w, "a", "g", "w", 1);
    world_pod_gone(w, "a"); /* the signature goes with the pod */
    world_role(w, "b", "g", "w", 2);
    assert_non_null(strstr(world_reason(w, "g"), "parent nobody does not exist"));
    world_free(w);
}

static void C11_trees_beyond_the_bounds_are_refused(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct gang_group_facts *f = world_group_facts("g", 1);
    for (int i = 0; i < 40; i++) {
        char name[8], parent[8];
        snprintf(name, sizeof name, "s%d", i);
        snprintf(parent, sizeof parent, "s%d", i - 1);
        world_subgroup(f, name, i ? parent : NULL, 1);
    }
    world_group_set(w, f);
    assert_non_null(strstr(world_reason(w, "g"), "more than 16 levels deep"));
    f = world_group_facts("h", 1);
    for (int i = 0; i < 2000; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%d", i);
        world_subgroup(f, name, NULL, 1);
    }
    world_group_set(w, f);
    assert_non_null(strstr(world_reason(w, "h"), "2000 subgroups; muster takes at most 1024"));
    world_free(w);
}

static void C11_an_optional_subgroup_respects_the_maximum(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    struct gang_group_facts *f = world_group_facts("g", 0);
    f->max_member = 1;
    f->min_children = 0;
    world_subgroup(f, "b", NULL, 2);
    world_group_set(w, f);
    world_role(w, "b0", "g", "b", 1);
    world_role(w, "b1", "g", "b", 1);
    world_try(w, "b0");
    world_try(w, "b1");
    assert_int_equal(w->n_bindings, 1);
    world_free(w);
}

static void C11_the_only_subgroup_with_room_of_many_is_found(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct gang_group_facts *f = world_group_facts("g", 0);
    f->min_children = 1;
    for (int i = 0; i < 60; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%02d", i);
        world_subgroup(f, name, NULL, 1);
    }
    world_group_set(w, f);
    for (int i = 0; i < 60; i++) {
        char name[8], rack[8];
        snprintf(name, sizeof name, "p%02d", i);
        snprintf(rack, sizeof rack, "r%d", i);
        struct gang_pod_facts *p = world_pod_facts(name, "g", 1);
        snprintf(name, sizeof name, "s%02d", i);
        p->role = xstrdup(name);
        gang_kvs_add(&p->node_selector, "rack", rack);
        world_pod_set(w, p);
    }
    struct gang_node_facts *n = world_gpu_node("n", 1);
    gang_kvs_add(&n->labels, "rack", "r59");
    world_node_facts(w, n);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* ---- elastic ---- */

static void S06_an_elastic_gang_grows_to_its_maximum(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 1);
    struct gang_group_facts *f = world_group_facts("g", 2);
    f->max_member = 8;
    world_group_set(w, f);
    world_members(w, "g", 0, 10, 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_int_equal(world_reserved(w, "n0", GPU), 0);
    world_node(w, "n1", 4);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_try_members(w, "g", 0, 10);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_int_equal(world_used(w, "n0", GPU) + world_used(w, "n1", GPU), 5);
    world_node(w, "n2", 8);
    for (int i = 5; i < 10; i++) {
        char name[8];
        snprintf(name, sizeof name, "g-%d", i);
        if (strcmp(world_filter_on(w, name, "n2", NULL), "n2") == 0)
            world_bind(w, name, "n2");
    }
    world_all_bound(w);
    assert_int_equal(world_used(w, "n0", GPU) + world_used(w, "n1", GPU) + world_used(w, "n2", GPU),
                     8);
    assert_string_equal(world_filter(w, "g-9"), "");
    assert_string_equal(w->refusal, "gang default/g: spec.maxMember is reached; this pod waits "
                                    "until another member finishes");
    world_free(w);
}

static void S06_when_a_member_at_the_maximum_ends_the_next_one_starts(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    struct gang_group_facts *f = world_group_facts("g", 1);
    f->max_member = 1;
    world_group_set(w, f);
    world_members(w, "g", 0, 2, 1);
    world_try(w, "g-0");
    world_all_bound(w);
    assert_string_equal(world_filter(w, "g-1"), "");
    world_forget(w);
    world_pod_seen(w, "g-0", "g", 1, "n", PHASE_SUCCEEDED);
    assert_true(world_nominated(w, "g-1@n")); /* nothing else wakes it */
    assert_true(world_try(w, "g-1"));
    assert_true(world_binding(w, "g-1@n"));
    world_free(w);
}

static void S06_a_lowered_maximum_applies_to_an_existing_plan(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 2, 1);
    world_filter(w, "g-0");
    world_filter(w, "g-1");
    struct gang_group_facts *f = world_group_facts("g", 1);
    f->max_member = 1;
    world_group_set(w, f);
    world_bind(w, "g-0", "n");
    world_bind(w, "g-1", "n");
    assert_int_equal(w->n_bindings, 1);
    world_free(w);
}

/* ---- minResources ---- */

static void min_resources_delay_a_plan(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 4);
    struct gang_group_facts *f = world_group_facts("g", 2);
    gang_amounts_add(&f->min_resources, GPU, 6);
    world_group_set(w, f);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(
        world_reason(w, "g"),
        "PodGroup default/g: spec.minResources asks for 6 nvidia.com/gpu, but the nodes have only "
        "4 free");
    assert_int_equal(world_reserved(w, "n0", GPU), 0);
    world_node(w, "n1", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    /* minResources matter only before there is a plan. Later usage by other pods does not undo the
     * plan. */
    world_pod_seen(w, "other", NULL, 2, "n1", PHASE_RUNNING);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void min_resources_do_not_hide_the_shortage_of_members(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 1);
    struct gang_group_facts *f = world_group_facts("g", 2);
    gang_amounts_add(&f->min_resources, GPU, 100);
    world_group_set(w, f);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(
        world_reason(w, "g"),
        "gang default/g: 2 members needed, room for 1 (1 short of nvidia.com/gpu); PodGroup "
        "default/g: spec.minResources asks for 100 nvidia.com/gpu, but the nodes have only 1 free");
    world_free(w);
}

static void min_resources_of_all_podgroups_add_up(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 4);
    world_group(w, "top", 2);
    for (const char *name = "a"; name; name = *name == 'a' ? "b" : NULL) {
        struct gang_group_facts *f = world_group_facts(name, 1);
        f->parent = xstrdup("top");
        gang_amounts_add(&f->min_resources, GPU, 3);
        world_group_set(w, f);
        world_members(w, name, 0, 1, 1);
    }
    assert_string_equal(world_state(w, "top"), "Waiting");
    assert_string_equal(
        world_reason(w, "top"),
        "PodGroup default/a: spec.minResources of the gang's PodGroups add up to 6 nvidia.com/gpu, "
        "but the nodes have only 4 free");
    world_free(w);
}

/* ---- what would help ---- */

static void the_status_names_what_would_make_the_gang_fit(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 2);
    world_node(w, "n1", 2);
    world_node(w, "n2", 2);
    world_group(w, "g", 8);
    world_members(w, "g", 0, 8, 1);
    assert_string_equal(world_help(w, "g"),
                        "2 more nvidia.com/gpu on any of 3 nodes; or set minMember to 6");
    world_group(w, "h", 2);
    struct gang_pod_facts *f = world_pod_facts("h-0", "h", 1);
    gang_kvs_add(&f->node_selector, "zone", "a");
    world_pod_set(w, f);
    world_pod(w, "h-1", "h", 1);
    assert_string_equal(world_help(w, "h"),
                        "a node that matches the node selector, affinity and tolerations of h-0; "
                        "or set minMember to 1");
    world_node(w, "n3", 8);
    assert_string_equal(world_help(w, "g"), "");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(C11_every_subgroup_needs_its_minimum),
        cmocka_unit_test(C11_the_subgroup_of_the_short_members_is_named),
        cmocka_unit_test(C11_the_shortages_of_members_of_several_sizes_are_added_up),
        cmocka_unit_test(C11_nested_subgroups_count_below_their_parent),
        cmocka_unit_test(C11_if_one_of_several_subgroups_is_enough_one_that_fits_is_chosen),
        cmocka_unit_test(C11_only_complete_equal_parts_count),
        cmocka_unit_test(C11_a_part_without_members_does_not_count),
        cmocka_unit_test(C11_members_are_expected_only_for_known_subgroups),
        cmocka_unit_test(C11_contradictory_podgroups_are_refused_with_the_field),
        cmocka_unit_test(C11_a_corrected_podgroup_continues),
        cmocka_unit_test(C11_a_subgroup_with_an_unknown_parent_does_no_harm),
        cmocka_unit_test(C11_trees_beyond_the_bounds_are_refused),
        cmocka_unit_test(C11_an_optional_subgroup_respects_the_maximum),
        cmocka_unit_test(C11_the_only_subgroup_with_room_of_many_is_found),
        cmocka_unit_test(S06_an_elastic_gang_grows_to_its_maximum),
        cmocka_unit_test(S06_when_a_member_at_the_maximum_ends_the_next_one_starts),
        cmocka_unit_test(S06_a_lowered_maximum_applies_to_an_existing_plan),
        cmocka_unit_test(min_resources_delay_a_plan),
        cmocka_unit_test(min_resources_do_not_hide_the_shortage_of_members),
        cmocka_unit_test(min_resources_of_all_podgroups_add_up),
        cmocka_unit_test(the_status_names_what_would_make_the_gang_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
