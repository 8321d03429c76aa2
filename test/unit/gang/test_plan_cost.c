/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plan of one gang costs all others: about the same CPU with many nodes or pods as with
 * few, and a bounded amount of work. The best of several changes counts.
 */
#include "gang/bounds.h"
#include "gang/cluster/cache_budget.h"
#include "gang/cluster/lookup.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/costly_gangs.h"
#include "gang/podgroup/podgroups.h"
#include "test/lib/cost_story.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"

static void set_hosts(struct story *s, int n)
{
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("host-%d", i);
        story_step_one(
            s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = world_gpu_node(name, 1)});
    }
}

static struct gang *gang_in(const struct story *s, char *ns, char *name)
{
    char api_group[] = "test";
    return gang_find(s->core, &(struct gang_ref){api_group, ns, name});
}

/* ---- pods that are ending ---- */

static struct gang_pod_facts *with_port(struct gang_pod_facts *f)
{
    f->host_ports = xcalloc(1, sizeof *f->host_ports);
    f->host_ports[0] = (struct gang_port){.port = 8080, .protocol = xstrdup("TCP")};
    f->n_host_ports = 1;
    return f;
}

/* A thousand nodes, and so many Terminating pods of the gang, which needs one pod. */
static struct story with_ending_pods(int n)
{
    struct story s = story_begin();
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_hosts(&s, 1000);
    story_gang(&s, "default", "g", 1);
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("old-%d", i);
        struct gang_pod_facts *f = with_port(story_pod("default", name, "g"));
        f->deleting = true;
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    return s;
}

/* The cost of the plan of a new pod, which has the signature of the Terminating ones. */
static double plan_cost(struct story *s)
{
    struct gang_pod_facts *f = with_port(story_pod("default", "new", "g"));
    double cost = story_step_one(s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    assert_int_equal(gang_find(s->core, &f->group)->n_slots, 1);
    story_step_one(s, (struct gang_event){.kind = GANG_EV_POD_GONE,
                                          .gone = {NULL, xstrdup("default"), xstrdup("new")}});
    return cost;
}

static void T16_terminating_pods_do_not_make_node_checks_slower(void **state)
{
    (void)state;
    double few = HUGE_VAL, many = HUGE_VAL;
    struct story s100 = with_ending_pods(100), s1000 = with_ending_pods(1000);
    for (int i = 0; i < 25; i++) { /* in turn, so that a busy moment does not hit only one */
        few = least(few, plan_cost(&s100));
        many = least(many, plan_cost(&s1000));
    }
    print_message("%.1f and %.1f us\n", few, many);
    assert_true(many < few * FACTOR);
    story_end(&s100);
    story_end(&s1000);
}

/* ---- choices of subgroups ---- */

/* A gang that needs 614 of its 1,024 subgroups, with 19 pods each. Returns the cost of the step
 * that plans it. If it does not fit, a pod of each subgroup has no node, and muster tries one
 * choice of subgroups after the other. */
static double choices_cost(bool fits)
{
    enum { SUBGROUPS = 1024, PODS = 19 };
    struct story s = story_begin();
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
    story_step(&s, events, n);
    free(events);
    double cost = story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    char ns[] = "default", name[] = "g";
    assert_int_equal(gang_in(&s, ns, name)->n_slots > 0, fits);
    story_end(&s);
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

/* Members whose topology spread counts all of them. Returns the CPU time of the step. */
static double set_spread_gang(struct story *s, const char *group, int members)
{
    struct gang_event *events = xcalloc((size_t)members, sizeof *events);
    story_gang(s, "default", group, members);
    for (int i = 0; i < members; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET,
                                        .pod = spread(story_pod("default", name, group), group)};
    }
    double cost = story_step(s, events, (size_t)members);
    free(events);
    return cost;
}

/* Plans gangs of 500 members with topology spread on so many nodes. */
static double spread_cost(int nodes)
{
    enum { MEMBERS = 500 };
    struct story s = story_begin();
    double best = 1e9;
    set_hosts(&s, nodes);
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (int i = 0; i < 3; i++) {
        cleanup_free char *group = xasprintf("g-%d", i);
        best = least(best, set_spread_gang(&s, group, MEMBERS));
        char ns[] = "default";
        assert_int_equal(gang_in(&s, ns, group)->n_slots, MEMBERS);
    }
    story_end(&s);
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
    struct story s = story_begin();
    size_t most = 0;
    set_hosts(&s, NODES);
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (int i = 0; i < GANGS; i++) {
        cleanup_free char *group = xasprintf("g-%d", i);
        set_spread_gang(&s, group, 1);
        most = s.core->caches->bytes > most ? s.core->caches->bytes : most;
    }
    assert_true(most > CACHE_BYTES_MAX / 2);
    assert_true(most <= CACHE_BYTES_MAX);
    story_end(&s);
}

/* ---- plans that take too much work ---- */

/* A gang with so many host ports that a plan is stopped with 1,000 nodes. */
static struct gang *set_costly_gang(struct story *s, char *ns, char *group)
{
    enum { MEMBERS = PLAN_WORK_MAX / 1000 + 100 };
    struct gang_event *events = xcalloc(MEMBERS, sizeof *events);
    story_gang(s, ns, group, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        cleanup_free char *name = xasprintf("%s-%d", group, i);
        struct gang_pod_facts *f = with_port(story_pod(ns, name, group));
        f->host_ports[0].port = i + 1;
        events[i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    story_step(s, events, MEMBERS);
    free(events);
    return gang_in(s, ns, group);
}

static void T16_namespaces_take_turns_with_costly_gangs(void **state)
{
    (void)state;
    struct story s = story_begin();
    char evil[] = "evil", other[] = "other", g[] = "g";
    set_hosts(&s, 1000);
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    for (char name[] = "a"; *name < 'f'; ++*name)
        set_costly_gang(&s, evil, name);
    const struct gang *gang = set_costly_gang(&s, other, g);
    usec_t tried_at = gang->tried_at;
    assert_int_equal(s.core->costly.n, 6);
    for (int i = 0; i < 2; i++) {
        s.now += COSTLY_PAUSE;
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    }
    assert_true(gang->tried_at > tried_at);
    story_end(&s);
}

/* The PodGroup of a gang joins and leaves a family. */
static void T16_a_costly_gang_that_forms_again_keeps_waiting(void **state)
{
    (void)state;
    struct story s = story_begin();
    char ns[] = "default", g[] = "g";
    set_hosts(&s, 1000);
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    set_costly_gang(&s, ns, g);
    story_gang(&s, ns, "top", 1);
    for (int i = 0; i < 6; i++) {
        struct gang_group_facts *f = world_group_facts(g, PLAN_WORK_MAX / 1000 + 100);
        f->parent = i % 2 ? NULL : xstrdup("top");
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f});
        assert_true(s.core->work < PLAN_WORK_MAX / 2);
    }
    assert_true(s.core->costly.n >= 1);
    story_end(&s);
}

/* All nodes are full, and each is of another kind. So each would be visited for each member. */
static void T16_an_earmark_visits_each_kind_of_node_once(void **state)
{
    (void)state;
    enum { NODES = 2000, MEMBERS = 600 };
    struct story s = story_begin();
    char ns[] = "default", g[] = "g";
    s.core->config.starvation = USEC_PER_SEC;
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("n-%d", i), *pod = xasprintf("old-%d", i);
        struct gang_node_facts *node = world_gpu_node(name, 1);
        gang_amounts_add(&node->allocatable, "memory", i);
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = node});
        struct gang_pod_facts *f = world_pod_facts(pod, NULL, 1);
        f->node = xstrdup(name);
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f});
    }
    story_step_one(&s, (struct gang_event){.kind = GANG_EV_SYNCED});
    story_gang(&s, ns, g, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        story_step_one(
            &s, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = world_pod_facts(name, g, 1)});
    }
    for (int i = 0; i < 100 && !s.core->earmark_gang; i++) {
        s.now += USEC_PER_SEC;
        story_step_one(&s, (struct gang_event){.kind = GANG_EV_TICK});
    }
    assert_ptr_equal(s.core->earmark_gang, gang_in(&s, ns, g));
    assert_true(s.core->work < 10 * NODES);
    story_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T16_terminating_pods_do_not_make_node_checks_slower),
        cmocka_unit_test(T04_a_gang_with_many_choices_of_subgroups_is_given_up_soon),
        cmocka_unit_test(T16_a_member_with_topology_spread_does_not_count_on_all_nodes),
        cmocka_unit_test(T16_cached_counts_take_a_bounded_amount_of_memory),
        cmocka_unit_test(T16_namespaces_take_turns_with_costly_gangs),
        cmocka_unit_test(T16_a_costly_gang_that_forms_again_keeps_waiting),
        cmocka_unit_test(T16_an_earmark_visits_each_kind_of_node_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
