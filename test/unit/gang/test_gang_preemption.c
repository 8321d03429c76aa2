/* SPDX-License-Identifier: Apache-2.0 */
/* muster evicts gangs and pods of a lower priority, and keeps their room for a gang. */
#include <stdio.h>

#include "test/lib/world_queues.h"

/* A running pod with a controller. `gang` NULL: an ordinary pod. */
static struct gang_pod_facts *running(const char *name, const char *gang, int gpus,
                                      const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(name, gang, gpus);
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    f->controlled = true;
    return f;
}

static void runs(struct world *w, const char *name, const char *gang, int gpus, const char *node)
{
    world_pod_set(w, running(name, gang, gpus, node));
}

static void ends(struct world *w, const char *name, const char *gang, int gpus, const char *node)
{
    struct gang_pod_facts *f = running(name, gang, gpus, node);
    f->deleting = true;
    world_pod_set(w, f);
}

/* A gang whose members need so many GPUs each. */
static void arrives(struct world *w, const char *gang, int members, int gpus, int priority)
{
    world_group(w, gang, members);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("%s-%d", gang, i);
        struct gang_pod_facts *f = world_pod_facts(name, gang, gpus);
        f->priority = priority;
        f->controlled = true;
        world_pod_set(w, f);
    }
}

static void small_pod(struct world *w, const char *name, int priority)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->priority = priority;
    world_pod_set(w, f);
}

/* Two nodes with the gang `low`, and a gang of a higher priority. */
static struct world *full_cluster(void)
{
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "low", 2);
    runs(w, "low-0", "low", 4, "n0");
    runs(w, "low-1", "low", 4, "n1");
    assert_string_equal(world_state(w, "low"), "Scheduled");
    arrives(w, "urgent", 2, 4, 10);
    return w;
}

static void evicted_gangs_make_room(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    assert_true(world_evicted(w, "low-0") && world_evicted(w, "low-1"));
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    assert_true(world_event(w, "PodGroup/low Preempted: evicted to make room for gang "
                               "default/urgent, which has the priority 10 instead of 0"));
    assert_true(world_event(w, "Pod/low-0 Preempted: "));
    assert_true(world_event(w, "PodGroup/urgent Preempting: muster evicts pods of a lower priority "
                               "to make room for the gang: gang default/low"));
    ends(w, "low-0", "low", 4, "n0");
    ends(w, "low-1", "low", 4, "n1");
    world_pod_gone(w, "low-0");
    assert_string_equal(world_state(w, "urgent"), "Waiting");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* Neither ordinary pods nor small gangs nor the replacements of the victims get the room that
 * becomes free first. */
static void Q06_nobody_else_gets_the_room(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    world_pod_gone(w, "low-0");
    small_pod(w, "single", 10);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "");
    assert_non_null(strstr(w->refusal, "kept for gang default/urgent, for which muster has evicted "
                                       "pods"));
    arrives(w, "small", 1, 1, 10);
    assert_string_equal(world_state(w, "small"), "Waiting");
    assert_string_equal(world_reason_name(w, "small"), "RoomPreempted");
    arrives(w, "low", 2, 4, 0);
    assert_string_equal(world_filter_on(w, "low-0", "n0", NULL), "");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* A pod of a higher priority may use the room. The gang then waits for other room, and nothing is
 * kept for it in vain. */
static void a_higher_priority_may_use_the_room(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    world_pod_gone(w, "low-0");
    small_pod(w, "system", 20);
    assert_string_equal(world_filter_on(w, "system", "n0", NULL), "n0");
    struct gang_pod_facts *f = running("system", NULL, 1, "n0");
    f->priority = 20;
    world_pod_set(w, f);
    world_wait(w, SECONDS(6));
    assert_string_equal(world_reason_name(w, "urgent"), "NotEnoughResources");
    small_pod(w, "single", 0);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "n0");
    world_free(w);
}

/* The members of a gang that was evicted as a whole are not scheduled one by one. */
static void replacements_of_an_evicted_gang_wait_for_each_other(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 4);
    world_group(w, "low", 2);
    runs(w, "low-0", "low", 4, "n0");
    runs(w, "low-1", "low", 4, "n1");
    runs(w, "other", NULL, 4, "n2");
    arrives(w, "urgent", 2, 4, 10);
    assert_true(world_evicted(w, "low-0") || world_evicted(w, "other"));
    world_pod(w, "low-2", "low", 4);
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "low-1");
    world_pod_gone(w, "other");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    assert_string_equal(world_filter_on(w, "low-2", "n0 n1 n2", NULL), "");
    assert_string_equal(world_state(w, "low"), "Assembling");
    world_free(w);
}

static void nothing_is_evicted_if_preemption_is_off(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.preemption = false;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 4);
    runs(w, "low", NULL, 4, "n0");
    arrives(w, "urgent", 1, 4, 10);
    world_wait(w, SECONDS(100));
    assert_false(world_evicted(w, "low"));
    world_free(w);
}

/* Nothing of the same priority is evicted, however long the gang waits. */
static void equals_are_not_evicted(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    runs(w, "equal", NULL, 4, "n0");
    arrives(w, "waits", 1, 4, 0);
    world_wait(w, SECONDS(100));
    assert_false(world_evicted(w, "equal"));
    /* A pod of a lower priority may come later. */
    world_pod_gone(w, "equal");
    world_pod_gone(w, "waits-0");
    struct gang_pod_facts *f = running("low", NULL, 4, "n0");
    f->priority = -1;
    world_pod_set(w, f);
    arrives(w, "waits", 1, 4, 0);
    world_wait(w, SECONDS(15));
    assert_true(world_evicted(w, "low"));
    world_free(w);
}

/* A pod that a PodDisruptionBudget protects is not evicted in time. muster does not wait for ever,
 * and does not try the pod again soon. */
static void an_eviction_in_vain_ends(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    runs(w, "guarded", NULL, 4, "n0");
    struct gang_pod_facts *f = running("other", NULL, 4, "n1");
    f->priority = 5;
    world_pod_set(w, f);
    arrives(w, "urgent", 1, 4, 10);
    assert_true(world_evicted(w, "guarded"));
    world_wait(w, SECONDS(299));
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    assert_false(world_evicted(w, "other"));
    world_wait(w, SECONDS(70));
    assert_true(world_evicted(w, "other"));
    world_pod_gone(w, "other");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* The room of a pod that is Terminating for too long is not waited for. */
static void a_pod_that_never_ends_is_not_waited_for(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    runs(w, "stuck", NULL, 4, "n0");
    struct gang_pod_facts *f = running("other", NULL, 4, "n1");
    f->priority = 5;
    world_pod_set(w, f);
    arrives(w, "urgent", 1, 4, 10);
    assert_true(world_evicted(w, "stuck"));
    f = running("stuck", NULL, 4, "n0");
    f->deleting = true;
    f->created = 100 * USEC_PER_SEC; /* the API server's clock */
    f->gone_by = 130 * USEC_PER_SEC;
    world_pod_set(w, f);
    world_wait(w, SECONDS(50));
    assert_false(world_evicted(w, "other"));
    world_wait(w, SECONDS(80));
    assert_true(world_evicted(w, "other"));
    world_free(w);
}

/* After a restart, the room of Terminating pods is kept again. */
static void room_is_kept_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    ends(w, "low-0", NULL, 4, "n0");
    ends(w, "low-1", NULL, 4, "n1");
    arrives(w, "urgent", 2, 4, 10);
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    world_pod_gone(w, "low-0");
    small_pod(w, "single", 0);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "");
    world_pod_gone(w, "low-1");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* A plan of a lower priority gives way before anything is evicted. */
static void plans_of_a_lower_priority_give_way(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    runs(w, "low", NULL, 4, "n0");
    arrives(w, "planned", 1, 4, 0);
    assert_string_equal(world_state(w, "planned"), "Planned");
    arrives(w, "urgent", 1, 4, 10);
    assert_string_equal(world_state(w, "urgent"), "Planned");
    assert_string_equal(world_state(w, "planned"), "Waiting");
    assert_false(world_evicted(w, "low"));
    world_free(w);
}

/* The gang loses its claim to the room when it cannot be planned any more. */
static void room_of_a_gang_that_is_gone_is_free(void **state)
{
    (void)state;
    struct world *w = full_cluster();
    world_pod_gone(w, "low-0");
    world_pod_gone(w, "urgent-0");
    small_pod(w, "single", 0);
    assert_string_equal(world_filter_on(w, "single", "n0", NULL), "n0");
    world_free(w);
}

/* The queue counts the kept room, and not the evicted pods. */
static void the_queue_counts_the_kept_room(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_queue(w, "a", NULL, GANG_NOT_STATED, 4);
    struct gang_group_facts *g = world_group_facts("low", 1);
    g->queue = xstrdup("a");
    world_group_set(w, g);
    runs(w, "low-0", "low", 4, "n0");
    const char *names[] = {"urgent", "small"};
    for (int i = 0; i < 2; i++) {
        g = world_group_facts(names[i], 1);
        g->queue = xstrdup("a");
        world_group_set(w, g);
    }
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", 4);
    f->priority = 10;
    world_pod_set(w, f);
    assert_true(world_evicted(w, "low-0"));
    world_pod(w, "small-0", "small", 1);
    assert_string_equal(world_reason_name(w, "small"), "QueueLimitReached");
    world_pod_gone(w, "low-0");
    assert_string_equal(world_state(w, "urgent"), "Planned");
    assert_string_equal(world_reason_name(w, "small"), "QueueLimitReached");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evicted_gangs_make_room),
        cmocka_unit_test(Q06_nobody_else_gets_the_room),
        cmocka_unit_test(a_higher_priority_may_use_the_room),
        cmocka_unit_test(replacements_of_an_evicted_gang_wait_for_each_other),
        cmocka_unit_test(nothing_is_evicted_if_preemption_is_off),
        cmocka_unit_test(equals_are_not_evicted),
        cmocka_unit_test(an_eviction_in_vain_ends),
        cmocka_unit_test(a_pod_that_never_ends_is_not_waited_for),
        cmocka_unit_test(room_is_kept_after_a_restart),
        cmocka_unit_test(plans_of_a_lower_priority_give_way),
        cmocka_unit_test(room_of_a_gang_that_is_gone_is_free),
        cmocka_unit_test(the_queue_counts_the_kept_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
