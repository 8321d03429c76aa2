/* SPDX-License-Identifier: Apache-2.0 */
/* A member whose volumes are prepared for a node is pinned there until its attempt ends. Changes of
 * a claim give the pods that use it new signatures, but not more often than the core can bear. */
#include <stdio.h>

#include "gang/cluster/lookup.h"
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* g-0 has a ResourceClaim and was at bind on b. Since then, o has taken the room on b; a is free.
 */
static struct world *pinned_to_a_full_node(int bound)
{
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 1);
    world_group_timeout(w, "g", 2 + bound, SECONDS(60));
    if (bound)
        world_pod_seen(w, "g-2", "g", 0, "a", PHASE_RUNNING);
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
    f->has_pvc = f->has_resource_claims = true;
    world_pod_set(w, f);
    world_pod(w, "g-1", "g", 1);
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "b");
    world_bind(w, "g-0", "b");
    world_pod_seen(w, "o", NULL, 1, "b", PHASE_RUNNING);
    assert_non_null(
        strstr(world_reason(w, "g"), "the volumes or claims of g-0 are prepared for node b"));
    return w;
}

static void T09_a_pin_ends_with_the_attempt(void **state)
{
    (void)state;
    struct world *w = pinned_to_a_full_node(0);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_wait(w, SECONDS(50));
    assert_int_equal(world_reserved(w, "a", GPU), 0); /* the attempt has not ended */
    world_wait(w, SECONDS(20));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(world_filter(w, "g-0"), "a");
    world_free(w);
}

/* A part of the gang is bound, so it does not back off, but its attempts still end. */
static void T09_a_pin_of_a_recovering_gang_ends_too(void **state)
{
    (void)state;
    struct world *w = pinned_to_a_full_node(1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    world_wait(w, SECONDS(70));
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    assert_string_equal(world_filter(w, "g-0"), "a");
    world_free(w);
}

/* ---- changes of claims ---- */

static void add_user(struct world *w, const char *name, const char *claim, enum gang_phase phase)
{
    struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
    f->has_pvc = true;
    f->n_claims = 1;
    f->claims = xcalloc(1, sizeof *f->claims);
    f->claims[0] = xstrdup(claim);
    f->phase = phase;
    world_pod_set(w, f);
}

static void add_users(struct world *w, int n)
{
    for (int i = 0; i < n; i++) {
        cleanup_free char *name = xasprintf("p-%d", i);
        add_user(w, name, "data", PHASE_PENDING);
    }
}

static void prepare_claim(struct world *w, const char *claim, const char *node)
{
    struct gang_claim_facts *f = gang_claim_facts_new();
    f->ns = xstrdup("default");
    f->name = xstrdup(claim);
    f->selected = xstrdup(node);
    world_step(w, &(struct gang_event){.kind = GANG_EV_CLAIM_SET, .claim = f}, 1);
}

static const struct signature *signature(const struct world *w, const char *pod)
{
    return pod_by_name(w->core, "default", pod)->signature;
}

/* Whether the signature of the pod says that its claim is prepared for the node. */
static bool is_prepared(const struct world *w, const char *pod, const char *node)
{
    return strstr(signature(w, pod)->key, node) != NULL;
}

static void T16_a_claim_of_many_pods_changes_only_so_often(void **state)
{
    (void)state;
    enum { USERS = 2000, CHANGES = 6040 };
    struct world *w = world_new();
    char node[16] = "";
    int taken = 0;
    add_users(w, USERS);
    for (int i = 0; i < CHANGES; i++) { /* in a minute, 100 a second */
        const struct signature *before = signature(w, "p-0");
        snprintf(node, sizeof node, "node-%d", i);
        prepare_claim(w, "data", node);
        world_wait(w, 10 * USEC_PER_MSEC);
        taken += signature(w, "p-0") != before;
    }
    /* 0.8 s of rest for each change, and 20 s in advance */
    assert_in_range(taken, 80, 105);
    assert_false(is_prepared(w, "p-0", node));
    world_wait(w, SECONDS(2));
    assert_true(is_prepared(w, "p-0", node));
    world_free(w);
}

/* Makes the namespace owe so much rest that the next change waits. */
static void exhaust(struct world *w)
{
    add_users(w, 1000);
    for (int i = 0; i < 60; i++)
        prepare_claim(w, "data", i % 2 ? "odd" : "even");
}

static void T16_a_change_that_waits_is_not_lost(void **state)
{
    (void)state;
    struct world *w = world_new();
    exhaust(w);
    add_user(w, "q", "other", PHASE_PENDING);
    prepare_claim(w, "other", "node-a");
    world_pod_gone(w, "q"); /* no pod uses the claim */
    add_user(w, "q", "other", PHASE_PENDING);
    assert_false(is_prepared(w, "q", "node-a"));
    world_wait(w, SECONDS(2));
    assert_true(is_prepared(w, "q", "node-a"));
    prepare_claim(w, "data", "even");
    world_wait(w, SECONDS(60));
    assert_int_equal(map_count(&w->core->claim_rests), 0);
    world_free(w);
}

/* Another namespace does not wait. */
static void T16_claims_of_one_namespace_do_not_delay_others(void **state)
{
    (void)state;
    struct world *w = world_new();
    exhaust(w);
    struct gang_claim_facts *f = gang_claim_facts_new();
    f->ns = xstrdup("calm");
    f->name = xstrdup("data");
    f->selected = xstrdup("a");
    world_step(w, &(struct gang_event){.kind = GANG_EV_CLAIM_SET, .claim = f}, 1);
    const struct claim *claim = map_get(&w->core->claims, "calm/data");
    assert_non_null(claim);
    assert_non_null(claim->facts);
    world_free(w);
}

static void T16_a_claim_gives_finished_pods_no_new_signatures(void **state)
{
    (void)state;
    struct world *w = world_new();
    add_user(w, "runs", "data", PHASE_RUNNING);
    add_user(w, "ended", "data", PHASE_RUNNING);
    add_user(w, "failed", "data", PHASE_FAILED);
    prepare_claim(w, "data", "node-a");
    assert_true(is_prepared(w, "ended", "node-a"));
    add_user(w, "ended", "data", PHASE_SUCCEEDED);
    const struct signature *ended = signature(w, "ended");
    prepare_claim(w, "data", "node-b");
    assert_true(is_prepared(w, "runs", "node-b"));
    assert_ptr_equal(signature(w, "ended"), ended);
    assert_false(ended->limited);
    assert_false(signature(w, "failed")->limited);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T09_a_pin_ends_with_the_attempt),
        cmocka_unit_test(T09_a_pin_of_a_recovering_gang_ends_too),
        cmocka_unit_test(T16_a_claim_of_many_pods_changes_only_so_often),
        cmocka_unit_test(T16_a_change_that_waits_is_not_lost),
        cmocka_unit_test(T16_claims_of_one_namespace_do_not_delay_others),
        cmocka_unit_test(T16_a_claim_gives_finished_pods_no_new_signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
