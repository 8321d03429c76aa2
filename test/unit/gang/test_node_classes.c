/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that are equal to the planner are one class. What is looked at is counted: a plan must not
 * look at every node of a class, and must find the same nodes as one that looks at each of them.
 */
#include <stdio.h>

#include "gang/cluster/lookup.h"
#include "gang/plan/node_scan.h"
#include "test/lib/world.h"

#define GPU   "nvidia.com/gpu"
#define NODES 60

/* ---- a cluster of nodes in pools ---- */

static struct gang_node_facts *pool_node(int i, int pools)
{
    char name[24], pool[24];
    snprintf(name, sizeof name, "n%02d", i);
    snprintf(pool, sizeof pool, "pool-%d", i % pools);
    struct gang_node_facts *f = world_gpu_node(name, 8);
    gang_kvs_add(&f->labels, "pool", pool);
    gang_kvs_add(&f->labels, "rack", name); /* another on each node */
    return f;
}

static struct world *cluster(int pools)
{
    struct world *w = world_new();
    for (int i = 0; i < NODES; i++)
        world_node_facts(w, pool_node(i, pools));
    return w;
}

/* A member that selects nodes by a label; key NULL: it does not. */
static void member(struct world *w, const char *name, const char *group, int gpus, const char *key,
                   const char *value)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    if (key)
        gang_kvs_add(&f->node_selector, key, value);
    world_pod_set(w, f);
}

/* How often a look for pods like this one stops, and the nodes that it speaks for. */
static size_t stops(struct world *w, const char *pod, size_t *ret_nodes)
{
    char uid[32];
    snprintf(uid, sizeof uid, "uid-%s", pod);
    struct pod *p = pod_by_uid(w->core, uid);
    assert_non_null(p);
    struct node_scan scan = node_scan_begin(w->core, p->gang, p->signature, NULL);
    size_t n = 0;
    for (*ret_nodes = 0; node_scan_next(&scan); n++)
        *ret_nodes += scan.n;
    return n;
}

static size_t stops_for_all(struct world *w, const char *pod)
{
    size_t nodes, n = stops(w, pod, &nodes);
    assert_int_equal(nodes, NODES);
    return n;
}

/* ---- who is in one class ---- */

static void P06_labels_that_nobody_asks_for_part_no_nodes(void **state)
{
    (void)state;
    struct world *w = cluster(3);
    world_group(w, "g", 2);
    member(w, "g-0", "g", 1, NULL, NULL);
    assert_int_equal(stops_for_all(w, "g-0"), 1);
    world_free(w);
}

static void P06_a_label_parts_nodes_once_it_is_asked_for(void **state)
{
    (void)state;
    struct world *w = cluster(3);
    world_group(w, "g", 2);
    member(w, "g-0", "g", 1, "pool", "pool-2");
    assert_int_equal(stops_for_all(w, "g-0"), 3);
    member(w, "g-1", "g", 1, "pool", "pool-2");
    assert_string_equal(world_filter(w, "g-0"), "n02");
    world_free(w);
}

static void P06_the_hosts_own_name_parts_no_nodes(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_group(w, "g", 2);
    member(w, "g-0", "g", 1, "kubernetes.io/hostname", "n17");
    assert_int_equal(stops_for_all(w, "g-0"), NODES); /* it looks at each */
    member(w, "g-1", "g", 1, "kubernetes.io/hostname", "n17");
    assert_int_equal(world_reserved(w, "n17", GPU), 2);
    world_pod(w, "o", NULL, 1);
    assert_int_equal(stops_for_all(w, "o"), 2); /* the others do not: n17, and the rest */
    world_free(w);
}

static void P06_a_node_is_in_the_class_of_what_is_free(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_pod(w, "o", NULL, 1);
    assert_int_equal(stops_for_all(w, "o"), 1);
    world_pod_seen(w, "a", NULL, 3, "n05", PHASE_RUNNING);
    world_pod_seen(w, "b", NULL, 3, "n40", PHASE_RUNNING);
    assert_int_equal(stops_for_all(w, "o"), 2);
    world_pod_seen(w, "c", NULL, 1, "n40", PHASE_RUNNING);
    assert_int_equal(stops_for_all(w, "o"), 3);
    world_pod_gone(w, "c");
    assert_int_equal(stops_for_all(w, "o"), 2);
    world_pod_gone(w, "a");
    world_pod_gone(w, "b");
    assert_int_equal(stops_for_all(w, "o"), 1);
    world_free(w);
}

static void P06_a_tainted_and_a_cordoned_node_are_classes(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_pod(w, "o", NULL, 1);
    struct gang_node_facts *f = pool_node(3, 1);
    f->unschedulable = true;
    world_node_facts(w, f);
    f = pool_node(4, 1);
    f->taints = xcalloc(1, sizeof *f->taints);
    f->n_taints = 1;
    f->taints[0].key = xstrdup("k");
    f->taints[0].value = xstrdup("v");
    f->taints[0].effect = TAINT_NO_EXECUTE;
    world_node_facts(w, f);
    assert_int_equal(stops_for_all(w, "o"), 3);
    world_node_facts(w, pool_node(3, 1));
    world_node_facts(w, pool_node(4, 1));
    assert_int_equal(stops_for_all(w, "o"), 1);
    world_free(w);
}

static void P06_nodes_with_anti_affinity_are_looked_at_one_by_one(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = world_pod_facts(i ? "y" : "x", NULL, 0);
        f->node = xstrdup(i ? "n31" : "n30");
        f->phase = PHASE_RUNNING;
        f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
        f->n_anti_affinity = 1;
        world_pod_set(w, f);
    }
    world_pod(w, "o", NULL, 1);
    assert_int_equal(stops_for_all(w, "o"), 3); /* the rest, and each of the two */
    world_free(w);
}

/* ---- which node is taken ---- */

static void P06_of_equal_nodes_the_first_by_name_is_filled_and_then_the_next(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_pod_seen(w, "o", NULL, 8, "n00", PHASE_RUNNING); /* full */
    world_pod_seen(w, "p", NULL, 5, "n33", PHASE_RUNNING); /* the fullest with room */
    world_group(w, "g", 20);
    world_members(w, "g", 0, 20, 1);
    assert_int_equal(world_reserved(w, "n33", GPU), 3);
    assert_int_equal(world_reserved(w, "n01", GPU), 8);
    assert_int_equal(world_reserved(w, "n02", GPU), 8);
    assert_int_equal(world_reserved(w, "n03", GPU), 1);
    world_free(w);
}

static void P06_a_plan_that_fails_leaves_the_classes_as_they_were(void **state)
{
    (void)state;
    struct world *w = cluster(2);
    world_group(w, "g", NODES * 8 + 1);
    world_members(w, "g", 0, NODES * 8 + 1, 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_int_equal(stops_for_all(w, "g-0"), 1);
    world_free(w);
}

static void P06_a_slot_leaves_for_another_node_of_the_same_class(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 8);
    assert_int_equal(world_reserved(w, "n00", GPU), 8);
    struct gang_node_facts *f = pool_node(0, 1);
    f->unschedulable = true;
    world_node_facts(w, f);
    assert_int_equal(world_reserved(w, "n00", GPU), 0);
    assert_int_equal(world_reserved(w, "n01", GPU), 8);
    assert_int_equal(world_reserved(w, "n02", GPU), 8);
    world_free(w);
}

static void P06_nodes_may_be_added_and_deleted_in_any_order(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_pod(w, "o", NULL, 1);
    for (int i = 0; i < NODES; i += 2) {
        char name[16];
        snprintf(name, sizeof name, "n%02d", i * 37 % NODES);
        world_node_gone(w, name);
    }
    size_t nodes;
    assert_int_equal(stops(w, "o", &nodes), 1);
    assert_int_equal(nodes, NODES / 2);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 8);
    assert_int_equal(world_reserved(w, "n01", GPU), 8);
    world_free(w);
}

/* ---- waiting lists ---- */

static void P06_a_waiting_list_learns_from_one_of_its_gangs(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    world_pod_seen(w, "old", NULL, 8, "n", PHASE_RUNNING);
    world_pod_seen(w, "small", NULL, 0, "n", PHASE_RUNNING);
    char name[16];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "g%02d", i);
        world_group(w, name, 2);
        world_members(w, name, 0, 2, 4);
    }
    uint64_t trials = w->core->trials;
    world_pod_gone(w, "small"); /* helps nobody: the first finds out */
    assert_int_equal(w->core->trials - trials, 1);
    assert_string_equal(
        world_reason(w, "g49"),
        "gang default/g49: 2 members needed, room for 0 (8 short of nvidia.com/gpu)");
    world_pod_gone(w, "old"); /* room for one gang: the first in order, the others learn of it */
    assert_string_equal(world_state(w, "g00"), "Planned");
    for (int i = 1; i < 50; i++) {
        snprintf(name, sizeof name, "g%02d", i);
        assert_string_equal(world_state(w, name), "Waiting");
    }
    world_free(w);
}

static void P06_words_follow_when_the_room_is_another(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    world_pod_seen(w, "a", NULL, 4, "n", PHASE_RUNNING);
    world_pod_seen(w, "b", NULL, 4, "n", PHASE_RUNNING);
    for (int i = 0; i < 3; i++) {
        const char *name[] = {"x", "y", "z"};
        world_group(w, name[i], 3);
        world_members(w, name[i], 0, 3, 4);
    }
    world_pod_gone(w, "a");
    assert_string_equal(world_reason(w, "z"),
                        "gang default/z: 3 members needed, room for 1 (8 short of nvidia.com/gpu)");
    world_free(w);
}

/* A node affinity of one term with one requirement: In (value). */
static struct gang_pod_facts *with_affinity(struct gang_pod_facts *f, const char *key,
                                            const char *value)
{
    f->has_affinity = true;
    f->affinity = xcalloc(1, sizeof *f->affinity);
    f->n_affinity = 1;
    f->affinity[0].items = xcalloc(1, sizeof *f->affinity[0].items);
    f->affinity[0].n = 1;
    struct gang_requirement *r = &f->affinity[0].items[0];
    *r = (struct gang_requirement){.key = xstrdup(key), .op = MATCH_IN, .n_values = 1};
    r->on_name = str_eq(key, "metadata.name");
    r->values = xcalloc(1, sizeof *r->values);
    r->values[0] = xstrdup(value);
    return f;
}

static void P06_affinity_asks_for_labels_and_for_single_nodes_by_name(void **state)
{
    (void)state;
    struct world *w = cluster(3);
    world_group(w, "g", 1);
    world_pod_set(w, with_affinity(world_pod_facts("g-0", "g", 8), "pool", "pool-1"));
    world_group(w, "h", 1);
    world_pod_set(w, with_affinity(world_pod_facts("h-0", "h", 8), "metadata.name", "n07"));
    size_t nodes;
    assert_int_equal(stops(w, "g-0", &nodes), 4); /* three pools, and the nodes that are full */
    assert_int_equal(nodes, NODES);
    assert_int_equal(stops(w, "h-0", &nodes), NODES);
    assert_string_equal(world_filter(w, "g-0"), "n01");
    assert_string_equal(world_filter(w, "h-0"), "n07");
    world_free(w);
}

static void P06_a_taint_that_is_a_wish_parts_no_nodes(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    struct gang_node_facts *f = pool_node(3, 1);
    f->taints = xcalloc(1, sizeof *f->taints);
    f->n_taints = 1;
    f->taints[0] = (struct gang_taint){xstrdup("old"), xstrdup(""), TAINT_PREFER_NO_SCHEDULE};
    world_node_facts(w, f);
    world_group(w, "g", 2);
    member(w, "g-0", "g", 1, NULL, NULL);
    size_t nodes;
    assert_int_equal(stops(w, "g-0", &nodes), 1);
    assert_int_equal(nodes, NODES);
    world_free(w);
}

/* Sixty-four labels part nodes; who asks for others has each node looked at. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P06_labels_that_nobody_asks_for_part_no_nodes),
        cmocka_unit_test(P06_a_label_parts_nodes_once_it_is_asked_for),
        cmocka_unit_test(P06_the_hosts_own_name_parts_no_nodes),
        cmocka_unit_test(P06_a_node_is_in_the_class_of_what_is_free),
        cmocka_unit_test(P06_a_tainted_and_a_cordoned_node_are_classes),
        cmocka_unit_test(P06_nodes_with_anti_affinity_are_looked_at_one_by_one),
        cmocka_unit_test(P06_of_equal_nodes_the_first_by_name_is_filled_and_then_the_next),
        cmocka_unit_test(P06_a_plan_that_fails_leaves_the_classes_as_they_were),
        cmocka_unit_test(P06_a_slot_leaves_for_another_node_of_the_same_class),
        cmocka_unit_test(P06_nodes_may_be_added_and_deleted_in_any_order),
        cmocka_unit_test(P06_a_waiting_list_learns_from_one_of_its_gangs),
        cmocka_unit_test(P06_words_follow_when_the_room_is_another),
        cmocka_unit_test(P06_affinity_asks_for_labels_and_for_single_nodes_by_name),
        cmocka_unit_test(P06_a_taint_that_is_a_wish_parts_no_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
