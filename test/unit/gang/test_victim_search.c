/* SPDX-License-Identifier: Apache-2.0 */
/* What muster explain reports about searches for victims. */
#include <stdio.h>

#include "test/lib/world.h"

/* A running pod. `stays`: it has no controller, so it is not evicted. */
static void runs(struct world *w, const char *name, const char *gang, int gpus, const char *node,
                 bool stays)
{
    struct gang_pod_facts *f = world_pod_facts(name, gang, gpus);
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    f->controlled = !stays;
    world_pod_set(w, f);
}

/* A gang with a member of priority 10. */
static void urgent(struct world *w, int gpus)
{
    world_group(w, "urgent", 1);
    struct gang_pod_facts *f = world_pod_facts("urgent-0", "urgent", gpus);
    f->priority = 10;
    world_pod_set(w, f);
}

/* An explanation searches for a shorter time than muster itself. Only the latter is long enough
 * here. */
static void an_explanation_knows_the_last_search(void **state)
{
    (void)state;
    char api_group[] = "test", ns[] = "default", name[] = "urgent";
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    struct world *w = world_of_nodes(1, 0);
    w->unchecked = true;
    for (int i = 0; i < 15000; i++) {
        cleanup_free char *node = xasprintf("empty-%d", i);
        world_node(w, node, 0);
    }
    world_node(w, "full", 4);
    runs(w, "large", NULL, 3, "full", true);
    runs(w, "small", NULL, 1, "full", false);
    urgent(w, 4);
    assert_int_equal(w->n_evictions, 0);
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    assert_int_equal(x.eviction.room, GANG_NO);
    gang_explained_done(&x);
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    assert_int_equal(stats.searches, 1);
    assert_int_equal(stats.searches_stopped, 0);
    world_free(w);
}

/* A gang as large as the cluster, and all room is in use by pods of a lower priority. To remove so
 * many pods in trials is more work than a search may take. muster evicts nobody, and says why. For
 * a gang of one node, it finds the victims. */
static void a_search_that_takes_too_long_is_stopped_and_reported(void **state)
{
    (void)state;
    enum { NODES = 300, PER_NODE = 100 };
    char api_group[] = "test", ns[] = "default", name[] = "urgent";
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    struct gang_stats stats;
    struct world *w = world_of_nodes(NODES, PER_NODE);
    w->unchecked = true;
    for (int i = 0; i < NODES * PER_NODE; i++) {
        cleanup_free char *pod = xasprintf("low-%d", i), *node = xasprintf("n%d", i % NODES);
        runs(w, pod, NULL, 1, node, false);
    }
    world_group(w, "urgent", NODES);
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *pod = xasprintf("urgent-%d", i);
        struct gang_pod_facts *f = world_pod_facts(pod, "urgent", PER_NODE);
        f->priority = 10;
        world_pod_set(w, f);
    }
    world_wait(w, 600 * USEC_PER_SEC);
    assert_int_equal(w->n_evictions, 0);
    gang_core_stats(w->core, &stats);
    assert_in_range(stats.searches_stopped, 2, 20);
    assert_int_equal(stats.searches, stats.searches_stopped);
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    assert_true(x.eviction.searched);
    assert_int_equal(x.eviction.room, GANG_NOT_ASKED);
    gang_explained_done(&x);
    world_group(w, "urgent", 1);
    for (int i = 0; i < 600 && !w->n_evictions; i++)
        world_wait(w, USEC_PER_SEC);
    assert_int_equal(w->n_evictions, PER_NODE);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_explanation_knows_the_last_search),
        cmocka_unit_test(a_search_that_takes_too_long_is_stopped_and_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
