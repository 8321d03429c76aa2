/* SPDX-License-Identifier: Apache-2.0 */
/* From which queue a gang may take room: rules of KAI and of Volcano. */
#include <stdio.h>

#include "test/lib/world_queues.h"

#define NODE_GPUS 4
#define UNSET     GANG_NOT_STATED

/* Each gang has one pod, which fills a node. */
struct row {
    const char *name, *parent;
    int64_t deserved; /* GPUs */
    int gangs;        /* that run */
};

/* All nodes are in use, and a gang arrives in queue a. */
struct rule {
    const char *text;
    struct row rows[7]; /* the last one has no name */
    const char *victim; /* the queue that loses a gang, in the same step; NULL: none does */
};

static const struct rule rules[] = {
    {"a queue takes back what it deserves", {{"a", NULL, 4, 0}, {"b", NULL, 4, 2}}, "b"},
    {"and no more than that", {{"a", NULL, 4, 1}, {"b", NULL, 4, 2}}, NULL},
    {"what a queue deserves is not taken", {{"a", NULL, 4, 0}, {"b", NULL, 8, 2}}, NULL},
    {"a queue that deserves nothing of a resource may lose all of it at once",
     {{"a", NULL, 4, 0}, {"b", NULL, 0, 1}},
     "b"},
    {"a queue deserves nothing of a resource that it does not state",
     {{"a", NULL, 4, 0}, {"b", NULL, UNSET, 1}},
     "b"},
    {"the parent of the queue that takes must deserve the room too",
     {{"a", "p", 4, 0}, {"p", NULL, 4, 0}, {"full", "p", 4, 1}, {"b", NULL, 0, 1}},
     NULL},
    {"a queue above that deserves the room allows it",
     {{"a", "p", 4, 0}, {"p", NULL, 8, 0}, {"full", "p", 4, 1}, {"b", NULL, 0, 1}},
     "b"},
    {"the parent of the queue that gives must use more than it deserves",
     {{"a", NULL, 4, 0}, {"q", NULL, 8, 0}, {"b", "q", 0, 2}},
     NULL},
    {"a queue above that uses more than it deserves allows it",
     {{"a", NULL, 4, 0}, {"q", NULL, 4, 0}, {"b", "q", 0, 2}},
     "b"},
    {"no queue between may fall below what it deserves: m would, although q would not",
     {{"a", NULL, 4, 0},
      {"q", NULL, 4, 0},
      {"m", "q", 4, 0},
      {"b", "m", 0, 1},
      {"later", "q", 0, 1}},
     "later"},
    {"queues above the lowest common ancestor, and itself, do not count",
     {{"a", "p", 4, 0}, {"p", NULL, 4, 0}, {"b", "p", 0, 2}},
     "b"},
};

static void runs(struct world *w, const char *queue, const char *name, int node, int priority,
                 bool of_gang)
{
    struct gang_pod_facts *f = world_pod_facts(name, of_gang ? name : NULL, NODE_GPUS);
    f->node = xasprintf("n%d", node);
    f->phase = PHASE_RUNNING;
    f->controlled = true;
    f->created = f->bound_at = w->now;
    f->priority = priority;
    f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup(queue)};
    if (of_gang)
        world_group(w, name, 1);
    world_pod_set(w, f);
}

static void arrives(struct world *w, const char *queue, int priority)
{
    struct gang_group_facts *g = world_group_facts("new", 1);
    g->queue = xstrdup(queue);
    world_group_set(w, g);
    world_pod_shaped(w, "new-0", "new", NODE_GPUS, 1000, priority);
    world_decide(w);
}

static void check(const struct rule *rule)
{
    struct world *w = world_new();
    int node = 0;
    for (const struct row *row = rule->rows; row->name; row++)
        world_queue(w, row->name, row->parent, row->deserved, GANG_UNLIMITED);
    for (const struct row *row = rule->rows; row->name; row++)
        for (int i = 0; i < row->gangs; i++, node++) {
            cleanup_free char *on = xasprintf("n%d", node),
                              *name = xasprintf("%s-%d", row->name, i);
            world_node(w, on, NODE_GPUS);
            runs(w, row->name, name, node, 0, /* of_gang= */ true);
        }
    arrives(w, "a", 0);
    size_t evicted = rule->victim ? 1 : 0;
    if (w->n_evictions != evicted)
        fail_msg("%s: %zu gangs are evicted", rule->text, w->n_evictions);
    if (evicted && strncmp(w->evictions[0], rule->victim, strlen(rule->victim)) != 0)
        fail_msg("%s: %s is evicted", rule->text, w->evictions[0]);
    world_wait(w, SECONDS(200));
    if (w->n_evictions != evicted)
        fail_msg("%s: %zu gangs are evicted later", rule->text, w->n_evictions);
    world_free(w);
}

static void Q10_each_rule_decides_from_which_queue_room_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        check(&rules[i]);
}

/* The only gang of the other queue is larger than what it has borrowed, so the owner waits. */
static void an_explanation_names_the_queue_that_keeps_its_part(void **state)
{
    (void)state;
    char api_group[] = "test", ns[] = "default", name[] = "new";
    const struct gang_ref ref = {api_group, ns, name};
    struct gang_explained x;
    struct world *w = world_of_nodes(3, NODE_GPUS);
    world_queue(w, "a", NULL, 4, GANG_UNLIMITED);
    world_queue(w, "b", NULL, 8, GANG_UNLIMITED);
    world_group(w, "large", 3);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *member = xasprintf("large-%d", i);
        struct gang_pod_facts *f = world_pod_facts(member, "large", NODE_GPUS);
        f->node = xasprintf("n%d", i);
        f->phase = PHASE_RUNNING;
        f->controlled = true;
        f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("b")};
        world_pod_set(w, f);
    }
    arrives(w, "a", 0);
    assert_int_equal(w->n_evictions, 0);
    assert_true(gang_core_explain(w->core, &ref, GANG_EXPLAIN_EVICTION, &x));
    assert_int_equal(x.eviction.room, GANG_NO);
    assert_string_equal(x.eviction.deserving->name, "b");
    gang_explained_done(&x);
    world_free(w);
}

/* As in KAI, from priority 100 on, without any field or label. */
static void Q10_gangs_and_pods_of_a_high_priority_are_no_victims(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool high = i & 1, of_gang = i & 2, other_queue = i & 4;
        struct world *w = world_of_nodes(1, NODE_GPUS);
        static const char *const names[] = {"a", "b"};
        for (int k = 0; k < 2; k++) {
            struct gang_queue_facts *f = world_queue_facts(names[k], NULL);
            f->firm_priority = 100;
            gang_quota_add(f, GPU)->deserved = k ? 0 : NODE_GPUS;
            world_queue_set(w, f);
        }
        runs(w, names[other_queue], "low", 0, high ? 100 : 99, of_gang);
        arrives(w, "a", other_queue ? 0 : 101);
        world_wait(w, SECONDS(200));
        if (world_evicted(w, "low") == high)
            fail_msg("a %s of priority %d in %s queue is%s evicted", of_gang ? "gang" : "pod",
                     high ? 100 : 99, other_queue ? "another" : "the same", high ? "" : " not");
        world_free(w);
    }
}

/* A minimum runtime protects the needed members. Two of these three are not needed. */
static void Q08_a_protected_gang_loses_only_what_it_does_not_need(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, NODE_GPUS);
    struct gang_queue_facts *f = world_queue_facts("b", NULL);
    gang_quota_add(f, GPU)->deserved = 0;
    f->reclaim_min_runtime = SECONDS(3600);
    world_queue(w, "a", NULL, 3 * NODE_GPUS, GANG_UNLIMITED);
    world_queue_set(w, f);
    struct gang_group_facts *g = world_group_facts("elastic", 1);
    g->queue = xstrdup("b");
    world_group_set(w, g);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("elastic-%d", i), *node = xasprintf("n%d", i);
        struct gang_pod_facts *p = world_pod_facts(name, "elastic", NODE_GPUS);
        p->node = STEAL(node);
        p->phase = PHASE_RUNNING;
        p->controlled = true;
        p->created = p->bound_at = w->now;
        world_pod_set(w, p);
    }
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("new%d", i);
        world_queued(w, name, "a", 1, NODE_GPUS);
    }
    world_wait(w, SECONDS(200));
    assert_int_equal(w->n_evictions, 2);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q10_each_rule_decides_from_which_queue_room_comes_back),
        cmocka_unit_test(Q10_gangs_and_pods_of_a_high_priority_are_no_victims),
        cmocka_unit_test(an_explanation_names_the_queue_that_keeps_its_part),
        cmocka_unit_test(Q08_a_protected_gang_loses_only_what_it_does_not_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
