/* SPDX-License-Identifier: Apache-2.0 */
/* Who goes before all others: a gang whose commit muster began and did not finish, for a while. A
 * gang of which others have bound a part, or that asks for more, keeps its place in the order. */
#include "test/lib/world.h"

#define MINUTES(n) SECONDS(60 * (n))

/* A member that is bound to node a. `bound_at` is by the API server's clock. */
static void seen_bound(struct world *w, const char *name, const char *group, bool committed,
                       usec_t bound_at)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    f->node = xstrdup("a");
    f->phase = PHASE_RUNNING;
    f->committed = committed;
    f->bound_at = bound_at;
    world_pod_set(w, f);
}

/* A gang of two with a higher priority, which waits. */
static void rival_comes(struct world *w)
{
    world_group(w, "rival", 2);
    world_pod_shaped(w, "rival-0", "rival", 1, 1000, 100);
    world_pod_shaped(w, "rival-1", "rival", 1, 1000, 100);
}

/* Room for one of the two. */
static void first_is(struct world *w, const char *first, const char *other)
{
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 0);
    world_node(w, "b", 2);
    cleanup_free char *member = xasprintf("%s-1", first);
    cleanup_free char *loser = xasprintf("%s-1", other);
    assert_string_equal(world_filter(w, member), "b");
    assert_string_equal(world_filter(w, loser), "");
}

static void T08_a_raised_minimum_keeps_its_turn(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 2);
    world_members(w, "g", 2, 4, 1);
    world_try_members(w, "g", 2, 4);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_group(w, "g", 4);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    rival_comes(w);
    first_is(w, "rival", "g");
    world_free(w);
}

/* The mark is one of this life, and its commit was finished. */
static void T08_a_mark_of_this_life_says_nothing(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 2);
    world_members(w, "g", 2, 4, 1);
    world_try_members(w, "g", 2, 4);
    world_all_bound(w);
    seen_bound(w, "g-2", "g", true, MINUTES(60));
    seen_bound(w, "g-3", "g", true, MINUTES(60));
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_group(w, "g", 4);
    world_members(w, "g", 0, 2, 1);
    rival_comes(w);
    first_is(w, "rival", "g");
    world_free(w);
}

/* The members that were added start together, as soon as it is their turn. */
static void T08_added_members_start_together(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    world_try_members(w, "g", 0, 2);
    world_all_bound(w);
    world_group(w, "g", 4);
    world_members(w, "g", 2, 4, 1);
    assert_string_equal(world_filter(w, "g-2"), ""); /* there is room for it alone */
    world_node(w, "b", 1);
    size_t bound = w->n_bindings;
    world_try(w, "g-2");
    assert_int_equal(w->n_bindings, bound);
    world_try(w, "g-3");
    assert_int_equal(w->n_bindings, bound + 2);
    world_free(w);
}

static void T08_members_made_on_a_node_keep_the_turn(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_wait(w, MINUTES(2));
    world_group(w, "g", 4);
    seen_bound(w, "g-2", "g", false, 0);
    seen_bound(w, "g-3", "g", true, SECONDS(1)); /* with a mark of its maker's */
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    rival_comes(w);
    first_is(w, "rival", "g");
    world_free(w);
}

/* Two of four are bound, the next Binding is refused. */
static struct world *cut_short(void)
{
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_node(w, "b", 0);
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 1);
    world_try_members(w, "g", 0, 4);
    assert_string_equal(world_state(w, "g"), "Committing");
    rival_comes(w);
    for (int i = 3; i >= 0; i--) {
        cleanup_free char *name = xasprintf("g-%d", i);
        if (i == 1)
            world_pod_seen(w, "other", NULL, 2, "a", PHASE_RUNNING); /* others took the room */
        world_result(w, name, "a", i > 1 ? OUTCOME_OK : OUTCOME_REFUSED);
    }
    assert_string_equal(world_state(w, "g"), "Recovering");
    return w;
}

static void T08_a_commit_that_was_cut_short_goes_first(void **state)
{
    (void)state;
    struct world *w = cut_short();
    first_is(w, "g", "rival");
    world_free(w);
}

static void T08_but_not_for_longer_than_five_minutes(void **state)
{
    (void)state;
    struct world *w = cut_short();
    world_wait(w, MINUTES(5));
    assert_string_equal(world_state(w, "g"), "Recovering");
    first_is(w, "rival", "g");
    world_free(w);
}

/* Muster was killed in its commit: two of four are bound. `age`: how long ago. */
static struct world *started_anew(bool committed, usec_t age)
{
    struct world *w = world_new_with(test_config(), false);
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 4);
    seen_bound(w, "g-2", "g", committed, MINUTES(60));
    seen_bound(w, "g-3", "g", committed, MINUTES(60));
    world_members(w, "g", 0, 2, 1);
    struct gang_pod_facts *f = world_pod_facts("latest", NULL, 0);
    f->created = MINUTES(60) + age;
    world_pod_set(w, f);
    rival_comes(w);
    world_sync(w);
    assert_string_equal(world_state(w, "g"), "Recovering");
    return w;
}

static void T08_the_mark_survives_a_restart(void **state)
{
    (void)state;
    struct world *w = started_anew(true, SECONDS(10));
    first_is(w, "g", "rival");
    world_free(w);
    w = started_anew(true, MINUTES(4));
    world_wait(w, SECONDS(61)); /* five minutes in all */
    first_is(w, "rival", "g");
    world_free(w);
}

static void T08_without_a_fresh_mark_nobody_is_first_after_a_restart(void **state)
{
    (void)state;
    struct world *w = started_anew(false, 0);
    first_is(w, "rival", "g");
    world_free(w);
    w = started_anew(true, MINUTES(6));
    first_is(w, "rival", "g");
    world_free(w);
}

/* A Binding of the life before arrives when muster is back. */
static void T08_a_binding_that_lands_late_counts(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 0);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 3, 1);
    rival_comes(w);
    world_wait(w, SECONDS(50));
    seen_bound(w, "g-2", "g", true, MINUTES(60));
    world_pod_seen(w, "other", NULL, 1, "a", PHASE_RUNNING);
    first_is(w, "g", "rival");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T08_a_raised_minimum_keeps_its_turn),
        cmocka_unit_test(T08_a_mark_of_this_life_says_nothing),
        cmocka_unit_test(T08_added_members_start_together),
        cmocka_unit_test(T08_members_made_on_a_node_keep_the_turn),
        cmocka_unit_test(T08_a_commit_that_was_cut_short_goes_first),
        cmocka_unit_test(T08_but_not_for_longer_than_five_minutes),
        cmocka_unit_test(T08_the_mark_survives_a_restart),
        cmocka_unit_test(T08_without_a_fresh_mark_nobody_is_first_after_a_restart),
        cmocka_unit_test(T08_a_binding_that_lands_late_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
