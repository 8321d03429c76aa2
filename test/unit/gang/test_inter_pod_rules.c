/* SPDX-License-Identifier: Apache-2.0 */
/* Rules between pods: first the rules alone, then plans that follow them. */
#include "gang/inter_pod_rules.h"

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- facts ---- */

/* Adds anti-affinity to app=<app> in the pod's own namespace; app NULL: an empty selector. */
static struct gang_selector *add_anti_affinity(struct gang_pod_facts *f, const char *app)
{
    f->anti_affinity =
        xreallocarray(f->anti_affinity, f->n_anti_affinity + 1, sizeof *f->anti_affinity);
    struct gang_selector *s = &f->anti_affinity[f->n_anti_affinity++];
    *s = (struct gang_selector){.n_namespaces = 0};
    if (app)
        world_term_in(&s->term, "app", app);
    return s;
}

static struct gang_spread *add_spread(struct gang_pod_facts *f, const char *app, int skew)
{
    f->spreads = xreallocarray(f->spreads, f->n_spreads + 1, sizeof *f->spreads);
    struct gang_spread *s = &f->spreads[f->n_spreads++];
    *s = (struct gang_spread){.max_skew = skew};
    world_term_in(&s->selector.term, "app", app);
    return s;
}

/* A pod with the label app=<app>; group may be NULL. */
static struct gang_pod_facts *pod(const char *name, const char *group, const char *app)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    if (app)
        gang_kvs_add(&f->labels, "app", app);
    return f;
}

static struct gang_pod_facts *on(struct gang_pod_facts *f, const char *node)
{
    f->node = xstrdup(node);
    f->phase = PHASE_RUNNING;
    return f;
}

static struct gang_pod_facts *with_anti_affinity(struct gang_pod_facts *f, const char *app)
{
    add_anti_affinity(f, app);
    return f;
}

static struct gang_pod_facts *with_spread(struct gang_pod_facts *f, const char *app, int skew)
{
    add_spread(f, app, skew);
    return f;
}

static int64_t reserved(const struct world *w, const char *node)
{
    return world_reserved(w, node, GPU);
}

/* ---- the rules alone ---- */

static void anti_affinity_selects_pods_by_label_and_namespace(void **state)
{
    (void)state;
    struct gang_pod_facts *a = with_anti_affinity(pod("a", NULL, "x"), "y");
    struct gang_pod_facts *b = pod("b", NULL, "y");
    assert_true(gang_anti_affinity_forbids(a, b));
    assert_false(gang_anti_affinity_forbids(b, a)); /* the rule is not symmetric */
    assert_false(gang_anti_affinity_forbids(a, a));
    free(b->ns);
    b->ns = xstrdup("other");
    assert_false(gang_anti_affinity_forbids(a, b));
    a->anti_affinity[0].namespaces = xcalloc(1, sizeof(char *));
    a->anti_affinity[0].namespaces[a->anti_affinity[0].n_namespaces++] = xstrdup("other");
    assert_true(gang_anti_affinity_forbids(a, b));
    free(b->ns);
    b->ns = xstrdup("default");
    assert_false(gang_anti_affinity_forbids(a, b)); /* the rule does not name its own namespace */
    a->anti_affinity[0].all_namespaces = true;
    assert_true(gang_anti_affinity_forbids(a, b));
    b->deleting = true;
    assert_true(gang_anti_affinity_forbids(a, b)); /* as long as the pod exists */
    gang_pod_facts_free(a);
    gang_pod_facts_free(b);
}

static void anti_affinity_with_an_empty_selector_matches_every_pod(void **state)
{
    (void)state;
    struct gang_pod_facts *a = with_anti_affinity(pod("a", NULL, NULL), NULL);
    struct gang_pod_facts *b = pod("b", NULL, NULL);
    assert_true(gang_anti_affinity_forbids(a, b));
    gang_pod_facts_free(a);
    gang_pod_facts_free(b);
}

static void a_spread_does_not_count_terminating_pods(void **state)
{
    (void)state;
    struct gang_pod_facts *a = with_spread(pod("a", NULL, "x"), "x", 1);
    struct gang_pod_facts *b = pod("b", NULL, "x"), *c = pod("c", NULL, "y");
    assert_true(gang_spread_counts(&a->spreads[0], a, b));
    assert_false(gang_spread_counts(&a->spreads[0], a, c));
    b->deleting = true;
    assert_false(gang_spread_counts(&a->spreads[0], a, b));
    b->deleting = false;
    free(b->ns);
    b->ns = xstrdup("other");
    assert_false(gang_spread_counts(&a->spreads[0], a, b));
    gang_pod_facts_free(a);
    gang_pod_facts_free(b);
    gang_pod_facts_free(c);
}

/* The expected values follow Filter of the PodTopologySpread plugin. */
static void a_spread_allows_its_maximum_skew(void **state)
{
    (void)state;
    struct gang_pod_facts *a = pod("a", NULL, "x");
    struct gang_spread *s = add_spread(a, "x", 2);
    assert_true(gang_spread_allows(s, a, 1, 0, 3));
    assert_false(gang_spread_allows(s, a, 2, 0, 3));
    assert_true(gang_spread_allows(s, a, 2, 1, 3));
    s->min_domains = 4; /* too few hosts: the minimum counts as 0 */
    assert_false(gang_spread_allows(s, a, 2, 1, 3));
    assert_true(gang_spread_allows(s, a, 2, 1, 4));
    free(a->labels.items[0].value);
    a->labels.items[0].value = xstrdup("y"); /* the pod does not match its own selector */
    assert_true(gang_spread_allows(s, a, 2, 0, 4));
    assert_false(gang_spread_allows(s, a, 3, 0, 4));
    gang_pod_facts_free(a);
}

static void a_spread_covers_hosts_that_the_pod_may_use(void **state)
{
    (void)state;
    struct gang_pod_facts *a = pod("a", NULL, "x");
    struct gang_spread *s = add_spread(a, "x", 1);
    struct gang_node_facts *n = world_gpu_node("n", 1);
    gang_kvs_add(&a->node_selector, "pool", "p");
    assert_false(gang_spread_covers(s, a, n));
    s->any_affinity = true;
    assert_true(gang_spread_covers(s, a, n));
    n->taints = xcalloc(1, sizeof *n->taints);
    n->taints[n->n_taints++] = (struct gang_taint){xstrdup("k"), xstrdup(""), TAINT_NO_SCHEDULE};
    assert_true(gang_spread_covers(s, a, n));
    s->taints_count = true;
    assert_false(gang_spread_covers(s, a, n));
    n->taints[0].effect = TAINT_PREFER_NO_SCHEDULE;
    assert_true(gang_spread_covers(s, a, n));
    s->keys = xcalloc(1, sizeof *s->keys);
    s->keys[s->n_keys++] = xstrdup("zone");
    assert_false(gang_spread_covers(s, a, n));
    gang_kvs_add(&n->labels, "zone", "a");
    assert_true(gang_spread_covers(s, a, n));
    free(n->labels.items[0].key);
    n->labels.items[0].key = xstrdup("name"); /* no host name any more */
    assert_false(gang_spread_covers(s, a, n));
    gang_pod_facts_free(a);
    gang_node_facts_free(n);
}

/* ---- anti-affinity in plans ---- */

/* The members g-<from> to g-<to - 1>, each from make(). */
static void members(struct world *w, int from, int to,
                    struct gang_pod_facts *(*make)(const char *name))
{
    for (int i = from; i < to; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        world_pod_set(w, make(name));
    }
}

static struct gang_pod_facts *with_anti_affinity_to_siblings(const char *name)
{
    return with_anti_affinity(pod(name, "g", "x"), "x");
}

static void C09_members_with_anti_affinity_get_one_node_each(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 8);
    world_group(w, "g", 3);
    members(w, 0, 3, with_anti_affinity_to_siblings);
    assert_string_equal(world_state(w, "g"), "Planned");
    for (int i = 0; i < 3; i++) {
        cleanup_free char *node = xasprintf("n%d", i);
        assert_int_equal(reserved(w, node), 1);
    }
    world_free(w);
}

static void C09_members_with_anti_affinity_wait_for_one_node_each(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_group(w, "g", 3);
    members(w, 0, 3, with_anti_affinity_to_siblings);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 3 members needed, room for 2 (podAntiAffinity with other "
                        "members keeps g-2 off 2 of 2 nodes)");
    world_node(w, "n2", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Either pod may have the rule, and the other pod may be in no gang. */
static void C09_anti_affinity_with_an_ordinary_pod_keeps_members_off_its_node(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        struct world *w = world_of_nodes(2, 2);
        struct gang_pod_facts *o = on(pod("o", NULL, "o"), "n0");
        world_pod_set(w, side ? with_anti_affinity(o, "x") : o);
        world_group(w, "g", 2);
        for (int i = 0; i < 2; i++) {
            cleanup_free char *name = xasprintf("g-%d", i);
            struct gang_pod_facts *f = pod(name, "g", "x");
            world_pod_set(w, side ? f : with_anti_affinity(f, "o"));
        }
        assert_int_equal(reserved(w, "n0"), 0);
        assert_int_equal(reserved(w, "n1"), 2);
        world_free(w);
    }
}

static void a_gang_is_planned_when_a_pod_with_anti_affinity_goes(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, with_anti_affinity(on(pod("o", NULL, "o"), "n0"), "x"));
    world_group(w, "g", 2);
    world_pod_set(w, pod("g-0", "g", "x"));
    world_pod_set(w, pod("g-1", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 members needed, room for 0 (podAntiAffinity with other "
                        "pods keeps g-0 off 1 of 1 nodes)");
    world_pod_gone(w, "o");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Its label changes. The pod itself stays, but it no longer matches. */
static void a_gang_is_planned_when_a_pod_no_longer_matches_its_anti_affinity(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, on(pod("o", NULL, "o"), "n0"));
    world_group(w, "g", 1);
    world_pod_set(w, with_anti_affinity(pod("g-0", "g", "x"), "o"));
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_pod_set(w, on(pod("o", NULL, "p"), "n0"));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Two gangs with the same signature except for their labels. */
static void rules_see_the_labels_of_each_gangs_own_members(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, with_anti_affinity(on(pod("o", NULL, "o"), "n0"), "x"));
    world_group(w, "x", 1);
    world_pod_set(w, pod("x-0", "x", "x"));
    assert_string_equal(world_state(w, "x"), "Waiting");
    world_group(w, "y", 1);
    world_pod_set(w, pod("y-0", "y", "y"));
    assert_string_equal(world_state(w, "y"), "Planned");
    world_free(w);
}

/* Two members differ only in a label that another pod's rule reads. The order of the two is
 * irrelevant. */
static void C09_members_are_placed_by_the_labels_that_rules_read(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct world *w = world_of_nodes(2, 1);
        world_pod_set(w, with_anti_affinity(on(world_pod_facts("o", NULL, 0), "n0"), "x"));
        world_group(w, "g", 2);
        world_pod_set(w, pod(first ? "g-0" : "g-1", "g", first ? "x" : "y"));
        world_pod_set(w, pod(first ? "g-1" : "g-0", "g", first ? "y" : "x"));
        assert_string_equal(world_filter(w, "g-0"), "n1");
        assert_string_equal(world_filter(w, "g-1"), "n0");
        world_free(w);
    }
}

/* A new rule reads a label. The plan stays, and so do held calls. */
static void a_new_rule_does_not_undo_a_plan(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 2);
    world_node(w, "n1", 2);
    world_group(w, "g", 3);
    world_pod_set(w, pod("g-0", "g", "x"));
    world_pod_set(w, pod("g-1", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Planned"); /* one member is expected */
    uint64_t held = world_try(w, "g-0");
    world_pod_set(w, with_anti_affinity(on(world_pod_facts("o", NULL, 0), "n1"), "z"));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_null(world_answer(w, held));
    world_pod_set(w, pod("g-2", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(reserved(w, "n0") + reserved(w, "n1"), 3);
    assert_null(world_answer(w, held));
    world_free(w);
}

/* A user who makes up hundreds of labels slows nothing down. */
static void the_number_of_rule_labels_is_bounded(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    for (int i = 0; i < 200; i++) {
        cleanup_free char *name = xasprintf("o-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, NULL, 0);
        world_term_in(&add_anti_affinity(f, NULL)->term, name, "x");
        world_pod_set(w, f);
    }
    world_group(w, "g", 1);
    world_pod_set(w, pod("g-0", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Pods of another gang with equal members are not siblings. */
static void anti_affinity_counts_pods_of_an_equal_gang_as_other_pods(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, on(with_anti_affinity(pod("f-0", "f", "x"), "x"), "n0"));
    world_group(w, "g", 1);
    world_pod_set(w, with_anti_affinity_to_siblings("g-0"));
    assert_non_null(strstr(world_reason(w, "g"), "podAntiAffinity with other pods keeps g-0 off"));
    world_free(w);
}

/* Another program assigns a pod to the node of a slot. The slot moves away from this pod. */
static void a_slot_moves_away_from_a_pod_with_anti_affinity(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "g", 1);
    world_pod_set(w, pod("g-0", "g", "x"));
    assert_int_equal(reserved(w, "n0"), 1);
    world_pod_set(w, with_anti_affinity(on(pod("o", NULL, "o"), "n0"), "x"));
    assert_int_equal(reserved(w, "n0"), 0);
    assert_int_equal(reserved(w, "n1"), 1);
    world_free(w);
}

/* kube-scheduler has already let the member pass. */
static void a_member_at_bind_keeps_its_slot_despite_anti_affinity(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "g", 2);
    world_pod_set(w, pod("g-0", "g", "x"));
    world_pod_set(w, pod("g-1", "g", "x"));
    uint64_t held = world_try(w, "g-0");
    world_pod_set(w, with_anti_affinity(on(pod("o", NULL, "o"), "n0"), "x"));
    assert_null(world_answer(w, held));
    world_free(w);
}

static void a_node_without_a_host_name_has_no_anti_affinity(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct gang_node_facts *f = world_gpu_node("n0", 4);
    free(f->labels.items[0].key);
    f->labels.items[0].key = xstrdup("name");
    world_node_facts(w, f);
    world_group(w, "g", 3);
    members(w, 0, 3, with_anti_affinity_to_siblings);
    assert_int_equal(reserved(w, "n0"), 3);
    world_free(w);
}

/* ---- spreads in plans ---- */

static struct gang_pod_facts *spread_over_hosts(const char *name)
{
    return with_spread(pod(name, "g", "x"), "x", 1);
}

static void C09_members_are_spread_over_hosts(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 8);
    world_group(w, "g", 7);
    members(w, 0, 7, spread_over_hosts);
    assert_string_equal(world_state(w, "g"), "Planned");
    int64_t least = 8, most = 0;
    for (int i = 0; i < 3; i++) {
        cleanup_free char *node = xasprintf("n%d", i);
        int64_t n = reserved(w, node);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    assert_int_equal(least, 2);
    assert_int_equal(most, 3);
    world_free(w);
}

/* The small host takes one member, so the large host may take two. */
static void C09_a_small_host_limits_a_spread(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "large", 8);
    world_node(w, "small", 1);
    world_group(w, "g", 4);
    members(w, 0, 4, spread_over_hosts);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(
        world_reason(w, "g"),
        "gang default/g: 4 members needed, room for 3 (topologySpreadConstraints keep g-3 off 1 of "
        "2 nodes)");
    world_group(w, "g", 3);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(reserved(w, "large"), 2);
    assert_int_equal(reserved(w, "small"), 1);
    world_free(w);
}

static struct gang_pod_facts *spread_over_pool(const char *name)
{
    struct gang_pod_facts *f = spread_over_hosts(name);
    gang_kvs_add(&f->node_selector, "pool", "p");
    return f;
}

/* Hosts that the node selector excludes do not keep the minimum at 0. */
static void hosts_excluded_by_the_node_selector_do_not_count_in_a_spread(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 8);
    struct gang_node_facts *f = world_gpu_node("p0", 8);
    gang_kvs_add(&f->labels, "pool", "p");
    world_node_facts(w, f);
    world_group(w, "g", 4);
    members(w, 0, 4, spread_over_pool);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(reserved(w, "p0"), 4);
    world_free(w);
}

static void running_pods_count_in_a_spread(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *name = xasprintf("o-%d", i);
        world_pod_set(w, on(pod(name, NULL, "x"), "n0"));
    }
    world_group(w, "g", 2);
    members(w, 0, 2, spread_over_hosts);
    assert_int_equal(reserved(w, "n0"), 0);
    assert_int_equal(reserved(w, "n1"), 2);
    world_free(w);
}

static void a_gang_with_a_spread_follows_hosts_that_come_and_go(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 2);
    world_group(w, "g", 4);
    members(w, 0, 4, spread_over_hosts);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_node(w, "n1", 1); /* three GPUs in total */
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_node(w, "n1", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_node_gone(w, "n1");
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

/* ---- ordinary pods and slots ---- */

/* kube-scheduler does not know the slot, so it could put a pod there that excludes the member. */
static void an_ordinary_pod_does_not_pass_on_a_node_where_it_excludes_a_slot(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "g", 1);
    world_pod_set(w, pod("g-0", "g", "x"));
    assert_int_equal(reserved(w, "n0"), 1);
    world_pod_set(w, with_anti_affinity(pod("o", NULL, "o"), "x"));
    assert_string_equal(world_filter(w, "o"), "n1");
    world_pod_set(w, with_anti_affinity(pod("p", NULL, "o"), "y"));
    assert_string_equal(world_filter(w, "p"), "n0 n1");
    world_free(w);
}

/* The earmark for starved members covers as many nodes as they need. */
static void C12_the_earmark_covers_one_node_for_each_member_with_anti_affinity(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.assemble = 0;
    config.starvation = SECONDS(10);
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 2);
    world_node(w, "n1", 2);
    world_pod_seen(w, "old", NULL, 2, "n0", PHASE_RUNNING);
    world_group(w, "g", 2);
    members(w, 0, 2, with_anti_affinity_to_siblings);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_wait(w, SECONDS(11));
    world_pod(w, "o", NULL, 1);
    assert_string_equal(world_filter_on(w, "o", "n1", NULL),
                        "n1"); /* one of its two GPUs is earmarked */
    world_pod_seen(w, "o", NULL, 1, "n1", PHASE_RUNNING);
    world_pod(w, "p", NULL, 1);
    assert_string_equal(world_filter_on(w, "p", "n1", NULL), "");
    world_pod_gone(w, "old");
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(reserved(w, "n0"), 1);
    assert_int_equal(reserved(w, "n1"), 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anti_affinity_selects_pods_by_label_and_namespace),
        cmocka_unit_test(anti_affinity_with_an_empty_selector_matches_every_pod),
        cmocka_unit_test(a_spread_does_not_count_terminating_pods),
        cmocka_unit_test(a_spread_allows_its_maximum_skew),
        cmocka_unit_test(a_spread_covers_hosts_that_the_pod_may_use),
        cmocka_unit_test(C09_members_with_anti_affinity_get_one_node_each),
        cmocka_unit_test(C09_members_with_anti_affinity_wait_for_one_node_each),
        cmocka_unit_test(C09_anti_affinity_with_an_ordinary_pod_keeps_members_off_its_node),
        cmocka_unit_test(a_gang_is_planned_when_a_pod_with_anti_affinity_goes),
        cmocka_unit_test(a_gang_is_planned_when_a_pod_no_longer_matches_its_anti_affinity),
        cmocka_unit_test(rules_see_the_labels_of_each_gangs_own_members),
        cmocka_unit_test(C09_members_are_placed_by_the_labels_that_rules_read),
        cmocka_unit_test(anti_affinity_counts_pods_of_an_equal_gang_as_other_pods),
        cmocka_unit_test(a_new_rule_does_not_undo_a_plan),
        cmocka_unit_test(the_number_of_rule_labels_is_bounded),
        cmocka_unit_test(a_slot_moves_away_from_a_pod_with_anti_affinity),
        cmocka_unit_test(a_member_at_bind_keeps_its_slot_despite_anti_affinity),
        cmocka_unit_test(a_node_without_a_host_name_has_no_anti_affinity),
        cmocka_unit_test(C09_members_are_spread_over_hosts),
        cmocka_unit_test(C09_a_small_host_limits_a_spread),
        cmocka_unit_test(hosts_excluded_by_the_node_selector_do_not_count_in_a_spread),
        cmocka_unit_test(running_pods_count_in_a_spread),
        cmocka_unit_test(a_gang_with_a_spread_follows_hosts_that_come_and_go),
        cmocka_unit_test(an_ordinary_pod_does_not_pass_on_a_node_where_it_excludes_a_slot),
        cmocka_unit_test(C12_the_earmark_covers_one_node_for_each_member_with_anti_affinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
