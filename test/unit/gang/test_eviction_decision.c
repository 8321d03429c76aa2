/* SPDX-License-Identifier: Apache-2.0 */
/* What happens between a decision to evict and the evictions. */
#include "gang/gang.h"
#include "test/lib/test_config.h"
#include "test/lib/world.h"

static struct gang_pod_facts *running(const char *name, const char *group, const char *node)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 4);
    f->controlled = true;
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    return f;
}

/* A gang of two, each of which needs a whole node. */
static void urgent_arrives(struct world *w)
{
    world_group(w, "urgent", 2);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("urgent-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "urgent", 4);
        f->priority = 10;
        world_pod_set(w, f);
    }
}

static void single(struct world *w, const char *name, const char *node, int priority)
{
    struct gang_pod_facts *f = running(name, NULL, node);
    f->priority = priority;
    gang_kvs_add(&f->labels, "guarded", "");
    world_pod_set(w, f);
}

/* n0 and n1 are full with one pod each. Evicting both makes room for the gang. */
static struct world *decided(void)
{
    struct world *w = world_of_nodes(2, 4);
    single(w, "low-0", "n0", 0);
    single(w, "low-1", "n1", 1);
    urgent_arrives(w);
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    assert_int_equal(stats.searches, 1);
    assert_int_equal(w->n_evictions, 0);
    return w;
}

static void nothing(struct world *w)
{
    (void)w;
}

static void a_node_comes(struct world *w)
{
    world_node(w, "n2", 4);
}

static void two_nodes_come(struct world *w)
{
    struct gang_event nodes[] = {
        {.kind = GANG_EV_NODE_SET, .node = world_gpu_node("n2", 4)},
        {.kind = GANG_EV_NODE_SET, .node = world_gpu_node("n3", 4)},
    };
    world_step(w, nodes, ARRAY_SIZE(nodes));
}

static void a_victim_ends(struct world *w)
{
    world_pod_gone(w, "low-0");
}

static void a_victim_gets_a_higher_priority(struct world *w)
{
    single(w, "low-1", "n1", 20);
}

static void a_budget_forbids_one(struct world *w)
{
    world_budget(w, "guard", "guarded", 1);
}

static void a_node_goes(struct world *w)
{
    world_node_gone(w, "n1");
}

static void another_pod_takes_a_place(struct world *w)
{
    world_pod_gone(w, "low-0");
    single(w, "high", "n0", 20);
}

static void the_gang_goes(struct world *w)
{
    world_group_gone(w, "urgent");
}

static const struct change {
    const char *what;
    void (*happens)(struct world *w);
    size_t evicted;
    const char *reason; /* of the gang afterwards; NULL: it has none */
} changes[] = {
    {"nothing", nothing, 2, "WaitsForEvictedPods"},
    {"a node comes, so one is enough", a_node_comes, 1, "WaitsForEvictedPods"},
    {"two nodes come", two_nodes_come, 0, NULL},
    {"a victim ends", a_victim_ends, 1, "WaitsForEvictedPods"},
    {"a victim gets a higher priority", a_victim_gets_a_higher_priority, 0, "NotEnoughResources"},
    {"a budget forbids one eviction", a_budget_forbids_one, 0, "NotEnoughResources"},
    {"a node goes", a_node_goes, 0, "NotEnoughResources"},
    {"another pod takes a place", another_pod_takes_a_place, 0, "NotEnoughResources"},
    {"the gang goes", the_gang_goes, 0, NULL},
};

static void Q06_a_decision_is_checked_before_pods_are_evicted(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        struct world *w = decided();
        changes[i].happens(w);
        world_wait(w, SECONDS(10));
        const char *reason = world_reason_name(w, "urgent");
        if (w->n_evictions != changes[i].evicted)
            fail_msg("%s: %zu pods are evicted, not %zu", changes[i].what, w->n_evictions,
                     changes[i].evicted);
        if (changes[i].reason)
            assert_string_equal(reason, changes[i].reason);
        world_free(w);
    }
}

/* ---- marks of whole gangs ---- */

static void victim(struct world *w, const char *name, const char *node, bool marked)
{
    struct gang_pod_facts *f = running(name, "victim", node);
    f->marked = marked;
    world_pod_set(w, f);
}

/* A gang of two has been chosen as the victim, and the watch does not show the marks yet. */
static struct world *marking(void)
{
    struct world *w = world_of_nodes(2, 4);
    w->marks_are_late = true;
    world_group(w, "victim", 2);
    victim(w, "victim-0", "n0", false);
    victim(w, "victim-1", "n1", false);
    urgent_arrives(w);
    world_wait(w, SECONDS(1));
    assert_int_equal(w->n_marked, 2);
    assert_int_equal(w->n_evictions, 0);
    assert_string_equal(world_reason_name(w, "urgent"), "WaitsForEvictedPods");
    return w;
}

/* muster has requested the evictions of the marked gang. */
static struct world *marks_shown(void)
{
    struct world *w = marking();
    victim(w, "victim-1", "n1", true);
    victim(w, "victim-0", "n0", true);
    world_forget(w);
    return w;
}

static void Q08_a_gang_is_marked_before_it_is_evicted(void **state)
{
    (void)state;
    struct world *w = marking();
    victim(w, "victim-1", "n1", true);
    assert_int_equal(w->n_evictions, 0);
    victim(w, "victim-0", "n0", true);
    assert_int_equal(w->n_evictions, 2);
    assert_int_equal(w->n_marked, 2);
    world_free(w);
}

/* kube-controller-manager ends a mark after two minutes, while a budget still delays the eviction.
 */
static void Q08_a_mark_is_repeated_until_the_pod_ends(void **state)
{
    (void)state;
    struct world *w = marks_shown();
    struct gang_pod_facts *f = running("victim-1", "victim", "n1");
    f->mark_ended = true;
    world_pod_set(w, f);
    assert_int_equal(w->n_marked, 1);
    assert_int_equal(w->n_evictions, 0);
    world_free(w);
}

/* The Eviction API writes its own condition before it deletes the pod. */
static void Q08_the_condition_of_the_eviction_api_stays(void **state)
{
    (void)state;
    struct world *w = marks_shown();
    victim(w, "victim-1", "n1", false);
    assert_int_equal(w->n_marked, 0);
    world_free(w);
}

/* A member that leaves by itself needs no mark. */
static void Q08_members_that_end_need_no_mark(void **state)
{
    (void)state;
    struct world *w = marking();
    victim(w, "victim-1", "n1", true);
    world_pod_gone(w, "victim-0");
    assert_int_equal(w->n_evictions, 1);
    assert_true(world_evicted(w, "victim-1"));
    world_free(w);
}

/* The API server may refuse the marks. */
static void Q08_a_gang_is_evicted_without_marks_in_the_end(void **state)
{
    (void)state;
    struct world *w = marking();
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_evictions, 0);
    world_wait(w, SECONDS(3));
    assert_int_equal(w->n_evictions, 2);
    world_wait(w, SECONDS(60));
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

/* A pod without a gang leaves nothing behind. */
static void single_pods_are_not_marked(void **state)
{
    (void)state;
    struct world *w = decided();
    world_wait(w, SECONDS(1));
    assert_int_equal(w->n_evictions, 2);
    assert_int_equal(w->n_marked, 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q06_a_decision_is_checked_before_pods_are_evicted),
        cmocka_unit_test(Q08_a_gang_is_marked_before_it_is_evicted),
        cmocka_unit_test(Q08_a_mark_is_repeated_until_the_pod_ends),
        cmocka_unit_test(Q08_the_condition_of_the_eviction_api_stays),
        cmocka_unit_test(Q08_members_that_end_need_no_mark),
        cmocka_unit_test(Q08_a_gang_is_evicted_without_marks_in_the_end),
        cmocka_unit_test(single_pods_are_not_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
