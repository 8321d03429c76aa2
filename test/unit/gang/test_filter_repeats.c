/* SPDX-License-Identifier: Apache-2.0 */
/* Members that are refused again: filter.c repeats what kube-scheduler has written on them. */
#include "test/lib/world.h"

#include <stdio.h>

#define GPU "nvidia.com/gpu"

/* A member of g as it is after a try on a full cluster. */
static void reads(struct world *w, const char *pod, const char *short_of)
{
    struct gang_pod_facts *f = world_pod_facts(pod, "g", 4);
    f->unschedulable = true;
    f->short_of = xstrdup_null(short_of);
    world_pod_set(w, f);
}

/* g needs two nodes; b is free, on a something runs. */
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

static void assert_said_in_full(struct world *w, const char *names)
{
    assert_string_equal(world_filter_on(w, "g-0", names, NULL), "");
    assert_false(w->as_full);
    assert_int_equal(w->n_refused, 1);
    assert_non_null(strstr(w->refusal, "g: "));
}

static void assert_said_again(struct world *w, const char *names, size_t n)
{
    assert_string_equal(world_filter_on(w, "g-0", names, NULL), "");
    assert_true(w->as_full);
    assert_int_equal(w->n_refused, n);
    assert_string_equal(w->refusal, "Insufficient " GPU);
}

/* The same; nothing was written on g-0, it was told, and reads of a full cluster since. */
static struct world *half_full_and_told(void)
{
    struct world *w = half_full();
    assert_said_in_full(w, "b");
    reads(w, "g-0", GPU);
    return w;
}

static void what_the_pod_reads_is_said_again(void **state)
{
    (void)state;
    struct world *w = half_full_and_told();
    assert_said_again(w, "b", 1);
    world_node(w, "c", 2);
    assert_said_again(w, "b c", 2);
    reads(w, "g-0", NULL); /* the words of muster are on it */
    assert_said_in_full(w, "b");
    world_free(w);
}

/* It sleeps as after any refusal: the plan wakes it. */
static void it_is_woken_by_the_plan(void **state)
{
    (void)state;
    struct world *w = half_full_and_told();
    assert_said_again(w, "b", 1);
    assert_int_equal(w->n_nominations, 0);
    world_node(w, "c", 4);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_true(world_nominated(w, "g-0@b") || world_nominated(w, "g-0@c"));
    world_free(w);
}

/* Whoever has read "Insufficient" only does not know of the gang: the answer says it, or an event.
 * What the pod reads stays. */
static void who_was_never_told_is_told(void **state)
{
    (void)state;
    struct world *w = half_full();
    reads(w, "g-0", GPU);
    assert_said_in_full(w, "b");
    reads(w, "g-0", GPU);
    reads(w, "g-1", GPU);
    assert_said_again(w, "b", 1);
    world_wait(w, SECONDS(5));
    assert_int_equal(w->n_told, 0);
    assert_true(world_event(w,
                            "Pod/g-1 Unschedulable: gang default/g: 2 members needed, room for 1 "
                            "(4 short of nvidia.com/gpu)"));
    assert_string_equal(world_filter_on(w, "g-1", "b", NULL), "");
    assert_true(w->as_full);
    world_free(w);
}

/* A pause is no news: most of a backlog is in one. */
static void it_is_said_again_in_a_pause(void **state)
{
    (void)state;
    struct world *w = half_full_and_told();
    world_wait(w, SECONDS(61));
    assert_string_equal(world_state(w, "g"), "BackedOff");
    assert_said_again(w, "b", 1);
    world_free(w);
}

/* Default preemption tries nodes that are as full: one with pods that it could evict, and need not,
 * makes kube-scheduler's try end in an error. */
static void a_node_with_lower_pods_is_not_as_full(void **state)
{
    (void)state;
    struct world *w = half_full();
    struct gang_pod_facts *low = world_pod_facts("low", NULL, 0);
    low->node = xstrdup("b");
    low->phase = PHASE_RUNNING;
    low->priority = -1;
    world_pod_set(w, low);
    assert_said_in_full(w, "b");
    reads(w, "g-0", GPU);
    assert_said_in_full(w, "b");
    assert_said_in_full(w, "a b");
    world_pod_gone(w, "low");
    assert_said_again(w, "a b", 2);
    assert_said_in_full(w, "b stranger"); /* who knows what runs there */
    world_free(w);
}

/* It is on its way to some node, and kube-scheduler counts it there already. */
static void lower_pods_on_their_way_count(void **state)
{
    (void)state;
    struct world *w = half_full_and_told();
    world_pod_shaped(w, "low", NULL, 0, 100, -1);
    assert_string_equal(world_filter_on(w, "low", "b", NULL), "b");
    assert_said_in_full(w, "b");
    world_pod_gone(w, "low");
    assert_said_again(w, "b", 1);
    world_free(w);
}

/* Gangs that wait for something else than room have that to say. */
static void other_reasons_are_said(void **state)
{
    (void)state;
    struct world *w = half_full_and_told();
    world_pod_gone(w, "g-1");
    assert_said_in_full(w, "b");
    assert_non_null(strstr(w->refusal, "1 of 2 members exist"));
    world_free(w);
}

static void many_nodes_are_not_named_one_by_one(void **state)
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
    assert_said_in_full(w, "b");
    reads(w, "g-0", GPU);
    assert_said_again(w, buf_str(&names), 64);
    buf_puts(&names, " b");
    assert_said_in_full(w, buf_str(&names));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_pod_reads_is_said_again),
        cmocka_unit_test(it_is_woken_by_the_plan),
        cmocka_unit_test(who_was_never_told_is_told),
        cmocka_unit_test(it_is_said_again_in_a_pause),
        cmocka_unit_test(a_node_with_lower_pods_is_not_as_full),
        cmocka_unit_test(lower_pods_on_their_way_count),
        cmocka_unit_test(other_reasons_are_said),
        cmocka_unit_test(many_nodes_are_not_named_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
