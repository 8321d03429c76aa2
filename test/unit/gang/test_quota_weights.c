/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that are amounts, as those of Koordinator: 1 is what the whole cluster has. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q02_amounts_weigh_against_each_other),
        cmocka_unit_test(Q02_a_weight_of_1_is_the_whole_cluster),
        cmocka_unit_test(Q02_the_order_compares_parts_of_the_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
