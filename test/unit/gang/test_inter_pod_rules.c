/* SPDX-License-Identifier: Apache-2.0 */
/* Rules between pods: the rules alone, then plans that follow them. */
#include "gang/inter_pod_rules.h"

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- making facts ---- */

static void add_in(struct gang_term *t, const char *key, const char *value)
{
    t->items = xreallocarray(t->items, t->n + 1, sizeof *t->items);
    struct gang_requirement *r = &t->items[t->n++];
    *r = (struct gang_requirement){.key = xstrdup(key), .op = MATCH_IN, .n_values = 1};
    r->values = xcalloc(1, sizeof *r->values);
    r->values[0] = xstrdup(value);
}

/* Anti-affinity towards app=<app>, in the pod's own namespace. */
static struct gang_selector *add_apart(struct gang_pod_facts *f, const char *app)
{
    f->anti_affinity =
        xreallocarray(f->anti_affinity, f->n_anti_affinity + 1, sizeof *f->anti_affinity);
    struct gang_selector *s = &f->anti_affinity[f->n_anti_affinity++];
    *s = (struct gang_selector){.n_namespaces = 0};
    if (app)
        add_in(&s->term, "app", app);
    return s;
}

static struct gang_spread *add_spread(struct gang_pod_facts *f, const char *app, int skew)
{
    f->spreads = xreallocarray(f->spreads, f->n_spreads + 1, sizeof *f->spreads);
    struct gang_spread *s = &f->spreads[f->n_spreads++];
    *s = (struct gang_spread){.max_skew = skew};
    add_in(&s->selector.term, "app", app);
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

static struct gang_pod_facts *with_apart(struct gang_pod_facts *f, const char *app)
{
    add_apart(f, app);
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

static void anti_affinity_selects_by_label_and_namespace(void **state)
{
    (void)state;
    struct gang_pod_facts *a = with_apart(pod("a", NULL, "x"), "y");
    struct gang_pod_facts *b = pod("b", NULL, "y");
    assert_true(gang_anti_affinity_forbids(a, b));
    assert_false(gang_anti_affinity_forbids(b, a)); /* one way at a time */
    assert_false(gang_anti_affinity_forbids(a, a));
    free(b->ns);
    b->ns = xstrdup("other");
    assert_false(gang_anti_affinity_forbids(a, b));
    a->anti_affinity[0].namespaces = xcalloc(1, sizeof(char *));
    a->anti_affinity[0].namespaces[a->anti_affinity[0].n_namespaces++] = xstrdup("other");
    assert_true(gang_anti_affinity_forbids(a, b));
    free(b->ns);
    b->ns = xstrdup("default");
    assert_false(gang_anti_affinity_forbids(a, b)); /* its own is not named */
    a->anti_affinity[0].all_namespaces = true;
    assert_true(gang_anti_affinity_forbids(a, b));
    b->deleting = true;
    assert_true(gang_anti_affinity_forbids(a, b)); /* while it is there */
    gang_pod_facts_free(a);
    gang_pod_facts_free(b);
}

static void an_empty_selector_keeps_all_away(void **state)
{
    (void)state;
    struct gang_pod_facts *a = with_apart(pod("a", NULL, NULL), NULL);
    struct gang_pod_facts *b = pod("b", NULL, NULL);
    assert_true(gang_anti_affinity_forbids(a, b));
    gang_pod_facts_free(a);
    gang_pod_facts_free(b);
}

static void a_spread_counts_pods_that_stay(void **state)
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

/* Worked out with podtopologyspread Filter at hand. */
static void a_spread_allows_so_much_skew(void **state)
{
    (void)state;
    struct gang_pod_facts *a = pod("a", NULL, "x");
    struct gang_spread *s = add_spread(a, "x", 2);
    assert_true(gang_spread_allows(s, a, 1, 0, 3));
    assert_false(gang_spread_allows(s, a, 2, 0, 3));
    assert_true(gang_spread_allows(s, a, 2, 1, 3));
    s->min_domains = 4; /* too few hosts: the least counts as 0 */
    assert_false(gang_spread_allows(s, a, 2, 1, 3));
    assert_true(gang_spread_allows(s, a, 2, 1, 4));
    free(a->labels.items[0].value);
    a->labels.items[0].value = xstrdup("y"); /* it does not count itself */
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
    n->labels.items[0].key = xstrdup("name"); /* no host any more */
    assert_false(gang_spread_covers(s, a, n));
    gang_pod_facts_free(a);
    gang_node_facts_free(n);
}

/* ---- anti-affinity in plans ---- */

/* Members g-<from> to g-<to - 1>, each made by make(). */
static void members(struct world *w, int from, int to,
                    struct gang_pod_facts *(*make)(const char *name))
{
    for (int i = from; i < to; i++) {
        cleanup_free char *name = xasprintf("g-%d", i);
        world_pod_set(w, make(name));
    }
}

static struct gang_pod_facts *apart_from_siblings(const char *name)
{
    return with_apart(pod(name, "g", "x"), "x");
}

static void C09_members_that_keep_apart_get_a_node_each(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 8);
    world_group(w, "g", 3);
    members(w, 0, 3, apart_from_siblings);
    assert_string_equal(world_state(w, "g"), "Planned");
    for (int i = 0; i < 3; i++) {
        cleanup_free char *node = xasprintf("n%d", i);
        assert_int_equal(reserved(w, node), 1);
    }
    world_free(w);
}

static void C09_members_that_keep_apart_wait_for_a_node_each(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_group(w, "g", 3);
    members(w, 0, 3, apart_from_siblings);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 3 members needed, room for 2 (g-2 is kept apart from its "
                        "siblings by podAntiAffinity on 2 of 2 nodes)");
    world_node(w, "n2", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* The rule may be on either side, and the pod may be of nobody's gang. */
static void C09_an_ordinary_pod_keeps_members_away(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        struct world *w = world_of_nodes(2, 2);
        struct gang_pod_facts *o = on(pod("o", NULL, "o"), "n0");
        world_pod_set(w, side ? with_apart(o, "x") : o);
        world_group(w, "g", 2);
        for (int i = 0; i < 2; i++) {
            cleanup_free char *name = xasprintf("g-%d", i);
            struct gang_pod_facts *f = pod(name, "g", "x");
            world_pod_set(w, side ? f : with_apart(f, "o"));
        }
        assert_int_equal(reserved(w, "n0"), 0);
        assert_int_equal(reserved(w, "n1"), 2);
        world_free(w);
    }
}

static void a_pod_that_kept_members_away_goes(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, with_apart(on(pod("o", NULL, "o"), "n0"), "x"));
    world_group(w, "g", 2);
    world_pod_set(w, pod("g-0", "g", "x"));
    world_pod_set(w, pod("g-1", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 members needed, room for 0 (g-0 is kept apart from "
                        "other pods by podAntiAffinity on 1 of 1 nodes)");
    world_pod_gone(w, "o");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Its label is taken off: nothing came or went, but it matters no more. */
static void a_pod_that_kept_members_away_changes_its_labels(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, on(pod("o", NULL, "o"), "n0"));
    world_group(w, "g", 1);
    world_pod_set(w, with_apart(pod("g-0", "g", "x"), "o"));
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_pod_set(w, on(pod("o", NULL, "p"), "n0"));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Two gangs of the same signature, told apart by their labels alone. */
static void labels_are_those_of_the_gangs_own_members(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, with_apart(on(pod("o", NULL, "o"), "n0"), "x"));
    world_group(w, "x", 1);
    world_pod_set(w, pod("x-0", "x", "x"));
    assert_string_equal(world_state(w, "x"), "Waiting");
    world_group(w, "y", 1);
    world_pod_set(w, pod("y-0", "y", "y"));
    assert_string_equal(world_state(w, "y"), "Planned");
    world_free(w);
}

/* Two members alike but for a label that somebody's rule asks for; whichever comes first. */
static void C09_labels_that_rules_ask_for_tell_members_apart(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct world *w = world_of_nodes(2, 1);
        world_pod_set(w, with_apart(on(world_pod_facts("o", NULL, 0), "n0"), "x"));
        world_group(w, "g", 2);
        world_pod_set(w, pod(first ? "g-0" : "g-1", "g", first ? "x" : "y"));
        world_pod_set(w, pod(first ? "g-1" : "g-0", "g", first ? "y" : "x"));
        assert_string_equal(world_filter(w, "g-0"), "n1");
        assert_string_equal(world_filter(w, "g-1"), "n0");
        world_free(w);
    }
}

/* A rule comes that asks for a label in which members differ: the plan stays, held calls too. */
static void a_rule_that_comes_later_spoils_no_plan(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 2);
    world_node(w, "n1", 2);
    world_group(w, "g", 3);
    world_pod_set(w, pod("g-0", "g", "x"));
    world_pod_set(w, pod("g-1", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Planned"); /* one is expected */
    uint64_t held = world_try(w, "g-0");
    world_pod_set(w, with_apart(on(world_pod_facts("o", NULL, 0), "n1"), "z"));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_null(world_answer(w, held));
    world_pod_set(w, pod("g-2", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(reserved(w, "n0") + reserved(w, "n1"), 3);
    assert_null(world_answer(w, held));
    world_free(w);
}

/* Whoever makes up labels by the hundred makes nothing slow. */
static void labels_that_matter_are_bounded(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    for (int i = 0; i < 200; i++) {
        cleanup_free char *name = xasprintf("o-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, NULL, 0);
        add_in(&add_apart(f, NULL)->term, name, "x");
        world_pod_set(w, f);
    }
    world_group(w, "g", 1);
    world_pod_set(w, pod("g-0", "g", "x"));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Pods of another gang of the very same kind are no siblings. */
static void a_gang_is_kept_apart_from_another_of_its_kind(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_pod_set(w, on(with_apart(pod("f-0", "f", "x"), "x"), "n0"));
    world_group(w, "g", 1);
    world_pod_set(w, apart_from_siblings("g-0"));
    assert_non_null(strstr(world_reason(w, "g"), "g-0 is kept apart from other pods"));
    world_free(w);
}

/* A slot that waits for its member moves away from a pod that others put there. */
static void a_slot_leaves_a_pod_that_keeps_it_away(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "g", 1);
    world_pod_set(w, pod("g-0", "g", "x"));
    assert_int_equal(reserved(w, "n0"), 1);
    world_pod_set(w, with_apart(on(pod("o", NULL, "o"), "n0"), "x"));
    assert_int_equal(reserved(w, "n0"), 0);
    assert_int_equal(reserved(w, "n1"), 1);
    world_free(w);
}

/* Once at bind the scheduler has let it pass. */
static void a_member_at_bind_stays(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "g", 2);
    world_pod_set(w, pod("g-0", "g", "x"));
    world_pod_set(w, pod("g-1", "g", "x"));
    uint64_t held = world_try(w, "g-0");
    world_pod_set(w, with_apart(on(pod("o", NULL, "o"), "n0"), "x"));
    assert_null(world_answer(w, held));
    world_free(w);
}

static void a_node_that_is_no_host_knows_no_anti_affinity(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct gang_node_facts *f = world_gpu_node("n0", 4);
    free(f->labels.items[0].key);
    f->labels.items[0].key = xstrdup("name");
    world_node_facts(w, f);
    world_group(w, "g", 3);
    members(w, 0, 3, apart_from_siblings);
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

/* The small host can take one, so the large one may have two. */
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
        "gang default/g: 4 members needed, room for 3 (g-3 is kept off 1 of 2 nodes by its "
        "topologySpreadConstraints)");
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

/* Hosts that the node selector rules out do not keep the least at 0. */
static void hosts_that_are_ruled_out_do_not_count(void **state)
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

static void pods_that_run_count_in_a_spread(void **state)
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

static void a_new_host_makes_room_in_no_spread_until_it_is_used(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 2);
    world_group(w, "g", 4);
    members(w, 0, 4, spread_over_hosts);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_node(w, "n1", 1); /* three GPUs */
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_node(w, "n1", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_node_gone(w, "n1");
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

/* ---- ordinary pods beside reservations ---- */

/* The scheduler does not know of the slot: it would put a pod there that keeps the member away. */
static void an_ordinary_pod_is_kept_from_a_slot_it_would_spoil(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_group(w, "g", 1);
    world_pod_set(w, pod("g-0", "g", "x"));
    assert_int_equal(reserved(w, "n0"), 1);
    world_pod_set(w, with_apart(pod("o", NULL, "o"), "x"));
    assert_string_equal(world_filter(w, "o"), "n1");
    world_pod_set(w, with_apart(pod("p", NULL, "o"), "y"));
    assert_string_equal(world_filter(w, "p"), "n0 n1");
    world_free(w);
}

/* What is kept for members that have waited too long is kept on as many nodes as they need. */
static void C12_capacity_is_kept_on_a_node_each(void **state)
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
    members(w, 0, 2, apart_from_siblings);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_wait(w, SECONDS(11));
    world_pod(w, "o", NULL, 1);
    assert_string_equal(world_filter_on(w, "o", "n1", NULL),
                        "n1"); /* one of the two GPUs there is kept */
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
        cmocka_unit_test(anti_affinity_selects_by_label_and_namespace),
        cmocka_unit_test(an_empty_selector_keeps_all_away),
        cmocka_unit_test(a_spread_counts_pods_that_stay),
        cmocka_unit_test(a_spread_allows_so_much_skew),
        cmocka_unit_test(a_spread_covers_hosts_that_the_pod_may_use),
        cmocka_unit_test(C09_members_that_keep_apart_get_a_node_each),
        cmocka_unit_test(C09_members_that_keep_apart_wait_for_a_node_each),
        cmocka_unit_test(C09_an_ordinary_pod_keeps_members_away),
        cmocka_unit_test(a_pod_that_kept_members_away_goes),
        cmocka_unit_test(a_pod_that_kept_members_away_changes_its_labels),
        cmocka_unit_test(labels_are_those_of_the_gangs_own_members),
        cmocka_unit_test(C09_labels_that_rules_ask_for_tell_members_apart),
        cmocka_unit_test(a_gang_is_kept_apart_from_another_of_its_kind),
        cmocka_unit_test(a_rule_that_comes_later_spoils_no_plan),
        cmocka_unit_test(labels_that_matter_are_bounded),
        cmocka_unit_test(a_slot_leaves_a_pod_that_keeps_it_away),
        cmocka_unit_test(a_member_at_bind_stays),
        cmocka_unit_test(a_node_that_is_no_host_knows_no_anti_affinity),
        cmocka_unit_test(C09_members_are_spread_over_hosts),
        cmocka_unit_test(C09_a_small_host_limits_a_spread),
        cmocka_unit_test(hosts_that_are_ruled_out_do_not_count),
        cmocka_unit_test(pods_that_run_count_in_a_spread),
        cmocka_unit_test(a_new_host_makes_room_in_no_spread_until_it_is_used),
        cmocka_unit_test(an_ordinary_pod_is_kept_from_a_slot_it_would_spoil),
        cmocka_unit_test(C12_capacity_is_kept_on_a_node_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
