/* SPDX-License-Identifier: Apache-2.0 */
/* Filter refuses a member again: it repeats the reason that kube-scheduler wrote to the pod. */
#include "test/lib/world.h"

#include <stdio.h>

#define GPU "nvidia.com/gpu"

/* A member of g with what kube-scheduler wrote to it after a try. */
static void set_message(struct world *w, const char *pod, const char *short_of, bool alone)
{
    struct gang_pod_facts *f = world_pod_facts(pod, "g", 4);
    f->unschedulable = true;
    f->short_of = xstrdup_null(short_of);
    f->said_alone = alone;
    world_pod_set(w, f);
}

/* All nodes were full. */
static void set_short_of(struct world *w, const char *pod, const char *short_of)
{
    set_message(w, pod, short_of, true);
}

/* g needs two nodes. b is free, and a pod runs on a. */
static struct world *half_full(void)
{
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_node(w, "b", 4);
    world_pod_seen(w, "other", NULL, 4, "a", PHASE_RUNNING);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 4);
    return w;
}

static void assert_full_reason(struct world *w, const char *names)
{
    assert_string_equal(world_filter_on(w, "g-0", names, NULL), "");
    assert_int_equal(w->n_full, 0);
    assert_int_equal(w->n_refused, 1);
    assert_non_null(strstr(w->refusal, "g: "));
}

static void assert_repeated(struct world *w, const char *names, size_t n)
{
    assert_string_equal(world_filter_on(w, "g-0", names, NULL), "");
    assert_int_equal(w->n_full, n);
    assert_int_equal(w->n_refused, n);
    assert_string_equal(w->refusal, "Insufficient " GPU);
}

/* The same. Filter has given g-0 the complete reason, and then kube-scheduler wrote "Insufficient".
 */
static struct world *half_full_and_refused(void)
{
    struct world *w = half_full();
    assert_full_reason(w, "b");
    set_short_of(w, "g-0", GPU);
    return w;
}

static void filter_repeats_the_reason_on_the_pod(void **state)
{
    (void)state;
    struct world *w = half_full_and_refused();
    assert_repeated(w, "b", 1);
    world_node(w, "c", 2);
    assert_repeated(w, "b c", 2);
    set_message(w, "g-0", NULL, false); /* the pod has muster's own reason */
    assert_full_reason(w, "b");
    world_free(w);
}

static void assert_reason_beside_full_nodes(struct world *w, const char *names, size_t n,
                                            const char *figures)
{
    assert_string_equal(world_filter_on(w, "g-0", names, NULL), "");
    assert_int_equal(w->n_refused, n);
    assert_int_equal(w->n_full, n - 1);
    assert_non_null(strstr(w->refusal, figures));
}

/* Node a was full, and the pod has "1 gang …, 1 Insufficient X". It gets that again, however many
 * nodes are offered. Only the first figures may be out of date at once. */
static void filter_repeats_the_reason_of_the_gang_beside_full_nodes(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_node(w, "b", 4);
    world_pod_seen(w, "other", NULL, 4, "a", PHASE_RUNNING);
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 4);
    assert_full_reason(w, "b");
    set_message(w, "g-0", GPU, false);
    world_node(w, "c", 4);
    world_wait(w, 10 * USEC_PER_MSEC);
    assert_reason_beside_full_nodes(w, "b c", 2, "room for 2");
    world_wait(w, SECONDS(2));
    world_pod_gone(w, "other");
    assert_reason_beside_full_nodes(w, "a b c", 3, "room for 2");
    world_wait(w, SECONDS(31));
    assert_reason_beside_full_nodes(w, "a b c", 3, "room for 3");
    world_free(w);
}

/* kube-scheduler sees the end of a pod later than muster. The member has a slot, and its message is
 * not changed for a moment. */
static void a_node_that_has_just_become_free_is_refused_with_the_same_message(void **state)
{
    (void)state;
    struct world *w = half_full_and_refused();
    world_node(w, "c", 2);
    world_pod_gone(w, "other");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_repeated(w, "c", 1);
    set_message(w, "g-1", GPU, false);
    assert_string_equal(world_filter_on(w, "g-1", "c", NULL), "");
    assert_int_equal(w->n_full, 0);
    assert_non_null(strstr(w->refusal, "did not offer"));
    world_free(w);
}

/* The pod sleeps as after any refusal. */
static void a_plan_wakes_a_pod_with_a_repeated_reason(void **state)
{
    (void)state;
    struct world *w = half_full_and_refused();
    assert_repeated(w, "b", 1);
    assert_int_equal(w->n_nominations, 0);
    world_node(w, "c", 4);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_true(world_nominated(w, "g-0@b") || world_nominated(w, "g-0@c"));
    world_free(w);
}

/* A pod that has only "Insufficient" does not show that its gang waits. The answer or an event
 * shows it; the condition of the pod does not change. */
static void every_member_learns_the_reason_of_its_gang(void **state)
{
    (void)state;
    struct world *w = half_full();
    set_short_of(w, "g-0", GPU);
    assert_full_reason(w, "b");
    set_short_of(w, "g-0", GPU);
    set_short_of(w, "g-1", GPU);
    assert_repeated(w, "b", 1);
    world_wait(w, SECONDS(5));
    assert_int_equal(w->n_told, 0);
    assert_true(world_event(w,
                            "Pod/g-1 Unschedulable: gang default/g: 2 members needed, room for 1 "
                            "(4 short of nvidia.com/gpu)"));
    assert_string_equal(world_filter_on(w, "g-1", "b", NULL), "");
    assert_int_equal(w->n_full, 1);
    world_free(w);
}

/* Most gangs of a backlog are backed off. */
static void filter_repeats_the_reason_during_a_backoff(void **state)
{
    (void)state;
    struct world *w = half_full_and_refused();
    world_wait(w, SECONDS(61));
    assert_string_equal(world_state(w, "g"), "BackedOff");
    assert_repeated(w, "b", 1);
    world_free(w);
}

/* Default preemption tries nodes that are full. If it finds a node with pods that it could evict
 * but need not, kube-scheduler's try ends in an error. */
static void the_reason_is_not_repeated_for_a_node_with_pods_of_lower_priority(void **state)
{
    (void)state;
    struct world *w = half_full();
    struct gang_pod_facts *low = world_pod_facts("low", NULL, 0);
    low->node = xstrdup("b");
    low->phase = PHASE_RUNNING;
    low->priority = -1;
    world_pod_set(w, low);
    assert_full_reason(w, "b");
    set_short_of(w, "g-0", GPU);
    assert_full_reason(w, "b");
    assert_full_reason(w, "a b");
    world_pod_gone(w, "low");
    assert_repeated(w, "a b", 2);
    assert_full_reason(w, "b stranger"); /* muster does not know what runs on this node */
    world_free(w);
}

/* The pod has passed filter, so kube-scheduler may already count it on a node. */
static void pods_of_lower_priority_on_their_way_count(void **state)
{
    (void)state;
    struct world *w = half_full_and_refused();
    world_pod_shaped(w, "low", NULL, 0, 100, -1);
    assert_string_equal(world_filter_on(w, "low", "b", NULL), "b");
    assert_full_reason(w, "b");
    world_pod_gone(w, "low");
    assert_repeated(w, "b", 1);
    world_free(w);
}

/* A gang that waits for something other than room gets its own reason. */
static void reasons_other_than_room_are_given_in_full(void **state)
{
    (void)state;
    struct world *w = half_full_and_refused();
    world_pod_gone(w, "g-1");
    assert_full_reason(w, "b");
    assert_non_null(strstr(w->refusal, "1 of 2 members exist"));
    world_free(w);
}

static void the_reason_is_repeated_for_at_most_64_nodes(void **state)
{
    (void)state;
    struct world *w = half_full();
    cleanup_buf struct buf names = BUF_INIT;
    for (int i = 0; i < 64; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        world_node(w, name, 1);
        buf_printf(&names, "%s%s", i ? " " : "", name);
    }
    assert_full_reason(w, "b");
    set_short_of(w, "g-0", GPU);
    assert_repeated(w, buf_str(&names), 64);
    buf_puts(&names, " b");
    assert_full_reason(w, buf_str(&names));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_repeats_the_reason_on_the_pod),
        cmocka_unit_test(filter_repeats_the_reason_of_the_gang_beside_full_nodes),
        cmocka_unit_test(a_node_that_has_just_become_free_is_refused_with_the_same_message),
        cmocka_unit_test(a_plan_wakes_a_pod_with_a_repeated_reason),
        cmocka_unit_test(every_member_learns_the_reason_of_its_gang),
        cmocka_unit_test(filter_repeats_the_reason_during_a_backoff),
        cmocka_unit_test(the_reason_is_not_repeated_for_a_node_with_pods_of_lower_priority),
        cmocka_unit_test(pods_of_lower_priority_on_their_way_count),
        cmocka_unit_test(reasons_other_than_room_are_given_in_full),
        cmocka_unit_test(the_reason_is_repeated_for_at_most_64_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
