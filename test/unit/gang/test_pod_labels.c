/* SPDX-License-Identifier: Apache-2.0 */
/* Rule labels: each namespace has its own. */
#include <stdio.h>

#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_labels.h"
#include "test/lib/world.h"

static struct gang_pod_facts *pod_in(const char *ns, const char *name, int gpus)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, gpus);
    free(f->ns);
    f->ns = xstrdup(ns);
    return f;
}

/* Adds anti-affinity to pods that have a label with this key. */
static struct gang_pod_facts *anti_affinity(struct gang_pod_facts *f, const char *key,
                                            bool all_namespaces)
{
    f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
    f->n_anti_affinity = 1;
    f->anti_affinity[0].all_namespaces = all_namespaces;
    struct gang_term *term = &f->anti_affinity[0].term;
    term->items = xcalloc(1, sizeof *term->items);
    term->n = 1;
    term->items[0].key = xstrdup(key);
    term->items[0].op = MATCH_EXISTS;
    return f;
}

static size_t keys_of(const struct world *w, const char *ns)
{
    const struct map *keys = rule_labels_of(w->core, ns);
    return keys ? map_count(keys) : 0;
}

static void T16_rules_of_one_namespace_use_up_no_rule_labels_of_others(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    for (int i = 0; i < 200; i++) {
        cleanup_free char *name = xasprintf("e-%d", i), *key = xasprintf("k-%d", i);
        world_pod_set(w, anti_affinity(pod_in("evil", name, 1), key, i % 2));
    }
    assert_int_equal(keys_of(w, "evil"), 64);
    world_group(w, "g", 2);
    world_pod_set(w, anti_affinity(world_pod_facts("g-0", "g", 1), "app", false));
    assert_int_equal(keys_of(w, "default"), 1);
    world_free(w);
}

/* A rule of another namespace does not divide pods into signatures. */
static void T16_rules_about_all_namespaces_add_no_signatures_to_others(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    world_pod_set(w, anti_affinity(pod_in("evil", "e", 1), "index", true));
    size_t before = map_count(&w->core->signatures);
    world_group(w, "g", 20);
    for (int i = 0; i < 20; i++) {
        cleanup_free char *name = xasprintf("g-%d", i), *index = xasprintf("%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
        gang_kvs_add(&f->labels, "index", index);
        world_pod_set(w, f);
    }
    assert_int_equal(map_count(&w->core->signatures), before + 1);
    world_free(w);
}

static void T16_labels_that_no_rule_reads_any_more_are_dropped(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    world_group(w, "g", 20);
    for (int i = 0; i < 4; i++) {
        cleanup_free char *name = xasprintf("g-%d", i), *index = xasprintf("%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
        gang_kvs_add(&f->labels, "index", index);
        world_pod_set(w, f);
    }
    size_t before = map_count(&w->core->signatures);
    world_pod_set(w, anti_affinity(world_pod_facts("o", NULL, 1), "index", false));
    assert_int_equal(map_count(&w->core->signatures), before + 4);
    world_pod_gone(w, "o");
    world_wait(w, SECONDS(11));
    world_pod(w, "p", NULL, 3);
    assert_int_equal(keys_of(w, "default"), 0);
    assert_int_equal(map_count(&w->core->signatures), before + 1); /* the signature of "p" */
    world_free(w);
}

/* Each new key gives all members of the namespace new signatures, so the next key has to wait for a
 * moment. */
static void T16_a_second_label_key_counts_only_after_a_pause(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    world_group(w, "g", 30);
    for (int i = 0; i < 20; i++) {
        cleanup_free char *name = xasprintf("g-%d", i), *index = xasprintf("%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
        gang_kvs_add(&f->labels, "index", index);
        world_pod_set(w, f);
    }
    world_pod_set(w, anti_affinity(world_pod_facts("a", NULL, 2), "app", false));
    size_t before = map_count(&w->core->signatures);
    world_pod_set(w, anti_affinity(world_pod_facts("b", NULL, 2), "index", false));
    assert_int_equal(map_count(&w->core->signatures), before + 1); /* the signature of "b" */
    assert_true(gang_core_next(w->core) <= w->now + 5 * USEC_PER_MSEC);
    world_wait(w, 5 * USEC_PER_MSEC);
    assert_int_equal(map_count(&w->core->signatures),
                     before + 20); /* the members now have 20 signatures, not 1 */
    world_free(w);
}

/* Keys come and go, at most 64 at a time. None is lost. */
static void T16_a_namespace_may_replace_its_rule_labels_over_time(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 8);
    for (int i = 0; i < 300; i++) {
        cleanup_free char *name = xasprintf("p-%d", i), *key = xasprintf("k-%d", i),
                          *old = xasprintf("p-%d", i - 30);
        world_pod_set(w, anti_affinity(world_pod_facts(name, NULL, 1), key, false));
        assert_non_null(map_get(rule_labels_of(w->core, "default"), key));
        if (i >= 30)
            world_pod_gone(w, old);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T16_rules_of_one_namespace_use_up_no_rule_labels_of_others),
        cmocka_unit_test(T16_rules_about_all_namespaces_add_no_signatures_to_others),
        cmocka_unit_test(T16_labels_that_no_rule_reads_any_more_are_dropped),
        cmocka_unit_test(T16_a_second_label_key_counts_only_after_a_pause),
        cmocka_unit_test(T16_a_namespace_may_replace_its_rule_labels_over_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
