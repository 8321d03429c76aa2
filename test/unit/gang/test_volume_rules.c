/* SPDX-License-Identifier: Apache-2.0 */
/* Where volumes can be used: first the rule alone, then plans that follow it. */
#include "gang/volume_rules.h"

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- facts ---- */

static struct gang_pod_facts *member_with_claim(const char *name, const char *claim)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->claims = xcalloc(1, sizeof *f->claims);
    f->claims[f->n_claims++] = xstrdup(claim);
    f->has_pvc = true;
    return f;
}

static struct gang_claim_facts *claim(const char *name, const char *selected, const char *host)
{
    struct gang_claim_facts *f = gang_claim_facts_new();
    f->ns = xstrdup("default");
    f->name = xstrdup(name);
    f->selected = xstrdup_null(selected);
    f->bound = f->limited = host != NULL;
    f->terms = xcalloc(1, sizeof *f->terms);
    f->n_terms = f->limited;
    if (host)
        world_term_in(&f->terms[0], "kubernetes.io/hostname", host);
    return f;
}

static void claim_set(struct world *w, const char *name, const char *selected, const char *host)
{
    struct gang_event ev = {.kind = GANG_EV_CLAIM_SET, .claim = claim(name, selected, host)};
    world_step(w, &ev, 1);
}

static void claim_gone(struct world *w, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_CLAIM_GONE};
    ev.gone = (struct gang_ref){.ns = xstrdup("default"), .name = xstrdup(name)};
    world_step(w, &ev, 1);
}

static int64_t reserved(const struct world *w, const char *node)
{
    return world_reserved(w, node, GPU);
}

/* ---- the rule alone ---- */

static void a_claim_allows_only_its_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *selected, *host;
        bool n1;
    } cases[] = {{NULL, NULL, true},
                 {"n1", NULL, true},
                 {"n2", NULL, false},
                 {NULL, "n1", true},
                 {NULL, "n2", false}};
    struct gang_node_facts *n = world_gpu_node("n1", 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_claim_facts *c = claim("c", cases[i].selected, cases[i].host);
        assert_int_equal(gang_claim_allows(c, n), cases[i].n1);
        gang_claim_facts_free(c);
    }
    struct gang_claim_facts *c = claim("c", NULL, "n1");
    gang_claim_facts_free(c);
    c = gang_claim_facts_new();
    c->limited = true; /* no term: no node */
    assert_false(gang_claim_allows(c, n));
    gang_claim_facts_free(c);
    gang_node_facts_free(n);
}

/* ---- plans ---- */

static void C09_a_bound_volume_decides_the_node(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 4);
    claim_set(w, "c0", NULL, "n2");
    world_group(w, "g", 2);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    world_pod_set(w, world_pod_facts("g-1", "g", 1));
    assert_string_equal(world_filter(w, "g-0"), "n2");
    world_free(w);
}

static void a_gang_waits_while_its_volume_is_on_no_usable_node(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 1);
    claim_set(w, "c0", NULL, "gone");
    world_group(w, "g", 1);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 1 member needed, room for 0 (no node that g-0 may run on "
                        "can use its volumes)");
    claim_gone(w, "c0");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* A member that fits on only one node is placed first, regardless of its name. */
static void members_with_a_volume_are_placed_first(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 1);
    world_node(w, "n1", 2);
    claim_set(w, "c", NULL, "n0");
    world_group(w, "g", 3);
    world_pod_set(w, world_pod_facts("g-0", "g", 1));
    world_pod_set(w, world_pod_facts("g-1", "g", 1));
    world_pod_set(w, member_with_claim("g-2", "c"));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(world_filter(w, "g-2"), "n0");
    world_free(w);
}

/* kube-scheduler prepares the volume for the slot's node before it binds the member. */
static void a_prepared_claim_keeps_the_slot(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 1);
    world_group(w, "g", 2);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    world_pod_set(w, member_with_claim("g-1", "c1"));
    assert_string_equal(world_filter(w, "g-0"), "n0");
    claim_set(w, "c0", "n0", NULL);
    assert_int_equal(reserved(w, "n0"), 1);
    uint64_t held = world_bind(w, "g-0", "n0");
    assert_null(world_answer(w, held));
    claim_set(w, "c0", NULL, "n0"); /* provisioned and bound */
    assert_null(world_answer(w, held));
    uint64_t last = world_try(w, "g-1");
    assert_null(world_answer(w, last));
    assert_true(world_binding(w, "g-0@n0"));
    assert_true(world_binding(w, "g-1@n1"));
    world_free(w);
}

/* The two members cannot swap their slots. */
static void a_member_with_a_prepared_volume_is_pinned(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 1);
    world_group(w, "g", 2);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    world_pod_set(w, member_with_claim("g-1", "c1"));
    claim_set(w, "c0", "n1", NULL);
    assert_string_equal(world_filter(w, "g-0"), "n1");
    assert_string_equal(world_filter_on(w, "g-1", "n1", NULL), "");
    assert_true(world_filter(w, "g-0")[0] ==
                '\0'); /* the gang waits, because n0 is infeasible for g-1 */
    world_free(w);
}

/* Missing members have no volumes yet, so they stay expected. */
static void members_are_expected_after_a_claim_is_prepared(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), true);
    world_node(w, "n0", 2);
    world_node(w, "n1", 2);
    world_group(w, "g", 3);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    assert_string_equal(world_state(w, "g"), "Planned");
    cleanup_free char *node = xstrdup(world_filter(w, "g-0"));
    claim_set(w, "c0", node, NULL);
    uint64_t held = world_bind(w, "g-0", node);
    world_node(w, "n0", 2); /* heartbeats */
    world_node(w, "n1", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_pod_set(w, member_with_claim("g-1", "c1"));
    world_pod_set(w, member_with_claim("g-2", "c2"));
    assert_null(world_answer(w, held));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_try(w, "g-1");
    world_try(w, "g-2");
    assert_string_equal(world_state(w, "g"), "Committing");
    world_free(w);
}

/* A shared data set is already bound, so kube-scheduler prepares nothing and the member can move.
 * An unbound claim may be under preparation. */
static void C05_a_bound_claim_does_not_pin_a_member(void **state)
{
    (void)state;
    for (int bound = 0; bound < 2; bound++) {
        struct world *w = world_of_nodes(3, 1);
        if (bound) {
            struct gang_event ev = {.kind = GANG_EV_CLAIM_SET, .claim = claim("c", NULL, NULL)};
            ev.claim->bound = true;
            world_step(w, &ev, 1);
        }
        world_group(w, "g", 2);
        world_pod_set(w, member_with_claim("g-0", "c"));
        world_pod_set(w, member_with_claim("g-1", "c"));
        cleanup_free char *node = xstrdup(world_filter(w, "g-0"));
        world_bind(w, "g-0", node);
        struct gang_node_facts *f = world_gpu_node(node, 1);
        f->unschedulable = true;
        world_node_facts(w, f);
        assert_string_equal(world_state(w, "g"), bound ? "Planned" : "Waiting");
        world_free(w);
    }
}

/* The claim is bound during the hold. From then on, the volume decides where the member can run. */
static void C05_the_pin_ends_when_the_claim_is_bound(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(3, 1);
    world_group(w, "g", 2);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    world_pod_set(w, world_pod_facts("g-1", "g", 1));
    cleanup_free char *node = xstrdup(world_filter(w, "g-0"));
    uint64_t held = world_bind(w, "g-0", node);
    struct gang_event ev = {.kind = GANG_EV_CLAIM_SET, .claim = claim("c0", NULL, NULL)};
    ev.claim->bound = true;
    world_step(w, &ev, 1);
    assert_null(world_answer(w, held));
    struct gang_node_facts *f = world_gpu_node(node, 1);
    f->unschedulable = true;
    world_node_facts(w, f);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void a_slot_moves_to_the_node_of_its_volume(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 1);
    world_group(w, "g", 1);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    assert_int_equal(reserved(w, "n0"), 1);
    claim_set(w, "c0", NULL, "n1");
    assert_int_equal(reserved(w, "n0"), 0);
    assert_int_equal(reserved(w, "n1"), 1);
    world_free(w);
}

/* Claims without a limit do not divide members into signatures, so the members can swap slots. */
static void members_with_unlimited_claims_can_swap_slots(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 1);
    world_group(w, "g", 2);
    world_pod_set(w, member_with_claim("g-0", "c0"));
    world_pod_set(w, member_with_claim("g-1", "c1"));
    assert_string_equal(world_filter_on(w, "g-0", "n1", NULL), "n1");
    assert_string_equal(world_filter(w, "g-1"), "n0");
    world_free(w);
}

/* A claim may appear before its pod or after it, and may outlive it. */
static void claims_and_pods_come_and_go_in_any_order(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 2);
    claim_gone(w, "never");
    claim_set(w, "nothing", NULL, NULL);
    claim_set(w, "c", NULL, "n1");
    world_group(w, "g", 1);
    world_pod_set(w, member_with_claim("g-0", "c"));
    assert_int_equal(reserved(w, "n1"), 1);
    claim_gone(w, "c");
    world_pod_gone(w, "g-0");
    world_pod_set(w, member_with_claim("g-1", "c"));
    assert_int_equal(reserved(w, "n0"), 1);
    claim_set(w, "c", NULL, "n1");
    assert_int_equal(reserved(w, "n1"), 1);
    world_pod_gone(w, "g-1");
    assert_int_equal(reserved(w, "n1"), 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_allows_only_its_nodes),
        cmocka_unit_test(C09_a_bound_volume_decides_the_node),
        cmocka_unit_test(a_gang_waits_while_its_volume_is_on_no_usable_node),
        cmocka_unit_test(members_with_a_volume_are_placed_first),
        cmocka_unit_test(a_prepared_claim_keeps_the_slot),
        cmocka_unit_test(a_member_with_a_prepared_volume_is_pinned),
        cmocka_unit_test(members_are_expected_after_a_claim_is_prepared),
        cmocka_unit_test(C05_a_bound_claim_does_not_pin_a_member),
        cmocka_unit_test(C05_the_pin_ends_when_the_claim_is_bound),
        cmocka_unit_test(a_slot_moves_to_the_node_of_its_volume),
        cmocka_unit_test(members_with_unlimited_claims_can_swap_slots),
        cmocka_unit_test(claims_and_pods_come_and_go_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
