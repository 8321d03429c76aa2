/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal nodes form one class. The tests count the steps of a node scan: a plan must not visit every
 * node of a class, and must find the same nodes as a scan that visits each of them.
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
    gang_kvs_add(&f->labels, "rack", name); /* different on each node */
    return f;
}

static struct world *cluster(int pools)
{
    struct world *w = world_new();
    for (int i = 0; i < NODES; i++)
        world_node_facts(w, pool_node(i, pools));
    return w;
}

/* A member that selects nodes by a label; key NULL: without a selector. */
static void member(struct world *w, const char *name, const char *group, int gpus, const char *key,
                   const char *value)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, gpus);
    if (key)
        gang_kvs_add(&f->node_selector, key, value);
    world_pod_set(w, f);
}

/* How many classes a node scan for this pod's signature visits; *ret_nodes: their nodes in total.
 */
static size_t classes_scanned(struct world *w, const char *pod, size_t *ret_nodes)
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

static size_t classes_of_all_nodes(struct world *w, const char *pod)
{
    size_t nodes, n = classes_scanned(w, pod, &nodes);
    assert_int_equal(nodes, NODES);
    return n;
}

/* ---- which nodes form a class ---- */

static void P06_labels_that_no_pod_selects_divide_no_nodes(void **state)
{
    (void)state;
    struct world *w = cluster(3);
    world_group(w, "g", 2);
    member(w, "g-0", "g", 1, NULL, NULL);
    assert_int_equal(classes_of_all_nodes(w, "g-0"), 1);
    world_free(w);
}

static void P06_a_label_divides_nodes_once_a_pod_selects_by_it(void **state)
{
    (void)state;
    struct world *w = cluster(3);
    world_group(w, "g", 2);
    member(w, "g-0", "g", 1, "pool", "pool-2");
    assert_int_equal(classes_of_all_nodes(w, "g-0"), 3);
    member(w, "g-1", "g", 1, "pool", "pool-2");
    assert_string_equal(world_filter(w, "g-0"), "n02");
    world_free(w);
}

static void P06_the_host_name_divides_no_nodes(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_group(w, "g", 2);
    member(w, "g-0", "g", 1, "kubernetes.io/hostname", "n17");
    assert_int_equal(classes_of_all_nodes(w, "g-0"), NODES); /* its own scan visits each node */
    member(w, "g-1", "g", 1, "kubernetes.io/hostname", "n17");
    assert_int_equal(world_reserved(w, "n17", GPU), 2);
    world_pod(w, "o", NULL, 1);
    assert_int_equal(classes_of_all_nodes(w, "o"),
                     2); /* other scans do not: n17 is one class, the rest another */
    world_free(w);
}

static void P06_nodes_with_the_same_free_room_are_a_class(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_pod(w, "o", NULL, 1);
    assert_int_equal(classes_of_all_nodes(w, "o"), 1);
    world_pod_seen(w, "a", NULL, 3, "n05", PHASE_RUNNING);
    world_pod_seen(w, "b", NULL, 3, "n40", PHASE_RUNNING);
    assert_int_equal(classes_of_all_nodes(w, "o"), 2);
    world_pod_seen(w, "c", NULL, 1, "n40", PHASE_RUNNING);
    assert_int_equal(classes_of_all_nodes(w, "o"), 3);
    world_pod_gone(w, "c");
    assert_int_equal(classes_of_all_nodes(w, "o"), 2);
    world_pod_gone(w, "a");
    world_pod_gone(w, "b");
    assert_int_equal(classes_of_all_nodes(w, "o"), 1);
    world_free(w);
}

static void P06_tainted_and_cordoned_nodes_are_classes_of_their_own(void **state)
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
    assert_int_equal(classes_of_all_nodes(w, "o"), 3);
    world_node_facts(w, pool_node(3, 1));
    world_node_facts(w, pool_node(4, 1));
    assert_int_equal(classes_of_all_nodes(w, "o"), 1);
    world_free(w);
}

static void P06_nodes_with_anti_affinity_are_scanned_one_by_one(void **state)
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
    assert_int_equal(classes_of_all_nodes(w, "o"), 3); /* the rest, and each of the two nodes */
    world_free(w);
}

/* ---- which node is chosen ---- */

static void P06_equal_nodes_are_filled_one_after_the_other_by_name(void **state)
{
    (void)state;
    struct world *w = cluster(1);
    world_pod_seen(w, "o", NULL, 8, "n00", PHASE_RUNNING); /* full */
    world_pod_seen(w, "p", NULL, 5, "n33", PHASE_RUNNING); /* the fullest node with room */
    world_group(w, "g", 20);
    world_members(w, "g", 0, 20, 1);
    assert_int_equal(world_reserved(w, "n33", GPU), 3);
    assert_int_equal(world_reserved(w, "n01", GPU), 8);
    assert_int_equal(world_reserved(w, "n02", GPU), 8);
    assert_int_equal(world_reserved(w, "n03", GPU), 1);
    world_free(w);
}

static void P06_a_failed_plan_does_not_change_the_classes(void **state)
{
    (void)state;
    struct world *w = cluster(2);
    world_group(w, "g", NODES * 8 + 1);
    world_members(w, "g", 0, NODES * 8 + 1, 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_int_equal(classes_of_all_nodes(w, "g-0"), 1);
    world_free(w);
}

static void P06_a_slot_moves_to_another_node_of_the_same_class(void **state)
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
    assert_int_equal(classes_scanned(w, "o", &nodes), 1);
    assert_int_equal(nodes, NODES / 2);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 8);
    assert_int_equal(world_reserved(w, "n01", GPU), 8);
    world_free(w);
}

/* ---- waiting lists ---- */

static void P06_one_trial_is_enough_for_waiting_gangs_that_are_equal(void **state)
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
    world_pod_gone(w, "small"); /* not enough: only one trial, for the first gang */
    assert_int_equal(w->core->trials - trials, 1);
    assert_string_equal(
        world_reason(w, "g49"),
        "gang default/g49: 2 members needed, room for 0 (8 short of nvidia.com/gpu)");
    world_pod_gone(w, "old"); /* room for one gang, the first in the order */
    assert_string_equal(world_state(w, "g00"), "Planned");
    for (int i = 1; i < 50; i++) {
        snprintf(name, sizeof name, "g%02d", i);
        assert_string_equal(world_state(w, name), "Waiting");
    }
    world_free(w);
}

static void P06_the_reason_changes_when_the_room_changes(void **state)
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

/* Adds a node affinity of one term with one requirement: key In (value). */
static struct gang_pod_facts *with_affinity(struct gang_pod_facts *f, const char *key,
                                            const char *value)
{
    f->has_affinity = true;
    f->affinity = xcalloc(1, sizeof *f->affinity);
    f->n_affinity = 1;
    world_term_in(&f->affinity[0], key, value);
    f->affinity[0].items[0].on_name = str_eq(key, "metadata.name");
    return f;
}

static void P06_affinity_divides_by_label_and_a_node_name_scans_every_node(void **state)
{
    (void)state;
    struct world *w = cluster(3);
    world_group(w, "g", 1);
    world_pod_set(w, with_affinity(world_pod_facts("g-0", "g", 8), "pool", "pool-1"));
    world_group(w, "h", 1);
    world_pod_set(w, with_affinity(world_pod_facts("h-0", "h", 8), "metadata.name", "n07"));
    size_t nodes;
    assert_int_equal(classes_scanned(w, "g-0", &nodes), 4); /* three pools, and the full node */
    assert_int_equal(nodes, NODES);
    assert_int_equal(classes_scanned(w, "h-0", &nodes), NODES);
    assert_string_equal(world_filter(w, "g-0"), "n01");
    assert_string_equal(world_filter(w, "h-0"), "n07");
    world_free(w);
}

static void P06_a_preferred_taint_divides_no_nodes(void **state)
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
    assert_int_equal(classes_scanned(w, "g-0", &nodes), 1);
    assert_int_equal(nodes, NODES);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P06_labels_that_no_pod_selects_divide_no_nodes),
        cmocka_unit_test(P06_a_label_divides_nodes_once_a_pod_selects_by_it),
        cmocka_unit_test(P06_the_host_name_divides_no_nodes),
        cmocka_unit_test(P06_nodes_with_the_same_free_room_are_a_class),
        cmocka_unit_test(P06_tainted_and_cordoned_nodes_are_classes_of_their_own),
        cmocka_unit_test(P06_nodes_with_anti_affinity_are_scanned_one_by_one),
        cmocka_unit_test(P06_equal_nodes_are_filled_one_after_the_other_by_name),
        cmocka_unit_test(P06_a_failed_plan_does_not_change_the_classes),
        cmocka_unit_test(P06_a_slot_moves_to_another_node_of_the_same_class),
        cmocka_unit_test(P06_nodes_may_be_added_and_deleted_in_any_order),
        cmocka_unit_test(P06_one_trial_is_enough_for_waiting_gangs_that_are_equal),
        cmocka_unit_test(P06_the_reason_changes_when_the_room_changes),
        cmocka_unit_test(P06_affinity_divides_by_label_and_a_node_name_scans_every_node),
        cmocka_unit_test(P06_a_preferred_taint_divides_no_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
