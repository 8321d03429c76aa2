/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All namespaces share the class labels. If a pod selects by too many labels, or by a label with a
 * different value on each node, only the scans for this pod visit every node.
 */
#include <stdio.h>

#include "gang/cluster/class_labels.h"
#include "gang/cluster/lookup.h"
#include "gang/plan/node_scan.h"
#include "test/lib/world.h"

#define NODES  150
#define LABELS 70 /* on each node: l0 to l69, with two values each */

/* pool: 3 values; rack: 100; asset: a different value on each node. */
static struct gang_node_facts *labelled(int i)
{
    char name[24], text[24];
    snprintf(name, sizeof name, "n%03d", i);
    struct gang_node_facts *f = world_gpu_node(name, 8);
    snprintf(text, sizeof text, "pool-%d", i % 3);
    gang_kvs_add(&f->labels, "pool", text);
    snprintf(text, sizeof text, "rack-%d", i % 100);
    gang_kvs_add(&f->labels, "rack", text);
    gang_kvs_add(&f->labels, "asset", name);
    for (int k = 0; k < LABELS; k++) {
        snprintf(text, sizeof text, "l%d", k);
        gang_kvs_add(&f->labels, text, i % 2 ? "a" : "b");
    }
    return f;
}

static struct world *cluster(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    struct world *w = world_new_with(config, false);
    for (int i = 0; i < NODES; i++)
        world_node_facts(w, labelled(i));
    world_sync(w);
    return w;
}

/* Adds a pod that selects by keys[0..n). */
static void selecting(struct world *w, const char *ns, const char *name, const char *const *keys,
                      size_t n)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    free(f->ns);
    f->ns = xstrdup(ns);
    for (size_t i = 0; i < n; i++)
        gang_kvs_add(&f->node_selector, keys[i], "a");
    world_pod_set(w, f);
}

static void selecting_one(struct world *w, const char *ns, const char *name, const char *key)
{
    selecting(w, ns, name, &key, 1);
}

static void selecting_many(struct world *w, const char *ns, const char *name, const char *prefix,
                           size_t n)
{
    char **keys = xcalloc(n, sizeof *keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = xasprintf("%s%zu", prefix, i);
    selecting(w, ns, name, (const char *const *)keys, n);
    for (size_t i = 0; i < n; i++)
        free(keys[i]);
    free(keys);
}

static void gone(struct world *w, const char *ns, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_POD_GONE, .gone = {NULL, xstrdup(ns), xstrdup(name)}};
    world_step(w, &ev, 1);
}

/* How many classes a node scan for this pod's signature visits. */
static size_t classes_scanned(struct world *w, const char *pod)
{
    cleanup_free char *uid = xasprintf("uid-%s", pod);
    struct pod *p = pod_by_uid(w->core, uid);
    assert_non_null(p);
    struct node_scan scan = node_scan_begin(w->core, NULL, p->signature, NULL);
    size_t n = 0, nodes = 0;
    for (; node_scan_next(&scan); n++)
        nodes += scan.n;
    assert_int_equal(nodes, NODES);
    struct err err;
    if (gang_core_check(w->core, &err) < 0)
        fail_msg("%s", err.text);
    return n;
}

static void T16_labels_that_no_node_has_divide_no_nodes(void **state)
{
    (void)state;
    struct world *w = cluster();
    selecting_many(w, "evil", "e", "invented-", 1000);
    assert_int_equal(classes_scanned(w, "e"), 1);
    selecting_one(w, "good", "p", "pool");
    assert_int_equal(classes_scanned(w, "p"), 3);
    world_free(w);
}

static void T16_only_the_pod_with_many_selector_labels_scans_every_node(void **state)
{
    (void)state;
    struct world *w = cluster();
    selecting_many(w, "evil", "e", "l", LABELS);
    assert_int_equal(classes_scanned(w, "e"), NODES);
    selecting_one(w, "good", "p", "pool");
    assert_int_equal(classes_scanned(w, "p"), 3);
    selecting_one(w, "good", "l", "l69");
    assert_int_equal(classes_scanned(w, "l"), 6);
    assert_int_equal(classes_scanned(w, "e"), NODES);
    world_free(w);
}

/* One namespace has filled the table. A key of another namespace replaces one of its keys. */
static void T16_namespaces_share_a_full_table_fairly(void **state)
{
    (void)state;
    struct world *w = cluster();
    for (int i = 0; i < CLASS_LABELS_MAX; i++) {
        char name[24], key[24];
        snprintf(name, sizeof name, "e%d", i);
        snprintf(key, sizeof key, "l%d", i);
        selecting_one(w, "evil", name, key);
        assert_int_equal(classes_scanned(w, name), 2);
    }
    assert_int_equal(w->core->labels.n_class_labels, CLASS_LABELS_MAX);
    selecting_one(w, "evil", "more", "pool");
    assert_int_equal(classes_scanned(w, "more"), NODES); /* this namespace has used up its share */
    selecting_one(w, "good", "p", "pool");
    assert_int_equal(classes_scanned(w, "p"), 6);
    assert_int_equal(w->core->labels.n_class_labels, CLASS_LABELS_MAX);
    size_t singly = 0;
    for (int i = 0; i < CLASS_LABELS_MAX; i++) {
        char name[24];
        snprintf(name, sizeof name, "e%d", i);
        singly += classes_scanned(w, name) == NODES;
    }
    assert_int_equal(singly, 1);
    world_free(w);
}

static void T16_a_label_that_differs_on_each_node_does_not_slow_other_namespaces(void **state)
{
    (void)state;
    struct world *w = cluster();
    selecting_one(w, "evil", "e", "asset");
    selecting_one(w, "evil", "r", "rack");
    assert_int_equal(classes_scanned(w, "e"), NODES);
    assert_int_equal(classes_scanned(w, "r"), NODES);
    selecting_one(w, "good", "p", "pool");
    assert_int_equal(classes_scanned(w, "p"), 3);
    world_free(w);
}

static void T16_labels_that_no_pod_selects_any_more_are_dropped(void **state)
{
    (void)state;
    struct world *w = cluster();
    selecting_one(w, "good", "p", "pool");
    selecting_one(w, "evil", "e", "l0");
    assert_int_equal(classes_scanned(w, "e"), 2);
    assert_int_equal(classes_scanned(w, "p"), 6);
    gone(w, "evil", "e");
    world_wait(w, SECONDS(11));
    world_pod(w, "o", NULL, 1);
    assert_int_equal(classes_scanned(w, "p"), 3);
    gone(w, "good", "p");
    world_wait(w, SECONDS(11));
    world_pod(w, "q", NULL, 1);
    assert_int_equal(classes_scanned(w, "o"), 1);
    assert_int_equal(w->core->labels.n_class_labels, 0);
    world_free(w);
}

/* A signature whose label did not fit into the table gets it when there is room again. */
static void T16_a_dropped_label_makes_room_for_a_waiting_one(void **state)
{
    (void)state;
    struct world *w = cluster();
    selecting_many(w, "evil", "e", "l", CLASS_LABELS_MAX);
    assert_int_equal(classes_scanned(w, "e"), 2);
    selecting_one(w, "evil", "r", "pool");
    assert_int_equal(classes_scanned(w, "r"), NODES);
    gone(w, "evil", "e");
    world_wait(w, SECONDS(11));
    world_pod(w, "o", NULL, 1);
    assert_int_equal(classes_scanned(w, "r"), 3);
    world_free(w);
}

/* Pods select by the label before any node has it. */
static void T16_a_label_that_nodes_get_later_counts(void **state)
{
    (void)state;
    struct world *w = cluster();
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
    gang_kvs_add(&f->node_selector, "late", "yes");
    world_group(w, "g", 1);
    world_pod_set(w, f);
    assert_string_equal(world_state(w, "g"), "Waiting");
    struct gang_node_facts *node = labelled(117);
    gang_kvs_add(&node->labels, "late", "yes");
    world_node_facts(w, node);
    assert_string_equal(world_filter(w, "g-0"), "n117");
    assert_int_equal(classes_scanned(w, "g-0"), 2);
    world_free(w);
}

/* Nodes come whose values of the label are all different. */
static void T16_a_label_that_gets_too_many_values_is_dropped(void **state)
{
    (void)state;
    struct world *w = cluster();
    selecting_one(w, "good", "p", "pool");
    assert_int_equal(classes_scanned(w, "p"), 3);
    for (int i = 0; i < NODES / 2; i++) {
        struct gang_node_facts *f = labelled(i);
        for (size_t k = 0; k < f->labels.n; k++)
            if (strcmp(f->labels.items[k].key, "pool") == 0) {
                free(f->labels.items[k].value);
                f->labels.items[k].value = xasprintf("own-%d", i);
            }
        world_node_facts(w, f);
        selecting_one(w, "good", "p", "pool");
        assert_true(classes_scanned(w, "p") <= CLASS_LABEL_SETS_MAX ||
                    classes_scanned(w, "p") == NODES);
    }
    world_pod(w, "o", NULL, 1);
    assert_int_equal(classes_scanned(w, "o"), 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T16_labels_that_no_node_has_divide_no_nodes),
        cmocka_unit_test(T16_only_the_pod_with_many_selector_labels_scans_every_node),
        cmocka_unit_test(T16_namespaces_share_a_full_table_fairly),
        cmocka_unit_test(T16_a_label_that_differs_on_each_node_does_not_slow_other_namespaces),
        cmocka_unit_test(T16_labels_that_no_pod_selects_any_more_are_dropped),
        cmocka_unit_test(T16_a_dropped_label_makes_room_for_a_waiting_one),
        cmocka_unit_test(T16_a_label_that_nodes_get_later_counts),
        cmocka_unit_test(T16_a_label_that_gets_too_many_values_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
