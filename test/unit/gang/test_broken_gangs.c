/* SPDX-License-Identifier: Apache-2.0 */
/* A gang falls below its minimum, because kube-scheduler preempts members, or because muster is
 * killed while it evicts them. */
#include "test/lib/world.h"

static struct gang_pod_facts *member(const char *name, const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    f->controlled = true;
    return f;
}

/* A node for each of the members g-0, g-1 and g-2, which run. */
static struct world *running(int min)
{
    static const char *const names[] = {"g-0", "g-1", "g-2"}, *const nodes[] = {"n0", "n1", "n2"};
    struct world *w = world_of_nodes(3, 1);
    world_group(w, "g", min);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        world_pod_set(w, member(names[i], nodes[i]));
    assert_string_equal(world_state(w, "g"), "Scheduled");
    return w;
}

/* kube-scheduler adds the condition, and then deletes the pod. */
static void preempts(struct world *w, const char *name, const char *node)
{
    struct gang_pod_facts *f = member(name, node);
    f->preempted = true;
    world_pod_set(w, f);
    f = member(name, node);
    f->preempted = f->deleting = true;
    world_pod_set(w, f);
}

/* Ends the test. */
static void nobody_is_evicted(struct world *w)
{
    preempts(w, "g-0", "n0");
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
}

#define WHY                                                                                        \
    "evicted because kube-scheduler preempted member g-0, and fewer members are left than the "    \
    "gang "                                                                                        \
    "needs"

static void the_rest_of_a_broken_gang_is_evicted(void **state)
{
    (void)state;
    struct gang_stats s;
    struct world *w = running(3);
    preempts(w, "g-0", "n0");
    assert_int_equal(w->n_evictions, 2);
    assert_true(world_evicted(w, "g-1") && world_evicted(w, "g-2"));
    assert_true(world_event(w, "PodGroup/g Preempted: " WHY));
    assert_true(world_event(w, "Pod/g-1 Preempted: " WHY));
    gang_core_stats(w->core, &s);
    assert_int_equal(s.preempted_gangs[GANG_PREEMPTION_BROKEN], 1);
    assert_int_equal(s.preempted_pods[GANG_PREEMPTION_BROKEN], 2);
    world_forget(w);
    world_pod_gone(w, "g-0");
    world_wait(w, SECONDS(60));
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
}

/* A replacement alone is of no use, so it waits for the others. */
static void replacements_of_a_broken_gang_wait_for_each_other(void **state)
{
    (void)state;
    struct world *w = running(3);
    preempts(w, "g-0", "n0");
    world_pod_gone(w, "g-0");
    world_pod_gone(w, "g-1");
    world_pod_gone(w, "g-2");
    world_pod(w, "g-3", "g", 1);
    world_pod(w, "g-4", "g", 1);
    assert_string_equal(world_filter(w, "g-3"), "");
    world_pod(w, "g-5", "g", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void a_gang_that_keeps_its_minimum_runs_on(void **state)
{
    (void)state;
    struct world *w = running(2);
    preempts(w, "g-0", "n0");
    assert_int_equal(w->n_evictions, 0);
    preempts(w, "g-1", "n1");
    assert_int_equal(w->n_evictions, 1);
    assert_true(world_evicted(w, "g-2"));
    world_free(w);
}

/* The watch may skip the time in which the pod is Terminating. */
static void a_preempted_member_may_be_gone_at_once(void **state)
{
    (void)state;
    struct world *w = running(3);
    struct gang_pod_facts *f = member("g-0", "n0");
    f->preempted = true;
    world_pod_set(w, f);
    assert_int_equal(w->n_evictions, 0);
    world_pod_gone(w, "g-0");
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

/* Only kube-scheduler's preemption breaks a gang for good. A drained node does not. */
static void other_lost_members_are_replaced(void **state)
{
    (void)state;
    struct world *w = running(3);
    struct gang_pod_facts *f = member("g-0", "n0");
    f->deleting = true;
    world_pod_set(w, f);
    world_pod_gone(w, "g-0");
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
}

/* Nobody would create a member without a controller again. */
static void members_without_a_controller_are_left_alone(void **state)
{
    (void)state;
    struct world *w = running(3);
    struct gang_pod_facts *f = member("g-2", "n2");
    f->controlled = false;
    world_pod_set(w, f);
    nobody_is_evicted(w);
}

/* They would not run again, so the gang could not become whole. */
static void a_gang_with_members_that_have_succeeded_is_left_alone(void **state)
{
    (void)state;
    struct world *w = running(3);
    struct gang_pod_facts *f = member("g-2", "n2");
    f->phase = PHASE_SUCCEEDED;
    world_pod_set(w, f);
    nobody_is_evicted(w);
}

/* A gang of three pods of the Job `train`, which may lose so many more pods. */
static struct world *running_job(int spare)
{
    static const char *const names[] = {"g-1", "g-2"}, *const nodes[] = {"n1", "n2"};
    struct world *w = running(3);
    world_job(w, "train", spare);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct gang_pod_facts *f = member(names[i], nodes[i]);
        f->job = xstrdup("train");
        world_pod_set(w, f);
    }
    return w;
}

static void a_job_that_would_fail_is_left_alone(void **state)
{
    (void)state;
    struct world *w = running_job(1);
    nobody_is_evicted(w);
    w = running_job(2);
    preempts(w, "g-0", "n0");
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

static void a_gang_that_is_not_preemptible_is_left_alone(void **state)
{
    (void)state;
    struct world *w = running(3);
    struct gang_group_facts *g = world_group_facts("g", 3);
    g->preemptible = PREEMPTIBLE_NO;
    world_group_set(w, g);
    nobody_is_evicted(w);
}

/* The preempted member is seen before the PodGroup that joins its gang with another one. */
static void a_broken_gang_may_join_another_one(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), /* synced= */ false);
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    world_node(w, "n0", 3);
    struct gang_pod_facts *f = member("g-0", "n0");
    f->preempted = f->deleting = true;
    world_pod_set(w, f);
    world_pod_set(w, member("g-1", "n0"));
    world_group(w, "top", 0);
    struct gang_group_facts *g = world_group_facts("g", 2);
    g->parent = xstrdup("top");
    world_group_set(w, g);
    world_step(w, &synced, 1);
    assert_int_equal(w->n_evictions, 1);
    world_free(w);
}

static void with_preemption_off_nobody_is_evicted(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.preemption = false;
    struct world *w = world_new_with(config, /* synced= */ true);
    world_node(w, "n0", 2);
    world_group(w, "g", 2);
    world_pod_set(w, member("g-0", "n0"));
    world_pod_set(w, member("g-1", "n0"));
    nobody_is_evicted(w);
}

static void a_workload_that_asks_for_it_is_suspended(void **state)
{
    (void)state;
    struct world *w = running(3);
    struct gang_group_facts *g = world_group_facts("g", 3);
    g->suspends = true;
    world_group_set(w, g);
    preempts(w, "g-0", "n0");
    assert_int_equal(w->n_evictions, 0);
    assert_int_equal(w->n_workloads, 1);
    assert_string_equal(w->workloads[0], "suspend g");
    assert_true(
        world_event(w, "PodGroup/g Preempted: suspended because kube-scheduler preempted "));
    world_free(w);
}

/* ---- a restart ---- */

enum { UNTOUCHED, PREEMPTED, MARKED, TERMINATING };

/* A new core sees the members g-0, g-1 and g-2 like this. */
static struct world *restarted(int min, const int states[3])
{
    static const char *const names[] = {"g-0", "g-1", "g-2"};
    struct gang_event synced = {.kind = GANG_EV_SYNCED};
    struct world *w = world_new_with(test_config(), /* synced= */ false);
    world_node(w, "n0", 8);
    world_group(w, "g", min);
    for (int i = 0; i < 3; i++) {
        struct gang_pod_facts *f = member(names[i], "n0");
        f->preempted = states[i] == PREEMPTED;
        f->marked = states[i] == MARKED;
        f->deleting = states[i] == PREEMPTED || states[i] == TERMINATING;
        world_pod_set(w, f);
    }
    assert_int_equal(w->n_evictions, 0);
    world_step(w, &synced, 1);
    return w;
}

/* muster was down when kube-scheduler preempted the member. */
static void a_gang_that_was_broken_before_the_start_is_evicted(void **state)
{
    (void)state;
    struct world *w = restarted(3, (const int[]){PREEMPTED, UNTOUCHED, UNTOUCHED});
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

/* muster was killed while it evicted the gang. */
static void Q08_after_a_kill_the_rest_of_a_victim_is_evicted(void **state)
{
    (void)state;
    struct world *w = restarted(3, (const int[]){TERMINATING, MARKED, MARKED});
    assert_int_equal(w->n_evictions, 2);
    assert_true(world_evicted(w, "g-1") && world_evicted(w, "g-2"));
    assert_true(world_event(w,
                            "PodGroup/g Preempted: evicted because muster was restarted while it "
                            "evicted the gang, and fewer members are left than the gang needs"));
    world_free(w);
}

/* The kill came before the first eviction, or enough members are left. */
static void Q08_after_a_kill_a_whole_gang_runs_on(void **state)
{
    (void)state;
    struct world *w = restarted(3, (const int[]){MARKED, MARKED, MARKED});
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
    w = restarted(2, (const int[]){TERMINATING, MARKED, MARKED});
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
}

/* Without marks, it may be a drained node. */
static void Q08_after_a_kill_nobody_is_evicted_for_a_drain(void **state)
{
    (void)state;
    struct world *w = restarted(3, (const int[]){TERMINATING, UNTOUCHED, UNTOUCHED});
    assert_int_equal(w->n_evictions, 0);
    assert_int_equal(w->n_marked, 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_of_a_broken_gang_is_evicted),
        cmocka_unit_test(replacements_of_a_broken_gang_wait_for_each_other),
        cmocka_unit_test(a_gang_that_keeps_its_minimum_runs_on),
        cmocka_unit_test(a_preempted_member_may_be_gone_at_once),
        cmocka_unit_test(other_lost_members_are_replaced),
        cmocka_unit_test(members_without_a_controller_are_left_alone),
        cmocka_unit_test(a_gang_with_members_that_have_succeeded_is_left_alone),
        cmocka_unit_test(a_job_that_would_fail_is_left_alone),
        cmocka_unit_test(a_gang_that_is_not_preemptible_is_left_alone),
        cmocka_unit_test(a_broken_gang_may_join_another_one),
        cmocka_unit_test(with_preemption_off_nobody_is_evicted),
        cmocka_unit_test(a_workload_that_asks_for_it_is_suspended),
        cmocka_unit_test(a_gang_that_was_broken_before_the_start_is_evicted),
        cmocka_unit_test(Q08_after_a_kill_the_rest_of_a_victim_is_evicted),
        cmocka_unit_test(Q08_after_a_kill_a_whole_gang_runs_on),
        cmocka_unit_test(Q08_after_a_kill_nobody_is_evicted_for_a_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
