/* SPDX-License-Identifier: Apache-2.0 */
/* Each resource has its own weight: numbers as in KAI, or amounts as in Koordinator, where 1 is
 * what the whole cluster has. */
#include <stdio.h>

#include "test/lib/world.h"
#include "test/lib/world_queues.h"

static struct world *world_without_nodes(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    return world_new_with(config, true);
}

/* A queue whose weight for GPUs is an amount. */
static void add_queue(struct world *w, const char *name, int64_t gpus)
{
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    f->weighs_amounts = true;
    gang_quota_add(f, GPU)->weight = gpus;
    world_queue_set(w, f);
}

/* Gangs of one that want more than there is. */
static void backlog(struct world *w, const char *queue, int n, int gpus)
{
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("%s-%d", queue, i);
        world_queued(w, name, queue, 1, gpus);
    }
}

static void Q02_amounts_weigh_against_each_other(void **state)
{
    (void)state;
    static const struct {
        int gpus_of_a_node, unit;
        int64_t a, b, want_a, want_b;
    } cases[] = {
        {8, 1, 6, 2, 6, 2},
        {8, 1, 600, 200, 6, 2}, /* more than the cluster has */
        {8, 1, 7, 1, 7, 1},
        {4000, 500, 3, 1, 3000, 1000}, /* a small part of the cluster */
        {8, 1, GANG_UNLIMITED, 8, 4, 4},
        {8, 1, GANG_UNLIMITED - 1, GANG_UNLIMITED - 1, 4, 4},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = world_without_nodes();
        add_queue(w, "a", cases[i].a);
        add_queue(w, "b", cases[i].b);
        backlog(w, "a", 10, cases[i].unit);
        backlog(w, "b", 10, cases[i].unit);
        world_node(w, "n0", cases[i].gpus_of_a_node);
        int64_t a = world_queue_used(w, "a", GPU), b = world_queue_used(w, "b", GPU);
        if (a != cases[i].want_a || b != cases[i].want_b)
            fail_msg("case %zu: %d and %d GPUs", i, (int)a, (int)b);
        world_free(w);
    }
}

/* Queues of other APIs have plain weights. */
static void Q02_a_weight_of_1_is_the_whole_cluster(void **state)
{
    (void)state;
    struct world *w = world_without_nodes();
    add_queue(w, "quota", 4);
    world_queue_weight(w, "plain", 1);
    backlog(w, "quota", 12, 1);
    backlog(w, "plain", 12, 1);
    world_node(w, "n0", 12); /* 4 of 12 is a weight of 1/3 */
    assert_int_equal(world_queue_used(w, "quota", GPU), 3);
    assert_int_equal(world_queue_used(w, "plain", GPU), 9);
    world_free(w);
}

static void add_single(struct world *w, const char *queue, const char *name, const char *resource,
                       int64_t amount)
{
    struct gang_group_facts *group = world_group_facts(name, 1);
    struct gang_pod_facts *pod = world_pod_facts(name, name, 0);
    group->queue = xstrdup(queue);
    gang_amounts_add(&pod->requests, resource, amount);
    world_group_set(w, group);
    world_pod_set(w, pod);
}

/* The amounts of memory are much larger than those of GPUs, and weigh the same. */
static void Q02_the_order_compares_parts_of_the_cluster(void **state)
{
    (void)state;
    const int64_t gib = INT64_C(1) << 30;
    struct world *w = world_without_nodes();
    static const char *const names[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        struct gang_queue_facts *f = world_queue_facts(names[i], NULL);
        f->weighs_amounts = true;
        gang_quota_add(f, "memory")->weight = 64 * gib;
        gang_quota_add(f, GPU)->weight = 8;
        world_queue_set(w, f);
    }
    struct gang_node_facts *node = world_gpu_node("n0", 8);
    gang_amounts_add(&node->allocatable, "memory", 128 * gib);
    struct gang_event set = {.kind = GANG_EV_NODE_SET, .node = node};
    world_step(w, &set, 1);
    add_single(w, "a", "half-of-memory", "memory", 64 * gib);
    add_single(w, "b", "quarter-of-gpus", GPU, 2);
    /* One more GPU than there is: who gets the room is the queue with the smaller part. */
    struct gang_event events[4];
    const char *const gangs[] = {"first", "second"};
    for (size_t i = 0; i < 2; i++) {
        struct gang_group_facts *group = world_group_facts(gangs[i], 1);
        group->queue = xstrdup(names[i]);
        events[2 * i] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = group};
        events[2 * i + 1] = (struct gang_event){.kind = GANG_EV_POD_SET,
                                                .pod = world_pod_facts(gangs[i], gangs[i], 4)};
    }
    world_step(w, events, ARRAY_SIZE(events));
    assert_string_equal(world_state(w, "second"), "Planned");
    assert_string_equal(world_state(w, "first"), "Waiting");
    world_free(w);
}

/* ---- resources without a weight ---- */

/* A node with 8 GPUs and 100 cpu. Each pod of a backlog needs one GPU and one cpu. */
static void add_node(struct world *w)
{
    world_node_small(w, "n0", 8, 100000);
}

static void cpu_backlog(struct world *w, const char *queue, int n)
{
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("%s-%d", queue, i);
        cleanup_free char *pod = xasprintf("%s-0", name);
        struct gang_group_facts *f = world_group_facts(name, 1);
        f->queue = xstrdup(queue);
        world_group_set(w, f);
        world_pod_shaped(w, pod, name, 1, 1000, 0);
    }
}

/* It deserves nothing. In KAI, a weight that is not set is 0. */
static void kai_queue(struct world *w, const char *name, int gpu_weight, int cpu_weight)
{
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    f->weight = 1000 * (gpu_weight > cpu_weight ? gpu_weight : cpu_weight);
    struct gang_quota *q = gang_quota_add(f, "cpu");
    q->deserved = 0;
    q->weight = 1000 * cpu_weight;
    q = gang_quota_add(f, GPU);
    q->deserved = 0;
    q->weight = 1000 * gpu_weight;
    world_queue_set(w, f);
}

/* The queues `three` and `one` have more pods than fit. Ends the test. */
static void divides_three_to_one(struct world *w)
{
    cpu_backlog(w, "three", 8);
    cpu_backlog(w, "one", 8);
    add_node(w);
    assert_int_equal(world_queue_used(w, "three", GPU), 6);
    assert_int_equal(world_queue_used(w, "one", GPU), 2);
    world_free(w);
}

static void Q02_cpu_without_a_weight_leaves_gpus_their_weight(void **state)
{
    (void)state;
    struct world *w = world_without_nodes();
    kai_queue(w, "three", 3, 0);
    kai_queue(w, "one", 1, 0);
    divides_three_to_one(w);
}

/* Also of a queue whose other weights are large amounts. */
static void Q02_cpu_that_a_list_of_amounts_leaves_out_has_the_largest_weight(void **state)
{
    (void)state;
    struct world *w = world_without_nodes();
    for (int i = 0; i < 2; i++) {
        struct gang_queue_facts *f = world_queue_facts(i ? "one" : "three", NULL);
        f->weighs_amounts = true;
        gang_quota_add(f, GPU)->weight = i ? 200 : 600;
        gang_quota_add(f, "cpu")->deserved = 0;
        gang_quota_add(f, "cpu")->weight = 0;
        world_queue_set(w, f);
    }
    divides_three_to_one(w);
}

/* Otherwise its first gang with GPUs would wait behind all others. */
static void Q02_a_queue_that_uses_only_cpu_is_not_last(void **state)
{
    (void)state;
    struct world *w = world_without_nodes();
    kai_queue(w, "only-cpu", 1, 0);
    kai_queue(w, "gpus", 1, 0);
    add_node(w);
    add_single(w, "only-cpu", "half-of-cpu", "cpu", 50000);
    backlog(w, "gpus", 3, 2);
    /* Both next gangs come at once, and there is room for one. */
    static const char *const queues[] = {"gpus", "only-cpu"};
    struct gang_event events[4];
    for (size_t i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("next-of-%s", queues[i]);
        struct gang_group_facts *group = world_group_facts(name, 1);
        group->queue = xstrdup(queues[i]);
        events[2 * i] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = group};
        events[2 * i + 1] =
            (struct gang_event){.kind = GANG_EV_POD_SET, .pod = world_pod_facts(name, name, 2)};
    }
    world_step(w, events, ARRAY_SIZE(events));
    assert_string_equal(world_state(w, "next-of-only-cpu"), "Planned");
    assert_string_equal(world_state(w, "next-of-gpus"), "Waiting");
    world_free(w);
}

/* The weight for cpu does not count for GPUs. */
static void Q02_a_queue_without_a_weight_for_gpus_gets_them_last(void **state)
{
    (void)state;
    struct world *w = world_without_nodes();
    kai_queue(w, "no-weight", 0, 9);
    kai_queue(w, "one", 1, 1);
    cpu_backlog(w, "no-weight", 8);
    cpu_backlog(w, "one", 6);
    add_node(w);
    assert_int_equal(world_queue_used(w, "one", GPU), 6);
    assert_int_equal(world_queue_used(w, "no-weight", GPU), 2);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q02_amounts_weigh_against_each_other),
        cmocka_unit_test(Q02_a_weight_of_1_is_the_whole_cluster),
        cmocka_unit_test(Q02_the_order_compares_parts_of_the_cluster),
        cmocka_unit_test(Q02_cpu_without_a_weight_leaves_gpus_their_weight),
        cmocka_unit_test(Q02_cpu_that_a_list_of_amounts_leaves_out_has_the_largest_weight),
        cmocka_unit_test(Q02_a_queue_that_uses_only_cpu_is_not_last),
        cmocka_unit_test(Q02_a_queue_without_a_weight_for_gpus_gets_them_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
