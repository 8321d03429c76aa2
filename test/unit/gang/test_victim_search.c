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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_explanation_knows_the_last_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
