/* SPDX-License-Identifier: Apache-2.0 */
/* What users are told about evictions and about searches for victims. */
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

static void a_gang_is_told_that_it_loses_members(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "elastic", 1);
    runs(w, "elastic-0", "elastic", 4, "n1", true);
    runs(w, "elastic-1", "elastic", 2, "n0", false);
    runs(w, "elastic-2", "elastic", 2, "n0", false);
    urgent(w, 4);
    assert_true(world_evicted(w, "elastic-1") && world_evicted(w, "elastic-2"));
    assert_true(world_event(w, "Pod/elastic-1 Preempted: evicted to make room for gang"));
    assert_true(world_event(w, "PodGroup/elastic Preempted: loses 2 members: evicted to make room "
                               "for gang default/urgent, which has a higher priority"));
    assert_true(world_event(w, "(highest priority: 0, gangs and pods hit: 1, lost work: "));
    world_free(w);
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
        cmocka_unit_test(a_gang_is_told_that_it_loses_members),
        cmocka_unit_test(an_explanation_knows_the_last_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
