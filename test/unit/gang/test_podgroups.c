/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups that are placed together, PodGroups that only their pods declare, bad input. */
#include <stdio.h>

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

static void child(struct world *w, const char *name, const char *parent, int min)
{
    struct gang_group_facts *f = world_group_facts(name, min);
    f->parent = xstrdup(parent);
    world_group_set(w, f);
}

static void bundled(struct world *w, const char *name, int min, const char *a, const char *b)
{
    struct gang_group_facts *f = world_group_facts(name, min);
    f->bundle = xcalloc(2, sizeof *f->bundle);
    f->n_bundle = 2;
    f->bundle[0] = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup(a)};
    f->bundle[1] = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup(b)};
    world_group_set(w, f);
}

/* ---- parents ---- */

static void S07_a_parent_needs_its_children(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 2);
    world_group(w, "pipeline", 2);
    child(w, "prep", "pipeline", 2);
    world_pod(w, "prep-0", "prep", 0);
    world_pod(w, "prep-1", "prep", 0);
    assert_string_equal(world_state(w, "pipeline"), "Assembling");
    assert_string_equal(world_reason(w, "prep"),
                        "gang default/pipeline: 1 of 2 child PodGroups exist");
    child(w, "train", "pipeline", 4);
    world_members(w, "train", 0, 4, 1);
    assert_string_equal(world_state(w, "train"), "Waiting"); /* 4 GPUs needed, 2 there */
    assert_string_equal(world_filter(w, "prep-0"), "");      /* CPU alone would fit */
    assert_non_null(strstr(w->refusal, "PodGroup default/train"));
    world_node(w, "m", 2);
    assert_string_equal(world_state(w, "pipeline"), "Planned");
    uint64_t prep = world_try(w, "prep-0");
    world_try(w, "prep-1");
    world_try_members(w, "train", 0, 3);
    assert_null(world_answer(w, prep));
    world_try_members(w, "train", 3, 4);
    world_all_bound(w);
    assert_string_equal(world_answer(w, prep), "");
    assert_string_equal(world_state(w, "pipeline"), "Scheduled");
    assert_true(world_event(w, "PodGroup/train PodGroupScheduled"));
    assert_true(world_event(w, "PodGroup/pipeline PodGroupScheduled: 6 of 6"));
    world_free(w);
}

static void S07_children_may_come_before_their_parent(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    child(w, "a", "p", 1);
    world_members(w, "a", 0, 1, 1);
    assert_string_equal(world_reason(w, "a"),
                        "PodGroup default/a: its spec.parentPodGroup default/p does not exist");
    world_group(w, "p", 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

static void C11_parents_in_a_circle_are_said(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    child(w, "a", "b", 1);
    child(w, "b", "a", 1);
    world_members(w, "a", 0, 1, 1);
    assert_string_equal(world_state(w, "a"), "Assembling");
    assert_non_null(strstr(world_reason(w, "a"), "its own ancestor"));
    child(w, "c", "c", 1);
    assert_non_null(strstr(world_reason(w, "c"), "its own ancestor"));
    world_group(w, "b", 1); /* mended */
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

static void S07_a_child_that_leaves_while_held_takes_its_members_along(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "p", 2);
    child(w, "a", "p", 1);
    child(w, "b", "p", 1);
    world_members(w, "a", 0, 1, 1);
    world_members(w, "b", 0, 1, 1);
    uint64_t held = world_try(w, "a-0");
    assert_null(world_answer(w, held));
    world_group(w, "b", 1);
    assert_non_null(world_answer(w, held)); /* the plan was for both */
    assert_string_equal(world_state(w, "a"), "Assembling");
    assert_string_equal(world_state(w, "b"), "Planned");
    assert_true(world_try(w, "b-0"));
    assert_true(world_binding(w, "b-0@n"));
    world_free(w);
}

/* ---- bundles ---- */

static void a_bundle_is_placed_together(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 3);
    bundled(w, "a", 2, "a", "b");
    bundled(w, "b", 2, "a", "b");
    world_members(w, "a", 0, 2, 1);
    assert_string_equal(world_state(w, "a"), "Assembling");
    world_members(w, "b", 0, 2, 1);
    assert_string_equal(world_state(w, "a"), "Waiting");
    assert_int_equal(world_reserved(w, "n", GPU), 0);
    world_node(w, "m", 1);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_try_members(w, "a", 0, 2);
    assert_int_equal(w->n_bindings, 0);
    world_try_members(w, "b", 0, 2);
    assert_int_equal(w->n_bindings, 4);
    world_free(w);
}

static void nobody_ties_a_stranger_to_himself(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "victim", 1);
    world_members(w, "victim", 0, 1, 1);
    bundled(w, "a", 2, "a", "victim");
    assert_string_equal(world_state(w, "victim"), "Planned");
    assert_string_equal(
        world_reason(w, "a"),
        "PodGroup default/a: its gang group names default/victim, which does not name it");
    world_free(w);
}

/* ---- declared by pods alone ---- */

static void declaring(struct world *w, const char *name, int min, usec_t created)
{
    struct gang_pod_facts *f = world_pod_facts(name, "k", 1);
    f->created = created;
    f->declared = world_group_facts("k", min);
    free(f->declared->uid);
    f->declared->uid = xstrdup("");
    world_pod_set(w, f);
}

static void S13_pods_may_declare_their_group(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    declaring(w, "k-0", 2, 10);
    assert_string_equal(world_reason(w, "k"), "gang default/k: 1 of 2 members exist");
    declaring(w, "k-1", 2, 11);
    assert_string_equal(world_state(w, "k"), "Planned");
    assert_int_equal(w->n_statuses, 0); /* there is no object to write to */
    world_try(w, "k-0");
    world_try(w, "k-1");
    world_all_bound(w);
    assert_string_equal(world_state(w, "k"), "Scheduled");
    world_free(w);
}

static void S13_the_oldest_pods_word_counts(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    declaring(w, "k-1", 1, 11);
    declaring(w, "k-0", 3, 10); /* older, though it came later */
    assert_string_equal(world_reason(w, "k"), "gang default/k: 2 of 3 members exist");
    world_pod_gone(w, "k-0");
    assert_string_equal(world_state(w, "k"), "Planned");
    world_free(w);
}

static void S13_an_objects_word_goes_before_the_pods(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    declaring(w, "k-0", 3, 10);
    world_group(w, "k", 1);
    assert_string_equal(world_state(w, "k"), "Planned");
    world_group_gone(w, "k");
    assert_string_equal(world_reason(w, "k"), "gang default/k: 1 of 3 members exist");
    world_free(w);
}

/* ---- one class ---- */

static void classed(struct world *w, const char *name, const char *class)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->uniform.key = xstrdup("alibabacloud.com/compute-class");
    f->uniform.value = xstrdup(class);
    world_pod_set(w, f);
}

static void S12_members_of_two_classes_are_refused(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "g", 2);
    classed(w, "p0", "gpu-hpn");
    classed(w, "p1", "gpu");
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: members must have one alibabacloud.com/compute-class: p0 "
                        "has gpu-hpn, p1 has gpu");
    assert_string_equal(world_filter(w, "p0"), "");
    assert_non_null(strstr(w->refusal, "gpu-hpn"));
    world_pod_gone(w, "p1");
    classed(w, "p2", "gpu-hpn");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_try(w, "p0");
    world_try(w, "p2");
    world_all_bound(w);
    classed(w, "p3", "gpu"); /* does not touch those that run */
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

/* ---- bad links ---- */

static void a_pod_without_a_clear_link_is_refused_alone(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    struct gang_pod_facts *f = world_pod_facts("both", NULL, 1);
    f->bad_link = xstrdup("it names two PodGroups");
    world_pod_set(w, f);
    assert_string_equal(world_filter(w, "both"), "");
    assert_string_equal(w->refusal, "it names two PodGroups");
    assert_string_equal(world_answer(w, world_bind(w, "both", "n")), "it names two PodGroups");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void W01_a_pod_waits_for_its_group_to_be_made(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
    f->awaits_group = xstrdup("its PodGroup is being created from Job ml/p");
    world_pod_set(w, f);
    assert_string_equal(world_filter(w, "p"), "");
    assert_string_equal(w->refusal, "its PodGroup is being created from Job ml/p");
    assert_string_equal(world_answer(w, world_bind(w, "p", "n")),
                        "its PodGroup is being created from Job ml/p");
    world_group(w, "g", 2);
    world_pod_set(w, world_pod_facts("p", "g", 1));
    world_members(w, "g", 0, 1, 1);
    assert_true(world_nominated(w, "p@n")); /* it sleeps: woken by its plan */
    world_free(w);
}

/* kube-scheduler has not seen yet that the pod is linked: the call is answered all the same. */
static void W01_a_call_that_is_behind_the_link_passes(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    struct gang_pod_facts *f = world_pod_facts("g-0", NULL, 1);
    f->awaits_group = xstrdup("its PodGroup is being created from Job ml/g");
    assert_string_equal(world_filter_facts(w, f, "n"), "n");
    world_free(w);
}

static void a_pod_that_gets_no_group_is_woken(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    struct gang_pod_facts *f = world_pod_facts("p", NULL, 1);
    f->awaits_group = xstrdup("its PodGroup is being created from Job ml/p");
    world_pod_set(w, f);
    assert_string_equal(world_filter(w, "p"), "");
    world_pod_set(w, world_pod_facts("p", NULL, 1));
    assert_true(world_nominated(w, "p@n"));
    assert_string_equal(world_filter(w, "p"), "n");
    world_free(w);
}

/* ---- what stands on pods ---- */

static void S07_a_member_that_was_told_of_no_podgroup_is_told_anew(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter(w, "g-0"), "");
    assert_non_null(strstr(w->refusal, "does not exist"));
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
    f->unschedulable = true;
    world_pod_set(w, f);
    world_group(w, "g", 3);
    world_wait(w, SECONDS(1));
    f = world_pod_facts("g-0", "g", 1); /* looked at again, and nothing new */
    f->unschedulable = true;
    world_pod_set(w, f);
    world_wait(w, SECONDS(5));
    assert_true(world_event(w, "Pod/g-0 Unschedulable: gang default/g: 2 of 3 members exist"));
    assert_int_equal(w->n_told, 1); /* kube-scheduler has said nothing on the other */
    assert_string_equal(w->told[0], "g-0: gang default/g: 2 of 3 members exist");
    world_wait(w, SECONDS(100));
    assert_int_equal(w->n_told, 1);
    world_free(w);
}

/* ---- a minimum that rises ---- */

static void W01_those_that_a_scale_up_asks_for_start_together(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 3);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_try_members(w, "g", 0, 2);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_group(w, "g", 4);
    world_members(w, "g", 2, 4, 1);
    assert_int_equal(world_try(w, "g-2"), 0); /* there is room for one of two */
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 4 members needed, room for 3 (1 short of nvidia.com/gpu)");
    world_node(w, "m", 1);
    world_try_members(w, "g", 2, 4);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_pod_gone(w, "g-3"); /* it had all that: a replacement passes singly */
    world_members(w, "g", 4, 5, 1);
    assert_true(world_try(w, "g-4") != 0);
    world_free(w);
}

/* ---- too many ---- */

static void S07_a_family_that_is_too_large_starts_no_part(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 60);
    world_group(w, "p", 300);
    for (int i = 0; i < 300; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", i);
        child(w, name, "p", 1);
        world_members(w, name, 0, 1, 1);
        cleanup_free char *member = xasprintf("%s-0", name);
        assert_int_equal(world_try(w, member), 0);
    }
    assert_int_equal(w->n_bindings, 0);
    assert_non_null(strstr(world_reason(w, "c299"), "PodGroups; muster takes at most 256"));
    world_free(w);
}

static void C06_a_commit_of_another_gang_is_not_undone(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.evict_on_failed_commit = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "n", 8);
    world_group(w, "a", 1);
    struct gang_pod_facts *f = world_pod_facts("old", "a", 1);
    f->controlled = true;
    world_pod_set(w, f);
    world_try(w, "old");
    world_all_bound(w); /* commit 1 of its own gang */
    child(w, "a", "p", 1);
    child(w, "b", "p", 2);
    world_group(w, "p", 2);
    world_members(w, "b", 0, 2, 1);
    world_try_members(w, "b", 0, 2); /* commit 1 of the new gang */
    world_result(w, "b-0", "n", OUTCOME_OK);
    world_result(w, "b-1", "n", OUTCOME_REFUSED);
    assert_false(world_evicted(w, "old"));
    world_free(w);
}

static void C11_a_refused_gang_is_told_by_an_event_once(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_group(w, "g", -1);
    assert_true(world_event(w, "PodGroup/g InvalidPodGroup: PodGroup default/g: spec.minMember"));
    world_forget(w);
    world_members(w, "g", 0, 3, 1);
    assert_false(world_event(w, "PodGroup/g"));
    world_free(w);
}

/* ---- many ---- */

static void ten_thousand_groups_cost_no_square(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), false);
    enum { N = 10000 };
    struct gang_event *events = xcalloc(2 * N + 1, sizeof *events);
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        struct gang_group_facts *f = world_group_facts(name, 1);
        if (i % 2) /* all of one parent, which refuses so many */
            f->parent = xstrdup("g0");
        events[n++] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f};
        struct gang_pod_facts *p = world_pod_facts(name, name, 1);
        events[n++] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = p};
    }
    events[n++] = (struct gang_event){.kind = GANG_EV_SYNCED};
    world_step(w, events, n);
    free(events);
    assert_non_null(strstr(world_reason(w, "g1"), "PodGroups; muster takes at most 256"));
    world_node(w, "n", 8);
    assert_int_equal(world_reserved(w, "n", GPU), 8); /* the others are not disturbed */
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(S07_a_parent_needs_its_children),
        cmocka_unit_test(S07_children_may_come_before_their_parent),
        cmocka_unit_test(C11_parents_in_a_circle_are_said),
        cmocka_unit_test(S07_a_child_that_leaves_while_held_takes_its_members_along),
        cmocka_unit_test(a_bundle_is_placed_together),
        cmocka_unit_test(nobody_ties_a_stranger_to_himself),
        cmocka_unit_test(S13_pods_may_declare_their_group),
        cmocka_unit_test(S13_the_oldest_pods_word_counts),
        cmocka_unit_test(S13_an_objects_word_goes_before_the_pods),
        cmocka_unit_test(S12_members_of_two_classes_are_refused),
        cmocka_unit_test(a_pod_without_a_clear_link_is_refused_alone),
        cmocka_unit_test(W01_a_pod_waits_for_its_group_to_be_made),
        cmocka_unit_test(W01_a_call_that_is_behind_the_link_passes),
        cmocka_unit_test(a_pod_that_gets_no_group_is_woken),
        cmocka_unit_test(S07_a_member_that_was_told_of_no_podgroup_is_told_anew),
        cmocka_unit_test(W01_those_that_a_scale_up_asks_for_start_together),
        cmocka_unit_test(S07_a_family_that_is_too_large_starts_no_part),
        cmocka_unit_test(C06_a_commit_of_another_gang_is_not_undone),
        cmocka_unit_test(C11_a_refused_gang_is_told_by_an_event_once),
        cmocka_unit_test(ten_thousand_groups_cost_no_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
