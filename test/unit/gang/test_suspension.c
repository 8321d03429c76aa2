/* SPDX-License-Identifier: Apache-2.0 */
/* muster suspends workloads instead of evicting their pods, and resumes them when they fit. */
#include "test/lib/world_queues.h"

static struct gang_pod_facts *member(const char *name, const char *gang)
{
    struct gang_pod_facts *f = world_pod_facts(name, gang, 4);
    f->controlled = true;
    return f;
}

static void runs(struct world *w, const char *name, const char *gang, const char *node)
{
    struct gang_pod_facts *f = member(name, gang);
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    world_pod_set(w, f);
}

static int members(struct world *w, const char *gang)
{
    char api_group[] = "test", ns[] = "default";
    struct gang_explained x;
    const struct gang_ref ref = {api_group, ns, (char *)(uintptr_t)gang};
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_STATE, &x));
    int n = x.units[0].members;
    gang_explained_done(&x);
    return n;
}

/* A pod of a suspended workload. */
static void stands_for(struct world *w, const char *name, const char *gang)
{
    struct gang_pod_facts *f = member(name, gang);
    f->gated = f->suspended = true;
    world_pod_set(w, f);
}

static void urgent(struct world *w, int members)
{
    world_group(w, "urgent", members);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("urgent-%d", i);
        struct gang_pod_facts *f = member(name, "urgent");
        f->priority = 10;
        world_pod_set(w, f);
    }
    world_decide(w);
}

/* Two nodes that are full with the gang `low`, whose workload may be suspended. */
static struct world *full_cluster(void)
{
    struct world *w = world_of_nodes(2, 4);
    struct gang_group_facts *f = world_group_facts("low", 2);
    f->suspends = true;
    world_group_set(w, f);
    runs(w, "low-0", "low", "n0");
    runs(w, "low-1", "low", "n1");
    assert_string_equal(world_state(w, "low"), "Scheduled");
    return w;
}

/* The same after muster has suspended the workload for a gang that runs now. */
static struct world *suspended(void)
{
    struct world *w = full_cluster();
    urgent(w, 2);
    stands_for(w, "new-0", "low");
    stands_for(w, "new-1", "low");
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    runs(w, "urgent-0", "urgent", "n0");
    runs(w, "urgent-1", "urgent", "n1");
    assert_string_equal(world_state(w, "urgent"), "Scheduled");
    world_forget(w);
    return w;
}

static void a_workload_is_suspended_instead_of_evicted(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    urgent(w, 1);
    assert_int_equal(w->n_evictions, 0);
    assert_int_equal(w->n_workloads, 1);
    assert_string_equal(w->workloads[0], "suspend low");
    assert_true(world_event(w, "PodGroup/low Preempted: suspended to make room for gang "
                               "default/urgent, which has a higher priority (10, this one has 0)"));
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

static void pods_are_evicted_if_the_workload_runs_on(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    urgent(w, 1);
    world_suspend_refused(w, "low");
    assert_int_equal(w->n_evictions, 2);
    world_suspend_refused(w, "unknown");
    world_suspend_refused(w, "urgent");
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

/* The controller may ignore the field. */
static void pods_that_stay_are_evicted(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    urgent(w, 1);
    world_pod_gone(w, "low-0");
    world_wait(w, SECONDS(29));
    assert_int_equal(w->n_evictions, 0);
    world_wait(w, SECONDS(2));
    assert_int_equal(w->n_evictions, 1);
    assert_string_equal(w->evictions[0], "low-1");
    world_suspend_refused(w, "low");
    world_wait(w, SECONDS(60));
    assert_int_equal(w->n_evictions, 1);
    world_free(w);
}

/* The pods that stand for the new ones wait in the order of gangs, and nothing is written to them.
 */
static void a_suspended_gang_waits_for_room(void **state)
{
    (void)state;
    struct world *w = suspended();
    assert_string_equal(world_state(w, "low"), "Waiting");
    assert_string_equal(world_reason_name(w, "low"), "NotEnoughResources");
    world_wait(w, SECONDS(600));
    assert_int_equal(w->n_workloads, 0);
    assert_int_equal(w->n_ungated, 0);
    assert_int_equal(w->n_told, 0);
    assert_int_equal(w->n_nominations, 0);
    assert_false(world_event(w, "Pod/new-0"));
    world_free(w);
}

static void a_workload_is_resumed_when_all_of_it_fits(void **state)
{
    (void)state;
    struct world *w = suspended();
    world_pod_gone(w, "urgent-0");
    assert_int_equal(w->n_workloads, 0);
    world_pod_gone(w, "urgent-1");
    assert_int_equal(w->n_workloads, 1);
    assert_string_equal(w->workloads[0], "resume low");
    assert_string_equal(world_state(w, "low"), "Planned");
    /* The request may be lost. */
    world_wait(w, SECONDS(11));
    assert_int_equal(w->n_workloads, 2);
    world_free(w);
}

/* The new pods get the slots, although another gang wants them, and go to bind. */
static void new_pods_take_the_slots(void **state)
{
    (void)state;
    struct world *w = suspended();
    world_pod_gone(w, "urgent-0");
    world_pod_gone(w, "urgent-1");
    urgent(w, 2);
    world_pod_set(w, member("low-2", "low"));
    world_pod_set(w, member("low-3", "low"));
    assert_string_equal(world_state(w, "low"), "Planned");
    world_pod_gone(w, "new-0");
    world_pod_gone(w, "new-1");
    assert_string_equal(world_state(w, "low"), "Planned");
    assert_int_not_equal(world_try(w, "low-2"), 0);
    assert_int_not_equal(world_try(w, "low-3"), 0);
    assert_string_equal(world_state(w, "low"), "Committing");
    world_free(w);
}

/* A user resumes the workload before there is room. Its pods count once. */
static void pods_of_a_workload_that_a_user_resumes_wait(void **state)
{
    (void)state;
    struct world *w = suspended();
    world_pod_set(w, member("low-2", "low"));
    world_pod_set(w, member("low-3", "low"));
    assert_string_equal(world_state(w, "low"), "Waiting");
    assert_int_equal(members(w, "low"), 2);
    world_pod_gone(w, "new-0");
    world_pod_gone(w, "new-1");
    assert_int_equal(members(w, "low"), 2);
    assert_int_equal(w->n_workloads, 0);
    world_free(w);
}

/* The admission of the real pods may change their requests. */
static void pods_with_other_needs_get_a_new_plan(void **state)
{
    (void)state;
    struct world *w = suspended();
    world_pod_gone(w, "urgent-0");
    world_pod_gone(w, "urgent-1");
    for (int i = 2; i < 4; i++) {
        cleanup_free char *name = xasprintf("low-%d", i);
        world_pod_set(w, world_pod_facts(name, "low", 3));
    }
    assert_string_equal(world_state(w, "low"), "Planned");
    assert_int_equal(members(w, "low"), 2);
    world_free(w);
}

/* muster restarts while the workload is suspended, and has no other facts than these. */
static void a_suspended_gang_survives_a_restart(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "low", 2);
    stands_for(w, "new-0", "low");
    assert_int_equal(w->n_workloads, 0);
    stands_for(w, "new-1", "low");
    assert_int_equal(w->n_workloads, 1);
    world_free(w);
}

/* Old pods that are not bound vanish a moment after the workload was suspended. */
static void a_member_that_vanishes_gives_its_place_back(void **state)
{
    (void)state;
    struct world *w = suspended();
    world_pod_set(w, member("low-2", "low"));
    assert_int_equal(members(w, "low"), 2);
    world_pod_gone(w, "low-2");
    assert_int_equal(members(w, "low"), 2);
    world_pod_gone(w, "urgent-0");
    world_pod_gone(w, "urgent-1");
    assert_int_equal(w->n_workloads, 1);
    world_pod_set(w, member("low-3", "low"));
    world_pod_gone(w, "new-0");
    world_pod_gone(w, "new-1");
    assert_int_equal(members(w, "low"), 1);
    world_free(w);
}

/* muster restarts before the controller has deleted the old pods. */
static void bound_pods_replace_no_suspended_pods(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "low", 2);
    stands_for(w, "new-0", "low");
    runs(w, "low-0", "low", "n0");
    runs(w, "low-1", "low", "n1");
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "low-1");
    stands_for(w, "new-1", "low");
    assert_int_equal(members(w, "low"), 2);
    assert_string_equal(w->workloads[w->n_workloads - 1], "resume low");
    world_free(w);
}

/* They do not exist. muster has requested to resume their workload, and then their plan ends. */
static void suspended_pods_are_not_nominated(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.steering = GANG_STEER_ALWAYS;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 8);
    world_group(w, "low", 2);
    stands_for(w, "new-0", "low");
    stands_for(w, "new-1", "low");
    assert_string_equal(w->workloads[0], "resume low");
    world_node(w, "n0", 4);
    assert_string_equal(world_state(w, "low"), "Waiting");
    world_node(w, "n0", 8);
    assert_string_equal(world_state(w, "low"), "Planned");
    world_wait(w, SECONDS(30));
    assert_int_equal(w->n_nominations, 0);
    world_free(w);
}

/* The order in which muster sees the pods does not matter. */
static void a_member_that_came_first_counts_once(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_group(w, "low", 2);
    world_pod_set(w, member("low-2", "low"));
    stands_for(w, "new-0", "low");
    assert_int_equal(members(w, "low"), 1);
    stands_for(w, "new-1", "low");
    assert_int_equal(members(w, "low"), 2);
    world_pod_set(w, member("low-3", "low"));
    assert_int_equal(members(w, "low"), 2);
    world_free(w);
}

/* A user makes the PodGroup a child of another one while the workload is suspended. */
static void a_workload_is_resumed_by_its_own_podgroup(void **state)
{
    (void)state;
    struct world *w = suspended();
    world_group(w, "top", 1);
    struct gang_group_facts *f = world_group_facts("low", 2);
    f->parent = xstrdup("top");
    world_group_set(w, f);
    world_pod_gone(w, "urgent-0");
    world_pod_gone(w, "urgent-1");
    assert_int_equal(w->n_workloads, 1);
    assert_string_equal(w->workloads[0], "resume low");
    world_free(w);
}

/* A member that succeeds before it is evicted has done its work. */
static void members_that_succeed_in_time_count(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    urgent(w, 1);
    assert_string_equal(world_state(w, "low"), "Assembling");
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("low-%d", i), *node = xasprintf("n%d", i);
        struct gang_pod_facts *f = member(name, "low");
        f->node = xstrdup(node);
        f->phase = PHASE_SUCCEEDED;
        world_pod_set(w, f);
    }
    assert_string_equal(world_state(w, "low"), "Done");
    world_suspend_refused(w, "low");
    world_wait(w, SECONDS(600));
    assert_int_equal(w->n_evictions, 0);
    assert_string_equal(world_state(w, "low"), "Done");
    world_free(w);
}

/* The request about its workload stays open when a pod is resized in place. */
static void a_resized_pod_is_evicted_after_all(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    urgent(w, 1);
    struct gang_pod_facts *f = world_pod_facts("low-0", "low", 3);
    f->controlled = true;
    f->node = xstrdup("n0");
    f->phase = PHASE_RUNNING;
    world_pod_set(w, f);
    world_suspend_refused(w, "low");
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workload_is_suspended_instead_of_evicted),
        cmocka_unit_test(pods_are_evicted_if_the_workload_runs_on),
        cmocka_unit_test(pods_that_stay_are_evicted),
        cmocka_unit_test(a_member_that_vanishes_gives_its_place_back),
        cmocka_unit_test(bound_pods_replace_no_suspended_pods),
        cmocka_unit_test(a_suspended_gang_waits_for_room),
        cmocka_unit_test(a_workload_is_resumed_when_all_of_it_fits),
        cmocka_unit_test(new_pods_take_the_slots),
        cmocka_unit_test(pods_of_a_workload_that_a_user_resumes_wait),
        cmocka_unit_test(pods_with_other_needs_get_a_new_plan),
        cmocka_unit_test(a_suspended_gang_survives_a_restart),
        cmocka_unit_test(suspended_pods_are_not_nominated),
        cmocka_unit_test(a_member_that_came_first_counts_once),
        cmocka_unit_test(a_workload_is_resumed_by_its_own_podgroup),
        cmocka_unit_test(members_that_succeed_in_time_count),
        cmocka_unit_test(a_resized_pod_is_evicted_after_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
