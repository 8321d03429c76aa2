/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the objects of one tenant cost all others: a change takes about the same CPU whether the
 * tenant has few objects or many. The best of several changes counts.
 */
#include <stdio.h>

#include "gang/bounds.h"
#include "gang/cluster/lookup.h"
#include "gang/podgroup/podgroups.h"
#include "test/lib/cost_story.h"
#include "test/lib/world.h"

/* A gang that waits for one more member, created in one step. */
static void set_members(struct story *s, const char *ns, int n)
{
    struct gang_event *events = xcalloc((size_t)n, sizeof *events);
    story_gang(s, ns, "many", n + 1);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        events[i] =
            (struct gang_event){.kind = GANG_EV_POD_SET, .pod = story_pod(ns, name, "many")};
    }
    story_step(s, events, (size_t)n);
    free(events);
}

/* ---- labels of pods ---- */

/* Adds anti-affinity to pods that have a label with this key. */
static struct gang_pod_facts *anti_affinity(struct gang_pod_facts *f, const char *key)
{
    f->anti_affinity = xcalloc(1, sizeof *f->anti_affinity);
    f->n_anti_affinity = 1;
    struct gang_term *term = &f->anti_affinity[0].term;
    term->items = xcalloc(1, sizeof *term->items);
    term->n = 1;
    term->items[0].key = xstrdup(key);
    term->items[0].op = MATCH_EXISTS;
    return f;
}

/* The CPU time of a pod with a rule about a new label key, when the namespace has so many members.
 */
static double new_keys_cost(const char *ns, int members)
{
    struct story s = story_begin();
    double best = 1e9;
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_members(&s, ns, members);
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "k-%d", i);
        double t = story_step_one(
            &s, (struct gang_event){.kind = GANG_EV_POD_SET,
                                    .pod = anti_affinity(story_pod("evil", name, NULL), name)});
        best = i > 0 ? least(best, t) : best; /* the first change may visit all members */
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_GONE,
                                               .gone = {NULL, xstrdup("evil"), xstrdup(name)}});
    }
    story_end(&s);
    return best;
}

static void T16_a_new_label_key_does_not_visit_members_of_other_namespaces(void **state)
{
    (void)state;
    double few = new_keys_cost("default", 1500), many = new_keys_cost("default", 15000);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

static void T16_new_label_keys_seldom_visit_all_members_of_their_namespace(void **state)
{
    (void)state;
    double few = new_keys_cost("evil", 1500), many = new_keys_cost("evil", 15000);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

/* ---- claims ---- */

/* A gang whose members all use the same claims, created in one step. */
static void set_claim_users(struct story *s, int n, int n_claims)
{
    struct gang_event *events = xcalloc((size_t)n, sizeof *events);
    story_gang(s, "evil", "many", n + 1);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        struct gang_pod_facts *f = story_pod("evil", name, "many");
        f->claims = xcalloc((size_t)n_claims, sizeof *f->claims);
        f->n_claims = (size_t)n_claims;
        for (int k = 0; k < n_claims; k++)
            f->claims[k] = xasprintf("c-%d", k);
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    story_step(s, events, (size_t)n);
    free(events);
}

/* How many times as long as the longest step all steps take, if one of these claims changes 100
 * times a second for a minute. */
static double claim_changes_cost(int users, int n_claims)
{
    struct story s = story_begin();
    double sum = 0, longest = 0;
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_claim_users(&s, users, n_claims);
    for (int i = 0; i < 60 * 100; i++) {
        struct gang_claim_facts *f = gang_claim_facts_new();
        f->ns = xstrdup("evil");
        f->name = xasprintf("c-%d", i % n_claims);
        f->selected = xasprintf("n-%d", i);
        s.now += 9 * USEC_PER_MSEC;
        double t = story_step_one(&s, (struct gang_event){.kind = GANG_EV_CLAIM_SET, .claim = f});
        sum += t;
        longest = t > longest ? t : longest;
    }
    print_message("%.2f %% of the core's time\n", sum / USEC_PER_SEC / 60 * 100);
    story_end(&s);
    return sum / longest;
}

static void T16_changes_of_claims_seldom_visit_all_their_pods(void **state)
{
    (void)state;
    double one = claim_changes_cost(20000, 1), many = claim_changes_cost(2000, 64);
    print_message("%.1f and %.1f times\n", one, many);
    assert_true(one < 30 && many < 30);
}

/* ---- wide anti-affinity ---- */

/* A running pod with as many requirements as the bound allows. No pod matches them all. */
static struct gang_pod_facts *wide_anti_affinity(int i)
{
    char name[32];
    snprintf(name, sizeof name, "o-%d", i);
    struct gang_pod_facts *f = story_pod("evil", name, NULL);
    f->node = xstrdup("far");
    f->wide_anti_affinity = xcalloc(1, sizeof *f->wide_anti_affinity);
    f->n_wide_anti_affinity = 1;
    f->wide_anti_affinity[0].all_namespaces = true;
    struct gang_term *term = &f->wide_anti_affinity[0].term;
    term->items = xcalloc(BOUND_POD_VALUES, sizeof *term->items);
    term->n = BOUND_POD_VALUES;
    for (size_t k = 0; k < term->n; k++) {
        term->items[k].key = xasprintf("k-%zu", k);
        term->items[k].op = k + 1 < term->n ? MATCH_NOT_EXISTS : MATCH_EXISTS;
    }
    return f;
}

static struct story begin_beside(int wide_anti_affinity_pods, bool express)
{
    struct story s = story_begin();
    s.core->config.express_lane = express;
    story_step_one(&s,
                   (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node("far", 8)});
    story_step_one(&s,
                   (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node("n", 64)});
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    struct gang_event *events = xcalloc((size_t)wide_anti_affinity_pods, sizeof *events);
    for (int i = 0; i < wide_anti_affinity_pods; i++)
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = wide_anti_affinity(i)};
    story_step(&s, events, (size_t)wide_anti_affinity_pods);
    free(events);
    s.now += 10 * USEC_PER_SEC;
    return s;
}

static double filter_cost(struct story *s, struct gang_pod_facts *f)
{
    static const char *const names[] = {"far", "n"};
    return story_step_one(
        s, (struct gang_event){
               .kind = GANG_EV_FILTER, .id = 1, .pod = f, .names = names, .n_names = 2});
}

/* Complete lists for one pod, and then for many others. */
static double whole_lists_cost(int wide_anti_affinity_pods)
{
    struct story s = begin_beside(wide_anti_affinity_pods, false);
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "p-%d", i);
        sum += filter_cost(&s, story_pod("default", "p", NULL));
        sum += filter_cost(&s, story_pod("default", name, NULL));
        s.now += USEC_PER_MSEC;
    }
    assert_true(s.core->stats.predicate_checks > 0 || wide_anti_affinity_pods > 1000);
    story_end(&s);
    return sum;
}

static void T16_predicate_parity_checks_few_pods_with_wide_anti_affinity_at_once(void **state)
{
    (void)state;
    double few = whole_lists_cost(400), many = whole_lists_cost(4000);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

/* For each member at bind, muster checks whether the gang may use the express lane. */
static double lane_cost(int wide_anti_affinity_pods)
{
    enum { MEMBERS = 32 };
    struct story s = begin_beside(wide_anti_affinity_pods, true);
    double sum = 0;
    story_gang(&s, "default", "g", MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "g-%d", i);
        struct gang_pod_facts *f = story_pod("default", name, "g");
        sum += story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    for (int i = 0; i < 4; i++) {
        char name[32], uid[64];
        snprintf(name, sizeof name, "g-%d", i);
        snprintf(uid, sizeof uid, "uid-default-g-%d", i);
        sum += filter_cost(&s, story_pod("default", name, "g"));
        sum += story_step_one(&s, (struct gang_event){.kind = GANG_EV_BIND,
                                                      .id = (uint64_t)(i + 10),
                                                      .bind = {xstrdup("default"), xstrdup(name),
                                                               xstrdup(uid), xstrdup("n")}});
    }
    story_end(&s);
    return sum;
}

static void T16_the_express_lane_checks_few_pods_with_wide_anti_affinity_at_once(void **state)
{
    (void)state;
    double few = lane_cost(400), many = lane_cost(4000);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

/* ---- pods blocked by slots ---- */

/* A pod with a signature of its own that fits on no node. */
static struct gang_pod_facts *too_large(int i, const char *group)
{
    char name[32];
    snprintf(name, sizeof name, "big-%d", i);
    struct gang_pod_facts *f = story_pod("evil", name, group);
    gang_amounts_add(&f->requests, "memory", (INT64_C(1) << 40) + i);
    return f;
}

/* The CPU time of checking all sleeping pods once when one node grows. There are `nodes` nodes, all
 * different, and `pods` sleeping pods. */
static double node_change_cost(int pods, int nodes, bool members)
{
    static const char *const names[] = {"node-0"};
    struct story s = story_begin();
    double best = 1e9;
    for (int i = 0; i < nodes; i++) {
        char name[32];
        snprintf(name, sizeof name, "node-%d", i);
        struct gang_node_facts *node = world_gpu_node(name, 8 + i);
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node});
    }
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    story_gang(&s, "default", "keeps", 2); /* so that there are slots */
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = story_pod("default", i ? "keeps-1" : "keeps-0", "keeps");
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    if (members) {
        struct gang_group_facts *g = world_group_facts("many", 1);
        free(g->ref.ns);
        g->ref.ns = xstrdup("evil");
        g->max_member = 1000000;
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
        struct gang_pod_facts *f = story_pod("evil", "first", "many");
        f->node = xstrdup("node-0");
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    struct gang_event *events = xcalloc((size_t)pods, sizeof *events);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < pods; i++)
            events[i] = (struct gang_event){
                .kind = round ? GANG_EV_FILTER : GANG_EV_POD_SET,
                .id = (uint64_t)i + 1,
                .pod = too_large(i, members ? "many" : NULL),
                .names = names,
                .n_names = 1,
            };
        story_step(&s, events, (size_t)pods);
    }
    free(events);
    for (int i = 0; i < 5; i++) {
        s.now += USEC_PER_SEC;
        struct gang_node_facts *node = world_gpu_node("node-0", 2000 + i);
        best = least(
            best, story_step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node}));
    }
    assert_int_equal(s.core->blocked[0].n + s.core->blocked[1].n, pods);
    story_end(&s);
    return best;
}

static void T16_one_step_checks_few_nodes_for_sleeping_pods(void **state)
{
    (void)state;
    double few = node_change_cost(300, 300, false), many = node_change_cost(3000, 300, false);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

/* The CPU time of a filter call that is refused beside so many sleeping pods of a tenant. */
static double refusal_cost(int pods)
{
    static const char *const names[] = {"node-0"};
    struct story s = story_begin();
    double best = 1e9;
    struct gang_event *events = xcalloc((size_t)pods, sizeof *events);
    story_step_one(
        &s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node("node-0", 8)});
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    story_gang(&s, "default", "keeps", 1); /* so that there are slots */
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET,
                                           .pod = story_pod("default", "keeps-0", "keeps")});
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < pods; i++)
            events[i] = (struct gang_event){.kind = round ? GANG_EV_FILTER : GANG_EV_POD_SET,
                                            .id = (uint64_t)i + 1,
                                            .pod = too_large(i, NULL),
                                            .names = names,
                                            .n_names = 1};
        story_step(&s, events, (size_t)pods);
    }
    free(events);
    for (int i = 0; i < 100; i++) { /* until all of them are checked */
        s.now += USEC_PER_SEC;
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    }
    for (int i = 0; i < 5; i++) {
        cleanup_free char *name = xasprintf("other-%d", i);
        struct gang_pod_facts *f = story_pod("default", name, NULL),
                              *g = story_pod("default", name, NULL);
        gang_amounts_add(&f->requests, "memory", INT64_C(1) << 50);
        gang_amounts_add(&g->requests, "memory", INT64_C(1) << 50);
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
        best = least(best, story_step_one(&s, (struct gang_event){.kind = GANG_EV_FILTER,
                                                                  .id = 1000000 + (uint64_t)i,
                                                                  .pod = g,
                                                                  .names = names,
                                                                  .n_names = 1}));
    }
    assert_int_equal(s.core->blocked[0].n + s.core->blocked[1].n, pods + 5);
    story_end(&s);
    return best;
}

static void T16_a_refusal_does_not_check_all_sleeping_pods_again(void **state)
{
    (void)state;
    double few = refusal_cost(1000), many = refusal_cost(10000);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

static void T16_sleeping_members_are_checked_once(void **state)
{
    (void)state;
    double few = node_change_cost(300, 1, true), many = node_change_cost(3000, 1, true);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * 10 * FACTOR);
}

/* ---- families with too many pods ---- */

static struct gang_event child_event(int i)
{
    char name[32];
    snprintf(name, sizeof name, "c-%d", i);
    struct gang_group_facts *g = world_group_facts(name, 1);
    g->parent = xstrdup("top");
    return (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g};
}

static void set_child_pods(struct story *s, int from, int to)
{
    struct gang_event *events = xcalloc((size_t)(to - from), sizeof *events);
    for (int i = from; i < to; i++) {
        char name[32], group[32];
        snprintf(name, sizeof name, "p-%d", i);
        snprintf(group, sizeof group, "c-%d", i % 25);
        events[i - from] =
            (struct gang_event){.kind = GANG_EV_POD_SET, .pod = story_pod("default", name, group)};
    }
    story_step(s, events, (size_t)(to - from));
    free(events);
}

static void child_pod_gone(struct story *s, int i)
{
    story_step_one(s,
                   (struct gang_event){.kind = GANG_EV_POD_GONE,
                                       .gone = {NULL, xstrdup("default"), xasprintf("p-%d", i)}});
}

static bool is_refused(const struct story *s)
{
    char ns[] = "default", name[] = "top", api_group[] = "test";
    return gang_find(s->core, &(struct gang_ref){api_group, ns, name})->over;
}

/* Members come and go in a family that is beyond the bound, and then within it. */
static void T05_a_family_beyond_the_bound_is_not_built_again_for_each_pod(void **state)
{
    (void)state;
    enum { MANY = BOUND_MEMBERS + 20 };
    struct story s = story_begin();
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    story_gang(&s, "default", "top", 1);
    set_child_pods(&s, 0, MANY);
    for (int i = 0; i < 25; i++)
        story_step_one(&s, child_event(i));
    assert_true(is_refused(&s));
    uint64_t formed = s.core->forming;
    for (int i = 0; i < 100; i++) {
        child_pod_gone(&s, i);
        set_child_pods(&s, i, i + 1);
    }
    assert_true(s.core->forming - formed <= 2);
    for (int i = 0; i < 20; i++)
        child_pod_gone(&s, i);
    s.now += USEC_PER_SEC;
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    assert_false(is_refused(&s));
    set_child_pods(&s, 0, 1);
    assert_true(is_refused(&s));
    story_end(&s);
}

/* ---- queues ---- */

enum { QUEUES = 10000 };

/* Queue i is below queue i / 10, so there are five levels. */
static void set_queue(struct story *s, int i, int64_t cap)
{
    struct gang_queue_facts *f = gang_queue_facts_new();
    f->ref = (struct gang_ref){xstrdup("test"), xstrdup(""), xasprintf("q-%d", i)};
    f->parent = i ? xasprintf("q-%d", i / 10) : NULL; /* q-0 is the top */
    gang_quota_add(f, "cpu")->cap = cap;
    story_step_one(s, (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f});
}

static void drop_queue(struct story *s, int i)
{
    struct gang_ref ref = {xstrdup("test"), xstrdup(""), xasprintf("q-%d", i)};
    story_step_one(s, (struct gang_event){.kind = GANG_EV_QUEUE_GONE, .gone = ref});
}

static uint64_t visited_since(const struct story *s, uint64_t before)
{
    return s->core->queues_visited - before;
}

static void T04_a_queue_object_visits_only_queues_that_depend_on_it(void **state)
{
    (void)state;
    struct story s = story_begin();
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (int i = QUEUES - 1; i >= 0; i--) /* children first: each is placed once for each level */
        set_queue(&s, i, 1000);
    assert_true(visited_since(&s, 0) <= 6 * QUEUES);
    uint64_t before = s.core->queues_visited;
    set_queue(&s, QUEUES - 1, 2000);
    assert_true(visited_since(&s, before) <= 1);
    set_queue(&s, 5, 2000);
    assert_true(visited_since(&s, before) <= 1 + 11);
    set_queue(&s, QUEUES, 1000);
    drop_queue(&s, QUEUES);
    assert_true(visited_since(&s, before) <= 1 + 11 + 2);
    drop_queue(&s, 555);
    set_queue(&s, 555, 1000);
    assert_true(visited_since(&s, before) <= 1 + 11 + 2 + 2 * 11);
    story_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T16_a_new_label_key_does_not_visit_members_of_other_namespaces),
        cmocka_unit_test(T16_new_label_keys_seldom_visit_all_members_of_their_namespace),
        cmocka_unit_test(T16_changes_of_claims_seldom_visit_all_their_pods),
        cmocka_unit_test(T16_predicate_parity_checks_few_pods_with_wide_anti_affinity_at_once),
        cmocka_unit_test(T16_the_express_lane_checks_few_pods_with_wide_anti_affinity_at_once),
        cmocka_unit_test(T16_one_step_checks_few_nodes_for_sleeping_pods),
        cmocka_unit_test(T16_a_refusal_does_not_check_all_sleeping_pods_again),
        cmocka_unit_test(T16_sleeping_members_are_checked_once),
        cmocka_unit_test(T05_a_family_beyond_the_bound_is_not_built_again_for_each_pod),
        cmocka_unit_test(T04_a_queue_object_visits_only_queues_that_depend_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
