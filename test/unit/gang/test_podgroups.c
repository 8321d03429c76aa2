/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups that are placed together, gangs that only their pods declare, and invalid input. */
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
    assert_string_equal(world_state(w, "train"), "Waiting"); /* 4 GPUs needed, 2 exist */
    assert_string_equal(world_filter(w, "prep-0"), "");      /* the CPU of prep would fit */
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
    assert_true(world_event(w, "PodGroup/pipeline PodGroupScheduled: 6 members needed, 6 bound"));
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

static void C11_a_circle_of_parents_is_reported(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    child(w, "a", "b", 1);
    child(w, "b", "a", 1);
    world_members(w, "a", 0, 1, 1);
    assert_string_equal(world_state(w, "a"), "Assembling");
    assert_non_null(strstr(world_reason(w, "a"), "leads back to this PodGroup"));
    child(w, "c", "c", 1);
    assert_non_null(strstr(world_reason(w, "c"), "leads back to this PodGroup"));
    world_group(w, "b", 1); /* corrected */
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

static void S07_a_child_that_leaves_the_gang_ends_the_plan_for_both(void **state)
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
    assert_non_null(world_answer(w, held)); /* the plan was for both children */
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

static void a_bundle_cannot_include_a_podgroup_against_its_will(void **state)
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
        "PodGroup default/a: its gang group names PodGroup default/victim, whose gang group does "
        "not name it");
    world_free(w);
}

/* ---- gangs that only their pods declare ---- */

static void declaring_pod(struct world *w, const char *name, int min, usec_t created)
{
    struct gang_pod_facts *f = world_pod_facts(name, "k", 1);
    f->created = created;
    f->declared = world_group_facts("k", min);
    free(f->declared->uid);
    f->declared->uid = xstrdup("");
    world_pod_set(w, f);
}

static void see_exists(void *arg, const struct gang_view *view)
{
    *(bool *)arg = view->known;
}

static void S13_pods_may_declare_their_gang(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    declaring_pod(w, "k-0", 2, 10);
    assert_string_equal(world_reason(w, "k"), "gang default/k: 1 of 2 members exist");
    declaring_pod(w, "k-1", 2, 11);
    assert_string_equal(world_state(w, "k"), "Planned");
    assert_int_equal(w->n_statuses, 0); /* there is no PodGroup to write to */
    bool exists = true;
    gang_core_each_gang(w->core, see_exists, &exists);
    assert_false(exists);
    world_try(w, "k-0");
    world_try(w, "k-1");
    world_all_bound(w);
    assert_string_equal(world_state(w, "k"), "Scheduled");
    world_free(w);
}

static void S13_the_declaration_of_the_oldest_pod_counts(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    declaring_pod(w, "k-1", 1, 11);
    declaring_pod(w, "k-0", 3, 10); /* older, although the watch showed it later */
    assert_string_equal(world_reason(w, "k"), "gang default/k: 2 of 3 members exist");
    world_pod_gone(w, "k-0");
    assert_string_equal(world_state(w, "k"), "Planned");
    world_free(w);
}

static void S13_a_podgroup_overrides_the_declaration_of_its_pods(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    declaring_pod(w, "k-0", 3, 10);
    world_group(w, "k", 1);
    assert_string_equal(world_state(w, "k"), "Planned");
    world_group_gone(w, "k");
    assert_string_equal(world_reason(w, "k"), "gang default/k: 1 of 3 members exist");
    world_free(w);
}

/* ---- one compute class ---- */

static void pod_of_class(struct world *w, const char *name, const char *class)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->uniform.key = xstrdup("alibabacloud.com/compute-class");
    f->uniform.value = xstrdup(class);
    world_pod_set(w, f);
}

static void S12_members_of_two_compute_classes_are_refused(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "g", 2);
    pod_of_class(w, "p0", "gpu-hpn");
    pod_of_class(w, "p1", "gpu");
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: all members must have the same value of label "
                        "alibabacloud.com/compute-class, but p0 has gpu-hpn and p1 has gpu");
    assert_string_equal(world_filter(w, "p0"), "");
    assert_non_null(strstr(w->refusal, "gpu-hpn"));
    world_pod_gone(w, "p1");
    pod_of_class(w, "p2", "gpu-hpn");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_try(w, "p0");
    world_try(w, "p2");
    world_all_bound(w);
    pod_of_class(w, "p3", "gpu"); /* running members are not affected */
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

/* ---- invalid links ---- */

static void a_pod_with_an_unclear_link_is_refused_without_harm_to_others(void **state)
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

static void W01_a_pod_waits_until_its_podgroup_is_created(void **state)
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
    assert_true(world_nominated(w, "p@n")); /* the plan wakes the sleeping pod */
    world_free(w);
}

/* kube-scheduler has not seen the link yet. muster answers as if it had. */
static void W01_a_filter_call_without_the_new_link_passes(void **state)
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

static void a_pod_that_needs_no_podgroup_after_all_is_woken(void **state)
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

/* ---- conditions of pods ---- */

static void S07_the_condition_of_a_member_is_updated_when_its_podgroup_appears(void **state)
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
    f = world_pod_facts("g-0", "g", 1); /* an update without a change */
    f->unschedulable = true;
    world_pod_set(w, f);
    world_wait(w, SECONDS(5));
    assert_true(world_event(w, "Pod/g-0 Unschedulable: gang default/g: 2 of 3 members exist"));
    assert_int_equal(w->n_told, 1); /* kube-scheduler has not written a condition to g-1 */
    assert_string_equal(w->told[0], "g-0: gang default/g: 2 of 3 members exist");
    world_wait(w, SECONDS(100));
    assert_int_equal(w->n_told, 1);
    world_free(w);
}

/* ---- a minimum that rises ---- */

static void W01_members_added_by_a_higher_minimum_start_together(void **state)
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
    assert_int_equal(world_try(w, "g-2"), 0); /* there is room for one of the two */
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 4 members needed, room for 3 (1 short of nvidia.com/gpu)");
    world_node(w, "m", 1);
    world_try_members(w, "g", 2, 4);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_pod_gone(w, "g-3"); /* its minimum was met: a replacement is scheduled alone */
    world_members(w, "g", 4, 5, 1);
    assert_true(world_try(w, "g-4") != 0);
    world_free(w);
}

/* ---- bounds ---- */

static void S07_no_part_of_a_family_beyond_the_bound_starts(void **state)
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

static void C06_a_failed_commit_does_not_evict_members_of_another_commit(void **state)
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
    world_all_bound(w); /* commit 1 of gang "a" */
    child(w, "a", "p", 1);
    child(w, "b", "p", 2);
    world_group(w, "p", 2);
    world_members(w, "b", 0, 2, 1);
    world_try_members(w, "b", 0, 2); /* commit 1 of gang "p" */
    world_result(w, "b-0", "n", OUTCOME_OK);
    world_result(w, "b-1", "n", OUTCOME_REFUSED);
    assert_false(world_evicted(w, "old"));
    world_free(w);
}

static void C11_a_refused_podgroup_gets_one_event(void **state)
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

/* ---- many PodGroups ---- */

static void ten_thousand_podgroups_cost_no_quadratic_time(void **state)
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
        if (i % 2) /* children of one parent, more than the bound */
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
    assert_int_equal(world_reserved(w, "n", GPU), 8); /* the others are planned */
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(S07_a_parent_needs_its_children),
        cmocka_unit_test(S07_children_may_come_before_their_parent),
        cmocka_unit_test(C11_a_circle_of_parents_is_reported),
        cmocka_unit_test(S07_a_child_that_leaves_the_gang_ends_the_plan_for_both),
        cmocka_unit_test(a_bundle_is_placed_together),
        cmocka_unit_test(a_bundle_cannot_include_a_podgroup_against_its_will),
        cmocka_unit_test(S13_pods_may_declare_their_gang),
        cmocka_unit_test(S13_the_declaration_of_the_oldest_pod_counts),
        cmocka_unit_test(S13_a_podgroup_overrides_the_declaration_of_its_pods),
        cmocka_unit_test(S12_members_of_two_compute_classes_are_refused),
        cmocka_unit_test(a_pod_with_an_unclear_link_is_refused_without_harm_to_others),
        cmocka_unit_test(W01_a_pod_waits_until_its_podgroup_is_created),
        cmocka_unit_test(W01_a_filter_call_without_the_new_link_passes),
        cmocka_unit_test(a_pod_that_needs_no_podgroup_after_all_is_woken),
        cmocka_unit_test(S07_the_condition_of_a_member_is_updated_when_its_podgroup_appears),
        cmocka_unit_test(W01_members_added_by_a_higher_minimum_start_together),
        cmocka_unit_test(S07_no_part_of_a_family_beyond_the_bound_starts),
        cmocka_unit_test(C06_a_failed_commit_does_not_evict_members_of_another_commit),
        cmocka_unit_test(C11_a_refused_podgroup_gets_one_event),
        cmocka_unit_test(ten_thousand_podgroups_cost_no_quadratic_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
