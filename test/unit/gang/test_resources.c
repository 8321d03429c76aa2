/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anyone who may create a pod may invent names of resources. muster drops a name that is no longer
 * used and reuses its number. Nodes store only the resources that they offer.
 */
#include <stdio.h>

#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"
#include "test/lib/world.h"

#define GPU   "nvidia.com/gpu"
#define NODES 20

static struct world *cluster(void)
{
    struct world *w = world_new();
    for (int i = 0; i < NODES; i++) {
        char name[24];
        snprintf(name, sizeof name, "n%02d", i);
        world_node(w, name, 8);
    }
    return w;
}

/* A pod that requests example.com/r-<number>; node NULL: it waits. */
static struct gang_pod_facts *pod_requesting(const char *pod, const char *group, int number,
                                             const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(pod, group, 1);
    char resource[48];
    snprintf(resource, sizeof resource, "example.com/r-%d", number);
    gang_amounts_add(&f->requests, resource, 1);
    f->node = xstrdup_null(node);
    f->phase = node ? PHASE_RUNNING : PHASE_PENDING;
    return f;
}

/* How many amounts all nodes store in total. */
static size_t stored(const struct world *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->core->n_ids; i++) {
        const struct node *node = w->core->by_id[i];
        n += node->allocatable.n + node->used.n + node->reserved.n + node->earmarked.n;
    }
    return n;
}

static void T11_unused_names_of_resources_are_dropped(void **state)
{
    (void)state;
    struct world *w = cluster();
    world_group(w, "g", 1);
    size_t names = map_count(&w->core->resources.numbers), numbers = w->core->resources.n;
    for (int i = 0; i < 10000; i++) {
        world_pod_set(w, pod_requesting("p", i % 2 ? "g" : NULL, i, i % 5 ? NULL : "n03"));
        world_pod_gone(w, "p");
    }
    assert_int_equal(map_count(&w->core->resources.numbers), names);
    assert_in_range(w->core->resources.n, numbers, numbers + 2);
    world_free(w);
}

static void T11_names_of_a_deleted_node_are_dropped(void **state)
{
    (void)state;
    struct world *w = cluster();
    size_t names = map_count(&w->core->resources.numbers);
    for (int i = 0; i < 100; i++) {
        struct gang_node_facts *f = world_gpu_node("extra", 0);
        char resource[48];
        snprintf(resource, sizeof resource, "example.com/device-%d", i);
        gang_amounts_add(&f->allocatable, resource, 1);
        world_node_facts(w, f);
    }
    assert_int_equal(map_count(&w->core->resources.numbers), names + 1);
    world_node_gone(w, "extra");
    assert_int_equal(map_count(&w->core->resources.numbers), names);
    world_free(w);
}

/* The nodes do not offer these resources, so they do not store them. */
static void T11_names_that_no_node_offers_cost_nodes_nothing(void **state)
{
    (void)state;
    struct world *w = cluster();
    for (int i = 0; i < 2000; i++) {
        char name[24];
        snprintf(name, sizeof name, "p-%d", i);
        world_pod_set(w, pod_requesting(name, NULL, i, NULL));
    }
    size_t before = stored(w);
    struct gang_node_facts *f = world_gpu_node("n00", 8);
    gang_amounts_add(&f->allocatable, "example.com/new", 4); /* its number is the highest */
    world_node_facts(w, f);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_in_range(stored(w), before + 1,
                    before + 6); /* the new resource, and reserved pods, CPU and GPUs */
    world_free(w);
}

/* Many bound pods with many names each, which kube-scheduler did not place. */
static void T16_invented_names_of_bound_pods_cost_their_node_nothing(void **state)
{
    (void)state;
    struct world *w = cluster();
    world_pod_set(w, pod_requesting("first", NULL, 0, "n03"));
    size_t before = stored(w);
    for (int i = 0; i < 100; i++) {
        char name[24];
        snprintf(name, sizeof name, "p-%d", i);
        struct gang_pod_facts *f = pod_requesting(name, NULL, i * 100, "n03");
        for (int k = 1; k < 100; k++) {
            char resource[48];
            snprintf(resource, sizeof resource, "example.com/r-%d", i * 100 + k);
            gang_amounts_add(&f->requests, resource, 1);
        }
        world_pod_set(w, f);
    }
    assert_int_equal(stored(w), before);
    world_free(w);
}

static int64_t used(const struct world *w, const char *node, const char *resource)
{
    return amount_of(&node_by_name(w->core, node)->used, resource_find(w->core, resource));
}

static void T06_a_resource_that_a_node_gets_later_is_charged(void **state)
{
    (void)state;
    struct world *w = cluster();
    static const char name[] = "example.com/r-7";
    world_pod_set(w, pod_requesting("one", NULL, 7, "n03"));
    world_pod_set(w, pod_requesting("two", NULL, 7, "n03"));
    struct gang_node_facts *f = world_gpu_node("n03", 8);
    gang_amounts_add(&f->allocatable, name, 3);
    world_node_facts(w, f);
    assert_int_equal(used(w, "n03", name), 2);
    world_pod_gone(w, "one");
    assert_int_equal(used(w, "n03", name), 1);
    world_node(w, "n03", 8); /* it no longer offers the resource */
    world_pod_gone(w, "two");
    assert_int_equal(used(w, "n03", GPU), 0);
    world_free(w);
}

static void T11_a_reused_number_keeps_the_sums_correct(void **state)
{
    (void)state;
    struct world *w = cluster();
    world_group(w, "g", 1);
    for (int i = 0; i < 50; i++) {
        world_pod_set(w, pod_requesting("bound", NULL, i, "n01"));
        world_pod_set(w, pod_requesting("waits", "g", i + 1000, NULL));
        struct gang_node_facts *f = world_gpu_node("n02", 8);
        char resource[48];
        snprintf(resource, sizeof resource, "example.com/r-%d", i + 1000);
        gang_amounts_add(&f->allocatable, resource, 1);
        world_node_facts(w, f);
        assert_string_equal(world_filter(w, "waits"), "n02");
        assert_int_equal(world_reserved(w, "n02", resource), 1);
        world_pod_gone(w, "bound");
        world_pod_gone(w, "waits");
        assert_int_equal(world_used(w, "n01", GPU), 0);
    }
    assert_in_range(w->core->resources.n, 4, 8);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T11_unused_names_of_resources_are_dropped),
        cmocka_unit_test(T11_names_of_a_deleted_node_are_dropped),
        cmocka_unit_test(T11_names_that_no_node_offers_cost_nodes_nothing),
        cmocka_unit_test(T16_invented_names_of_bound_pods_cost_their_node_nothing),
        cmocka_unit_test(T06_a_resource_that_a_node_gets_later_is_charged),
        cmocka_unit_test(T11_a_reused_number_keeps_the_sums_correct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
