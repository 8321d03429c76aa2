/* SPDX-License-Identifier: Apache-2.0 */
/* A member whose volumes are prepared for a node is pinned there until its attempt ends. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T09_a_pin_ends_with_the_attempt),
        cmocka_unit_test(T09_a_pin_of_a_recovering_gang_ends_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
