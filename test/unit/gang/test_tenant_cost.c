/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the objects of one tenant cost all others: a change takes about the same CPU whether the
 * tenant has few objects or many. The best of several changes counts.
 */
#include <stdio.h>

#include "gang/bounds.h"
#include "gang/cluster/cache_budget.h"
#include "gang/cluster/lookup.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/costly_gangs.h"
#include "gang/podgroup/podgroups.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"

/* Ten times as many objects may take at most this much longer. */
#define FACTOR 4

struct story {
    struct gang_core *core;
    usec_t now;
};

static struct story begin(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    return (struct story){.core = gang_core_new(&config), .now = USEC_PER_SEC};
}

/* Takes what the events own. Returns the CPU time of the step in microseconds. */
static double step(struct story *s, struct gang_event *events, size_t n)
{
    size_t n_effects;
    s->now += USEC_PER_MSEC;
    double begin = cost_ms();
    gang_step(s->core, s->now, events, n, &n_effects);
    double took = cost_ms() - begin;
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    return took * 1e3;
}

static double step_one(struct story *s, struct gang_event ev)
{
    return step(s, &ev, 1);
}

static void end(struct story *s)
{
    struct err err;
    if (gang_core_check(s->core, &err) < 0)
        fail_msg("%s", err.text);
    gang_core_free(s->core);
}

static struct gang_pod_facts *pod_in(const char *ns, const char *name, const char *group)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 0);
    free(f->ns);
    f->ns = xstrdup(ns);
    if (group) {
        free(f->group.ns);
        f->group.ns = xstrdup(ns);
    }
    free(f->uid);
    f->uid = xasprintf("uid-%s-%s", ns, name);
    return f;
}

static void set_gang(struct story *s, const char *ns, const char *name, int min)
{
    struct gang_group_facts *g = world_group_facts(name, min);
    free(g->ref.ns);
    g->ref.ns = xstrdup(ns);
    step_one(s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
}

/* A gang that waits for one more member, created in one step. */
static void set_members(struct story *s, const char *ns, int n)
{
    struct gang_event *events = xcalloc((size_t)n, sizeof *events);
    set_gang(s, ns, "many", n + 1);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = pod_in(ns, name, "many")};
    }
    step(s, events, (size_t)n);
    free(events);
}

static double least(double a, double b)
{
    return a < b ? a : b;
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
    struct story s = begin();
    double best = 1e9;
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_members(&s, ns, members);
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "k-%d", i);
        double t = step_one(
            &s, (struct gang_event){.kind = GANG_EV_POD_SET,
                                    .pod = anti_affinity(pod_in("evil", name, NULL), name)});
        best = i > 0 ? least(best, t) : best; /* the first change may visit all members */
        step_one(&s, (struct gang_event){.kind = GANG_EV_POD_GONE,
                                         .gone = {NULL, xstrdup("evil"), xstrdup(name)}});
    }
    end(&s);
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
    set_gang(s, "evil", "many", n + 1);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        struct gang_pod_facts *f = pod_in("evil", name, "many");
        f->claims = xcalloc((size_t)n_claims, sizeof *f->claims);
        f->n_claims = (size_t)n_claims;
        for (int k = 0; k < n_claims; k++)
            f->claims[k] = xasprintf("c-%d", k);
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    step(s, events, (size_t)n);
    free(events);
}

/* How many times as long as the longest step all steps take, if one of these claims changes 100
 * times a second for a minute. */
static double claim_changes_cost(int users, int n_claims)
{
    struct story s = begin();
    double sum = 0, longest = 0;
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_claim_users(&s, users, n_claims);
    for (int i = 0; i < 60 * 100; i++) {
        struct gang_claim_facts *f = gang_claim_facts_new();
        f->ns = xstrdup("evil");
        f->name = xasprintf("c-%d", i % n_claims);
        f->selected = xasprintf("n-%d", i);
        s.now += 9 * USEC_PER_MSEC;
        double t = step_one(&s, (struct gang_event){.kind = GANG_EV_CLAIM_SET, .claim = f});
        sum += t;
        longest = t > longest ? t : longest;
    }
    print_message("%.2f %% of the core's time\n", sum / USEC_PER_SEC / 60 * 100);
    end(&s);
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
    struct gang_pod_facts *f = pod_in("evil", name, NULL);
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
    struct story s = begin();
    s.core->config.express_lane = express;
    step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node("far", 8)});
    step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node("n", 64)});
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    struct gang_event *events = xcalloc((size_t)wide_anti_affinity_pods, sizeof *events);
    for (int i = 0; i < wide_anti_affinity_pods; i++)
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = wide_anti_affinity(i)};
    step(&s, events, (size_t)wide_anti_affinity_pods);
    free(events);
    s.now += 10 * USEC_PER_SEC;
    return s;
}

static double filter_cost(struct story *s, struct gang_pod_facts *f)
{
    static const char *const names[] = {"far", "n"};
    return step_one(s,
                    (struct gang_event){
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
        sum += filter_cost(&s, pod_in("default", "p", NULL));
        sum += filter_cost(&s, pod_in("default", name, NULL));
        s.now += USEC_PER_MSEC;
    }
    assert_true(s.core->stats.predicate_checks > 0 || wide_anti_affinity_pods > 1000);
    end(&s);
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
    set_gang(&s, "default", "g", MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "g-%d", i);
        struct gang_pod_facts *f = pod_in("default", name, "g");
        sum += step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    for (int i = 0; i < 4; i++) {
        char name[32], uid[64];
        snprintf(name, sizeof name, "g-%d", i);
        snprintf(uid, sizeof uid, "uid-default-g-%d", i);
        sum += filter_cost(&s, pod_in("default", name, "g"));
        sum += step_one(&s, (struct gang_event){.kind = GANG_EV_BIND,
                                                .id = (uint64_t)(i + 10),
                                                .bind = {xstrdup("default"), xstrdup(name),
                                                         xstrdup(uid), xstrdup("n")}});
    }
    end(&s);
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
    struct gang_pod_facts *f = pod_in("evil", name, group);
    gang_amounts_add(&f->requests, "memory", (INT64_C(1) << 40) + i);
    return f;
}

/* The CPU time of checking all sleeping pods once when one node grows. There are `nodes` nodes, all
 * different, and `pods` sleeping pods. */
static double node_change_cost(int pods, int nodes, bool members)
{
    static const char *const names[] = {"node-0"};
    struct story s = begin();
    double best = 1e9;
    for (int i = 0; i < nodes; i++) {
        char name[32];
        snprintf(name, sizeof name, "node-%d", i);
        struct gang_node_facts *node = world_gpu_node(name, 8 + i);
        step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node});
    }
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_gang(&s, "default", "keeps", 2); /* so that there are slots */
    for (int i = 0; i < 2; i++) {
        struct gang_pod_facts *f = pod_in("default", i ? "keeps-1" : "keeps-0", "keeps");
        step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    if (members) {
        struct gang_group_facts *g = world_group_facts("many", 1);
        free(g->ref.ns);
        g->ref.ns = xstrdup("evil");
        g->max_member = 1000000;
        step_one(&s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
        struct gang_pod_facts *f = pod_in("evil", "first", "many");
        f->node = xstrdup("node-0");
        step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
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
        step(&s, events, (size_t)pods);
    }
    free(events);
    for (int i = 0; i < 5; i++) {
        s.now += USEC_PER_SEC;
        struct gang_node_facts *node = world_gpu_node("node-0", 2000 + i);
        best =
            least(best, step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node}));
    }
    assert_int_equal(s.core->blocked[0].n + s.core->blocked[1].n, pods);
    end(&s);
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
    struct story s = begin();
    double best = 1e9;
    struct gang_event *events = xcalloc((size_t)pods, sizeof *events);
    step_one(&s,
             (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node("node-0", 8)});
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_gang(&s, "default", "keeps", 1); /* so that there are slots */
    step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET,
                                     .pod = pod_in("default", "keeps-0", "keeps")});
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < pods; i++)
            events[i] = (struct gang_event){.kind = round ? GANG_EV_FILTER : GANG_EV_POD_SET,
                                            .id = (uint64_t)i + 1,
                                            .pod = too_large(i, NULL),
                                            .names = names,
                                            .n_names = 1};
        step(&s, events, (size_t)pods);
    }
    free(events);
    for (int i = 0; i < 100; i++) { /* until all of them are checked */
        s.now += USEC_PER_SEC;
        step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    }
    for (int i = 0; i < 5; i++) {
        cleanup_free char *name = xasprintf("other-%d", i);
        struct gang_pod_facts *f = pod_in("default", name, NULL),
                              *g = pod_in("default", name, NULL);
        gang_amounts_add(&f->requests, "memory", INT64_C(1) << 50);
        gang_amounts_add(&g->requests, "memory", INT64_C(1) << 50);
        step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
        best = least(best, step_one(&s, (struct gang_event){.kind = GANG_EV_FILTER,
                                                            .id = 1000000 + (uint64_t)i,
                                                            .pod = g,
                                                            .names = names,
                                                            .n_names = 1}));
    }
    assert_int_equal(s.core->blocked[0].n + s.core->blocked[1].n, pods + 5);
    end(&s);
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
            (struct gang_event){.kind = GANG_EV_POD_SET, .pod = pod_in("default", name, group)};
    }
    step(s, events, (size_t)(to - from));
    free(events);
}

static void child_pod_gone(struct story *s, int i)
{
    step_one(s, (struct gang_event){.kind = GANG_EV_POD_GONE,
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
    struct story s = begin();
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_gang(&s, "default", "top", 1);
    set_child_pods(&s, 0, MANY);
    for (int i = 0; i < 25; i++)
        step_one(&s, child_event(i));
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
    step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    assert_false(is_refused(&s));
    set_child_pods(&s, 0, 1);
    assert_true(is_refused(&s));
    end(&s);
}

/* ---- pods that are ending ---- */

static struct gang_pod_facts *with_port(struct gang_pod_facts *f)
{
    f->host_ports = xcalloc(1, sizeof *f->host_ports);
    f->host_ports[0] = (struct gang_port){.port = 8080, .protocol = xstrdup("TCP")};
    f->n_host_ports = 1;
    return f;
}

/* Plans a gang of one pod with a host port beside so many Terminating pods of its signature, on a
 * thousand nodes. */
static double plan_cost(int ending)
{
    double best = 1e9;
    struct story s = begin();
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (int i = 0; i < 1000; i++) {
        cleanup_free char *name = xasprintf("n-%d", i);
        step_one(&s,
                 (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node(name, 1)});
    }
    set_gang(&s, "default", "g", 1);
    for (int i = 0; i < ending; i++) {
        cleanup_free char *name = xasprintf("old-%d", i);
        struct gang_pod_facts *f = with_port(pod_in("default", name, "g"));
        f->deleting = true;
        step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    for (int i = 0; i < 5; i++) {
        cleanup_free char *name = xasprintf("new-%d", i);
        struct gang_pod_facts *f = with_port(pod_in("default", name, "g"));
        best = least(best, step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f}));
        assert_int_equal(gang_find(s.core, &f->group)->n_slots, 1);
        step_one(&s, (struct gang_event){.kind = GANG_EV_POD_GONE,
                                         .gone = {NULL, xstrdup("default"), xstrdup(name)}});
    }
    end(&s);
    return best;
}

static void T16_terminating_pods_do_not_make_node_checks_slower(void **state)
{
    (void)state;
    double few = plan_cost(100), many = plan_cost(1000);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

/* ---- choices of subgroups ---- */

/* A gang that needs 614 of its 1,024 subgroups, with 19 pods each. Returns the cost of the step
 * that plans it. If it does not fit, a pod of each subgroup has no node, and muster tries one
 * choice of subgroups after the other. */
static double choices_cost(bool fits)
{
    enum { SUBGROUPS = 1024, PODS = 19 };
    struct story s = begin();
    struct gang_event *events = xcalloc(SUBGROUPS * PODS + 2, sizeof *events);
    size_t n = 0;
    struct gang_group_facts *g = world_group_facts("g", 0);
    for (int i = 0; i < SUBGROUPS; i++) {
        cleanup_free char *name = xasprintf("s%d", i);
        world_subgroup(g, name, NULL, PODS);
    }
    g->min_children = SUBGROUPS * 3 / 5;
    events[n++] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g};
    for (int i = 0; i < SUBGROUPS * PODS; i++) {
        cleanup_free char *name = xasprintf("p%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "g", fits || i % PODS ? 0 : 1);
        f->role = xasprintf("s%d", i / PODS);
        events[n++] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    struct gang_node_facts *node = world_gpu_node("n", 0);
    for (size_t i = 0; i < node->allocatable.n; i++)
        node->allocatable.items[i].amount = INT64_C(1) << 50; /* no GPUs */
    events[n++] = (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node};
    step(&s, events, n);
    free(events);
    double cost = step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    char ns[] = "default", name[] = "g", api_group[] = "test";
    const struct gang *gang = gang_find(s.core, &(struct gang_ref){api_group, ns, name});
    assert_int_equal(gang->n_slots > 0, fits);
    end(&s);
    return cost;
}

static void T04_a_gang_with_many_choices_of_subgroups_is_given_up_soon(void **state)
{
    (void)state;
    double made = choices_cost(true), failed = choices_cost(false);
    print_message("%.1f and %.1f us\n", made, failed);
    assert_true(failed < made * 10);
}

/* ---- topology spread ---- */

/* Spreads pods that have the label over hosts. */
static struct gang_pod_facts *spread(struct gang_pod_facts *f, const char *key)
{
    f->spreads = xcalloc(1, sizeof *f->spreads);
    f->n_spreads = 1;
    f->spreads[0].max_skew = 1;
    struct gang_term *term = &f->spreads[0].selector.term;
    term->items = xcalloc(1, sizeof *term->items);
    term->n = 1;
    term->items[0].key = xstrdup(key);
    term->items[0].op = MATCH_EXISTS;
    gang_kvs_add(&f->labels, key, "");
    return f;
}

static void set_hosts(struct story *s, int n)
{
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("host-%d", i);
        step_one(s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node(name, 1)});
    }
}

/* Members whose topology spread counts all of them. Returns the CPU time of the step. */
static double set_spread_gang(struct story *s, const char *group, int members)
{
    struct gang_event *events = xcalloc((size_t)members, sizeof *events);
    set_gang(s, "default", group, members);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET,
                                        .pod = spread(pod_in("default", name, group), group)};
    }
    double cost = step(s, events, (size_t)members);
    free(events);
    return cost;
}

/* Plans gangs of 500 members with topology spread on so many nodes. */
static double spread_cost(int nodes)
{
    enum { MEMBERS = 500 };
    struct story s = begin();
    double best = 1e9;
    set_hosts(&s, nodes);
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (int i = 0; i < 3; i++) {
        cleanup_free char *group = xasprintf("g-%d", i);
        best = least(best, set_spread_gang(&s, group, MEMBERS));
        char ns[] = "default", api_group[] = "test";
        assert_int_equal(gang_find(s.core, &(struct gang_ref){api_group, ns, group})->n_slots,
                         MEMBERS);
    }
    end(&s);
    return best;
}

static void T16_a_member_with_topology_spread_does_not_count_on_all_nodes(void **state)
{
    (void)state;
    double few = spread_cost(500), many = spread_cost(5000);
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
}

/* Each gang has a signature of its own, and muster keeps its counts for 5,000 nodes. */
static void T16_cached_counts_take_a_bounded_amount_of_memory(void **state)
{
    (void)state;
    enum { NODES = 5000, GANGS = 2 * CACHE_BYTES_MAX / (NODES * 24) };
    struct story s = begin();
    size_t most = 0;
    set_hosts(&s, NODES);
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (int i = 0; i < GANGS; i++) {
        cleanup_free char *group = xasprintf("g-%d", i);
        set_spread_gang(&s, group, 1);
        most = s.core->caches->bytes > most ? s.core->caches->bytes : most;
    }
    assert_true(most > CACHE_BYTES_MAX / 2);
    assert_true(most <= CACHE_BYTES_MAX);
    end(&s);
}

/* ---- plans that take too much work ---- */

static struct gang *gang_in(const struct story *s, char *ns, char *name)
{
    char api_group[] = "test";
    return gang_find(s->core, &(struct gang_ref){api_group, ns, name});
}

/* A gang with so many host ports that a plan is stopped with 1,000 nodes. */
static struct gang *set_costly_gang(struct story *s, char *ns, char *group)
{
    enum { MEMBERS = PLAN_WORK_MAX / 1000 + 100 };
    struct gang_event *events = xcalloc(MEMBERS, sizeof *events);
    set_gang(s, ns, group, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        struct gang_pod_facts *f = with_port(pod_in(ns, name, group));
        f->host_ports[0].port = i + 1;
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    step(s, events, MEMBERS);
    free(events);
    return gang_in(s, ns, group);
}

static void T16_namespaces_take_turns_with_costly_gangs(void **state)
{
    (void)state;
    struct story s = begin();
    char evil[] = "evil", other[] = "other", g[] = "g";
    set_hosts(&s, 1000);
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (char name[] = "a"; *name < 'f'; ++*name)
        set_costly_gang(&s, evil, name);
    const struct gang *gang = set_costly_gang(&s, other, g);
    usec_t tried_at = gang->tried_at;
    assert_int_equal(s.core->costly.n, 6);
    for (int i = 0; i < 2; i++) {
        s.now += COSTLY_PAUSE;
        step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    }
    assert_true(gang->tried_at > tried_at);
    end(&s);
}

/* The PodGroup of a gang joins and leaves a family. */
static void T16_a_costly_gang_that_forms_again_keeps_waiting(void **state)
{
    (void)state;
    struct story s = begin();
    char ns[] = "default", g[] = "g";
    set_hosts(&s, 1000);
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_costly_gang(&s, ns, g);
    set_gang(&s, ns, "top", 1);
    for (int i = 0; i < 6; i++) {
        struct gang_group_facts *f = world_group_facts(g, PLAN_WORK_MAX / 1000 + 100);
        f->parent = i % 2 ? NULL : xstrdup("top");
        step_one(&s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f});
        assert_true(s.core->work < PLAN_WORK_MAX / 2);
    }
    assert_true(s.core->costly.n >= 1);
    end(&s);
}

/* All nodes are full, and each is of another kind. So each would be visited for each member. */
static void T16_an_earmark_visits_each_kind_of_node_once(void **state)
{
    (void)state;
    enum { NODES = 2000, MEMBERS = 600 };
    struct story s = begin();
    char ns[] = "default", g[] = "g";
    s.core->config.starvation = USEC_PER_SEC;
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("n-%d", i), *pod = xasprintf("old-%d", i);
        struct gang_node_facts *node = world_gpu_node(name, 1);
        gang_amounts_add(&node->allocatable, "memory", i);
        step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node});
        struct gang_pod_facts *f = world_pod_facts(pod, NULL, 1);
        f->node = xstrdup(name);
        step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_gang(&s, ns, g, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        step_one(&s,
                 (struct gang_event){.kind = GANG_EV_POD_SET, .pod = world_pod_facts(name, g, 1)});
    }
    for (int i = 0; i < 100 && !s.core->earmark_gang; i++) {
        s.now += USEC_PER_SEC;
        step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    }
    assert_ptr_equal(s.core->earmark_gang, gang_in(&s, ns, g));
    assert_true(s.core->work < 10 * NODES);
    end(&s);
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
    step_one(s, (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f});
}

static void drop_queue(struct story *s, int i)
{
    struct gang_ref ref = {xstrdup("test"), xstrdup(""), xasprintf("q-%d", i)};
    step_one(s, (struct gang_event){.kind = GANG_EV_QUEUE_GONE, .gone = ref});
}

static uint64_t visited_since(const struct story *s, uint64_t before)
{
    return s->core->queues_visited - before;
}

static void T04_a_queue_object_visits_only_queues_that_depend_on_it(void **state)
{
    (void)state;
    struct story s = begin();
    step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
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
    end(&s);
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
        cmocka_unit_test(T16_terminating_pods_do_not_make_node_checks_slower),
        cmocka_unit_test(T04_a_gang_with_many_choices_of_subgroups_is_given_up_soon),
        cmocka_unit_test(T05_a_family_beyond_the_bound_is_not_built_again_for_each_pod),
        cmocka_unit_test(T16_a_member_with_topology_spread_does_not_count_on_all_nodes),
        cmocka_unit_test(T16_cached_counts_take_a_bounded_amount_of_memory),
        cmocka_unit_test(T16_namespaces_take_turns_with_costly_gangs),
        cmocka_unit_test(T16_a_costly_gang_that_forms_again_keeps_waiting),
        cmocka_unit_test(T16_an_earmark_visits_each_kind_of_node_once),
        cmocka_unit_test(T04_a_queue_object_visits_only_queues_that_depend_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
