/* SPDX-License-Identifier: Apache-2.0 */
/* The order of gangs and how long they wait: priorities, backfill, the earmark, strict order,
 * backoff. And what happens to a gang after a failed commit or a loss. */
#include <stdio.h>

#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

static struct world *with(struct gang_config config)
{
    config.assemble = 0;
    return world_new_with(config, true);
}

static void running(struct world *w, const char *name, int gpus, const char *node)
{
    world_pod_seen(w, name, NULL, gpus, node, PHASE_RUNNING);
}

/* ---- order ---- */

static void C12_the_gang_of_the_higher_priority_class_is_planned_first(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_group(w, "low", 2);
    world_members(w, "low", 0, 2, 1);
    world_class(w, "train", 50);
    struct gang_group_facts *f = world_group_facts("high", 2);
    f->priority_class = xstrdup("train");
    world_group_set(w, f);
    world_members(w, "high", 0, 2, 1);
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "high"), "Planned");
    assert_string_equal(world_state(w, "low"), "Waiting");
    world_free(w);
}

static void C12_a_changed_priority_class_changes_the_order(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_class(w, "c", 5);
    struct gang_group_facts *f = world_group_facts("a", 2);
    f->priority_class = xstrdup("c");
    world_group_set(w, f);
    world_members(w, "a", 0, 2, 1);
    f = world_group_facts("b", 2);
    f->has_priority = true;
    f->priority = 7;
    world_group_set(w, f);
    world_members(w, "b", 0, 2, 1);
    world_class(w, "c", 9);
    world_node(w, "n", 2);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_string_equal(world_state(w, "b"), "Waiting");
    world_free(w);
}

/* ---- backfill and the earmark ---- */

/* Two nodes of 4 GPUs, half of each in use; a gang of two whole nodes waits. */
static struct world *big_gang_waits(struct gang_config config)
{
    struct world *w = with(config);
    world_node(w, "n0", 4);
    world_node(w, "n1", 4);
    running(w, "old0", 2, "n0");
    running(w, "old1", 2, "n1");
    world_group_timeout(w, "big", 2, SECONDS(100000));
    world_members(w, "big", 0, 2, 4);
    assert_string_equal(world_state(w, "big"), "Waiting");
    return w;
}

static void C12_small_work_passes_a_waiting_gang_at_first(void **state)
{
    (void)state;
    struct world *w = big_gang_waits(test_config());
    world_group(w, "small", 2);
    world_members(w, "small", 0, 2, 1);
    assert_string_equal(world_state(w, "small"), "Planned");
    world_pod(w, "single", NULL, 1);
    assert_string_not_equal(world_filter(w, "single"), "");
    world_free(w);
}

static void C12_freed_capacity_is_earmarked_for_a_starved_gang(void **state)
{
    (void)state;
    struct world *w = big_gang_waits(test_config());
    world_wait(w, SECONDS(301));
    world_group(w, "small", 2);
    world_members(w, "small", 0, 2, 1);
    assert_string_equal(world_state(w, "small"), "Waiting");
    assert_string_equal(world_reason(w, "small"),
                        "gang default/small: 2 members needed, room for 0 (the room that small-0 "
                        "needs is kept for gang default/big, which has waited longer)");
    assert_string_equal(world_reason_name(w, "small"), "RoomEarmarked");
    world_pod(w, "single", NULL, 1);
    assert_string_equal(world_filter(w, "single"), "");
    assert_string_equal(w->refusal, "kept for gang default/big, which has waited longer");
    world_pod_gone(w, "old0");
    assert_string_equal(world_state(w, "small"), "Waiting"); /* freed room is earmarked too */
    assert_string_equal(world_filter(w, "single"), "");
    world_pod_gone(w, "old1");
    assert_string_equal(world_state(w, "big"), "Planned");
    world_free(w);
}

static void C12_work_that_cannot_delay_the_starved_gang_passes(void **state)
{
    (void)state;
    struct world *w = big_gang_waits(test_config());
    world_wait(w, SECONDS(301));
    world_node(w, "x", 1); /* too small for the members of big */
    world_group(w, "small", 1);
    world_members(w, "small", 0, 1, 1);
    assert_string_equal(world_state(w, "small"), "Planned");
    assert_int_equal(world_reserved(w, "x", GPU), 1);
    world_pod(w, "cpu", NULL, 0);
    assert_string_equal(world_filter(w, "cpu"), "n0 n1 x"); /* CPU is not short */
    struct gang_pod_facts *f = world_pod_facts("urgent", NULL, 1);
    f->priority = 1000;
    world_pod_set(w, f);
    assert_string_equal(world_filter(w, "urgent"),
                        "n0 n1"); /* a higher priority is ahead of the earmark */
    world_free(w);
}

static void C12_the_earmark_follows_capacity_that_becomes_free_elsewhere(void **state)
{
    (void)state;
    struct world *w = big_gang_waits(test_config());
    world_wait(w, SECONDS(301));
    world_node(w, "m0", 4);
    assert_string_equal(world_state(w, "big"), "Waiting");
    world_pod(w, "single", NULL, 1);
    /* m0 is earmarked, and only one of n0 and n1 is still needed. */
    assert_string_not_equal(world_filter(w, "single"), "");
    assert_null(strstr(w->passed, "m0"));
    world_node(w, "m1", 4);
    assert_string_equal(world_state(w, "big"), "Planned");
    world_free(w);
}

static void C12_pods_blocked_by_the_earmark_are_woken_when_its_gang_is_gone(void **state)
{
    (void)state;
    struct world *w = big_gang_waits(test_config());
    world_wait(w, SECONDS(301));
    world_pod(w, "single", NULL, 1);
    assert_string_equal(world_filter(w, "single"), "");
    world_forget(w);
    world_pod_gone(w, "big-0");
    assert_true(world_nominated(w, "single@n0"));
    world_free(w);
}

static void C12_a_gang_that_can_never_fit_gets_no_earmark(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n0", 4);
    world_group_timeout(w, "big", 2, SECONDS(100000));
    world_members(w, "big", 0, 2, 4); /* there is only one such node */
    world_wait(w, SECONDS(301));
    world_group(w, "small", 2);
    world_members(w, "small", 0, 2, 1);
    assert_string_equal(world_state(w, "small"), "Planned");
    world_free(w);
}

static void C12_the_earmark_outlives_a_backoff(void **state)
{
    (void)state;
    struct world *w = with(test_config());
    world_node(w, "n0", 4);
    running(w, "old", 2, "n0");
    world_group(w, "big", 1); /* the timeout is 60 s, so several attempts fail */
    world_members(w, "big", 0, 1, 4);
    world_wait(w, SECONDS(305));
    assert_string_equal(world_state(w, "big"), "BackedOff");
    world_pod(w, "single", NULL, 1);
    assert_string_equal(world_filter(w, "single"), "");
    world_pod_gone(w, "old");
    assert_string_equal(world_state(w, "big"), "Planned");
    world_free(w);
}

/* Small gangs that fit at once keep coming. The big gang still gets its turn. */
static void S04_C12_a_stream_of_small_gangs_does_not_starve_a_big_one(void **state)
{
    (void)state;
    struct world *w = with(test_config());
    world_node(w, "n0", 4);
    running(w, "s0", 1, "n0");
    world_group(w, "big", 1);
    world_members(w, "big", 0, 1, 4);
    int rounds = 0;
    for (; rounds < 100 && strcmp(world_state(w, "big"), "Planned") != 0; rounds++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", rounds);
        world_group(w, name, 2);
        world_members(w, name, 0, 2, 1);
        world_try_members(w, name, 0, 2);
        world_all_bound(w);
        world_wait(w, SECONDS(10));
        if (rounds >= 1) { /* the previous gang ends: at least two pods run at any time */
            snprintf(name, sizeof name, "t%d-0", rounds - 1);
            world_pod_gone(w, name);
            snprintf(name, sizeof name, "t%d-1", rounds - 1);
            world_pod_gone(w, name);
        }
        if (rounds == 3)
            world_pod_gone(w, "s0");
    }
    assert_in_range(rounds, 28, 34); /* soon after starvationSeconds (300) */
    world_free(w);
}

/* ---- strict order ---- */

static void S04_C12_strict_order_makes_later_gangs_wait(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.strict_order = true;
    struct world *w = big_gang_waits(config);
    world_group(w, "small", 2);
    world_members(w, "small", 0, 2, 1);
    assert_string_equal(world_state(w, "small"), "Waiting");
    assert_string_equal(world_reason(w, "small"),
                        "gang default/small: waits for the gangs ahead of it (strictOrder)");
    assert_string_equal(world_reason_name(w, "small"), "BehindAnotherGang");
    world_pod(w, "single", NULL, 1);
    assert_string_equal(world_filter(w, "single"), "");
    world_pod_gone(w, "old0");
    world_pod_gone(w, "old1");
    assert_string_equal(world_state(w, "big"), "Planned");
    world_free(w);
}

static void S04_strict_order_plans_later_gangs_once_the_first_is_planned(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.strict_order = true;
    struct world *w = big_gang_waits(config);
    world_group(w, "small", 2);
    world_members(w, "small", 0, 2, 1);
    world_filter(w, "small-0");
    world_node(w, "m0", 4);
    world_node(w, "m1", 4);
    assert_string_equal(world_state(w, "big"), "Planned");
    assert_string_equal(world_state(w, "small"), "Planned");
    assert_true(world_nominated(w, "small-0@n0"));
    world_free(w);
}

static void S04_strict_order_does_not_delay_a_higher_priority(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.strict_order = true;
    struct world *w = big_gang_waits(config);
    struct gang_group_facts *f = world_group_facts("urgent", 1);
    f->has_priority = true;
    f->priority = 10;
    world_group_set(w, f);
    world_members(w, "urgent", 0, 1, 1);
    assert_string_equal(world_state(w, "urgent"), "Planned");
    world_free(w);
}

/* ---- attempts ---- */

static void S09_a_timeout_releases_all_slots_and_a_new_attempt_follows(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 2);
    world_group_timeout(w, "g", 2, SECONDS(30));
    world_members(w, "g", 0, 2, 1);
    uint64_t held = world_try(w, "g-0"); /* the other member never comes to bind */
    world_wait(w, SECONDS(31));
    assert_string_equal(world_state(w, "g"), "BackedOff");
    assert_non_null(world_answer(w, held));
    assert_int_equal(world_reserved(w, "n", GPU), 0);
    world_pod(w, "single", NULL, 2);
    assert_string_equal(world_filter(w, "single"), "n");
    assert_true(world_event(w, "PodGroup/g Timeout"));
    world_wait(w, SECONDS(7));
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void backoffs_grow(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "n", 1);
    world_group_timeout(w, "g", 2, SECONDS(10));
    world_members(w, "g", 0, 2, 1);
    usec_t before = 0, began = w->now;
    for (int i = 0; i < 6; i++) {
        while (strcmp(world_state(w, "g"), "BackedOff") != 0)
            world_wait(w, SECONDS(1));
        usec_t at = w->now;
        while (strcmp(world_state(w, "g"), "BackedOff") == 0)
            world_wait(w, SECONDS(1));
        usec_t pause = w->now - at;
        assert_true(pause > before);
        before = pause;
    }
    assert_true(w->now - began < SECONDS(600));
    world_free(w);
}

/* ---- a failed commit ---- */

static void controlled(struct world *w, const char *name, bool yes)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->controlled = yes;
    world_pod_set(w, f);
}

static struct world *commit_fails(bool evict)
{
    struct gang_config config = test_config();
    config.evict_on_failed_commit = evict;
    struct world *w = with(config);
    world_node(w, "n", 4);
    world_group(w, "g", 3);
    controlled(w, "job", true);
    controlled(w, "bare", false);
    controlled(w, "bad", true);
    world_try(w, "job");
    world_try(w, "bare");
    world_try(w, "bad");
    world_result(w, "job", "n", OUTCOME_OK);
    world_result(w, "bad", "n", OUTCOME_REFUSED);
    assert_string_equal(world_state(w, "g"), "Committing"); /* one result is missing */
    world_result(w, "bare", "n", OUTCOME_OK);
    return w;
}

static void C06_a_failed_commit_is_completed(void **state)
{
    (void)state;
    struct world *w = commit_fails(false);
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_int_equal(w->n_evictions, 0);
    assert_int_equal(world_reserved(w, "n", GPU), 1);
    world_try(w, "bad");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void C06_a_failed_commit_may_evict_but_only_pods_with_a_controller(void **state)
{
    (void)state;
    struct world *w = commit_fails(true);
    assert_true(world_evicted(w, "job"));
    assert_false(world_evicted(w, "bare"));
    assert_int_equal(w->n_evictions, 1);
    assert_true(world_event(w, "PodGroup/g Evicted"));
    assert_int_equal(world_used(w, "n", GPU), 2); /* it is charged until it is gone */
    world_pod_gone(w, "job");
    assert_int_equal(world_used(w, "n", GPU), 1);
    assert_string_equal(world_state(w, "g"), "Recovering"); /* the pod "bare" is bound */
    controlled(w, "job2", true);
    world_try(w, "job2");
    world_try(w, "bad");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void C06_muster_gives_up_an_eviction_that_is_refused_for_long(void **state)
{
    (void)state;
    struct world *w = commit_fails(true);
    world_wait(w, SECONDS(301));
    assert_int_equal(w->n_evictions, 1);
    assert_string_equal(world_state(w, "g"), "Recovering");
    world_try(w, "bad");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"),
                        "Scheduled"); /* completed with the member that was not evicted */
    world_free(w);
}

static void C06_a_node_whose_bindings_are_always_refused_is_avoided(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_node(w, "c", 1);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    for (int i = 0; i < 4; i++) {
        world_forget(w);
        world_try_members(w, "g", 0, 2);
        for (size_t b = 0; b < w->n_bindings; b++) {
            cleanup_free char *pod = xstrdup(w->bindings[b]);
            char *node = strchr(pod, '@');
            *node++ = 0;
            world_result(w, pod, node, strcmp(node, "a") ? OUTCOME_OK : OUTCOME_REFUSED);
        }
    }
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

/* ---- later losses ---- */

static struct world *placed_of_three(bool requeue)
{
    struct gang_config config = test_config();
    config.requeue_below_minimum = requeue;
    struct world *w = with(config);
    world_node(w, "n", 4);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 3, 1);
    world_try_members(w, "g", 0, 3);
    world_all_bound(w);
    world_pod_gone(w, "g-0");
    world_pod_gone(w, "g-1");
    return w;
}

static void C07_replacements_are_scheduled_one_by_one(void **state)
{
    (void)state;
    struct world *w = placed_of_three(false);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_pod(w, "g-3", "g", 1);
    world_try(w, "g-3");
    assert_true(world_binding(w, "g-3@n"));
    world_free(w);
}

static void C07_with_requeue_replacements_wait_for_the_minimum(void **state)
{
    (void)state;
    struct world *w = placed_of_three(true);
    assert_string_equal(world_state(w, "g"), "Recovering");
    world_pod(w, "g-3", "g", 1);
    assert_string_equal(world_filter(w, "g-3"), "");
    world_pod(w, "g-4", "g", 1);
    world_forget(w);
    uint64_t a = world_try(w, "g-3");
    assert_null(world_answer(w, a));
    world_try(w, "g-4");
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    assert_false(world_event(w, "PodGroupScheduled")); /* reported only once */
    world_free(w);
}

static void C07_the_match_policy_of_a_podgroup_overrides_the_setting(void **state)
{
    (void)state;
    struct world *w = placed_of_three(true);
    struct gang_group_facts *f = world_group_facts("g", 3);
    f->match = MATCH_ONCE;
    world_group_set(w, f);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

/* ---- pinned members ---- */

static void with_volume(struct world *w, const char *name)
{
    struct gang_pod_facts *f = world_pod_facts(name, "g", 1);
    f->has_pvc = true;
    world_pod_set(w, f);
}

static void C09_a_member_with_prepared_volumes_stays_on_its_node(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_node(w, "b", 1);
    world_node(w, "c", 1);
    world_group_timeout(w, "g", 2, SECONDS(30));
    with_volume(w, "g-0");
    world_pod(w, "g-1", "g", 1);
    assert_string_equal(world_filter_on(w, "g-0", "b", NULL), "b");
    world_bind(w, "g-0", "b");  /* PreBind has prepared its volumes */
    world_wait(w, SECONDS(21)); /* the other member does not come: the hold is over */
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_string_equal(world_filter(w, "g-0"), "b");
    running(w, "other", 1, "b");
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_non_null(strstr(world_reason(w, "g"),
                           "the volumes or claims of g-0 are prepared for node b, which cannot "
                           "take the pod now"));
    world_node_gone(w, "b"); /* the node is gone, and so is the pin */
    world_pod_gone(w, "other");
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(C12_the_gang_of_the_higher_priority_class_is_planned_first),
        cmocka_unit_test(C12_a_changed_priority_class_changes_the_order),
        cmocka_unit_test(C12_small_work_passes_a_waiting_gang_at_first),
        cmocka_unit_test(C12_freed_capacity_is_earmarked_for_a_starved_gang),
        cmocka_unit_test(C12_work_that_cannot_delay_the_starved_gang_passes),
        cmocka_unit_test(C12_the_earmark_follows_capacity_that_becomes_free_elsewhere),
        cmocka_unit_test(C12_pods_blocked_by_the_earmark_are_woken_when_its_gang_is_gone),
        cmocka_unit_test(C12_a_gang_that_can_never_fit_gets_no_earmark),
        cmocka_unit_test(C12_the_earmark_outlives_a_backoff),
        cmocka_unit_test(S04_C12_a_stream_of_small_gangs_does_not_starve_a_big_one),
        cmocka_unit_test(S04_C12_strict_order_makes_later_gangs_wait),
        cmocka_unit_test(S04_strict_order_plans_later_gangs_once_the_first_is_planned),
        cmocka_unit_test(S04_strict_order_does_not_delay_a_higher_priority),
        cmocka_unit_test(S09_a_timeout_releases_all_slots_and_a_new_attempt_follows),
        cmocka_unit_test(backoffs_grow),
        cmocka_unit_test(C06_a_failed_commit_is_completed),
        cmocka_unit_test(C06_a_failed_commit_may_evict_but_only_pods_with_a_controller),
        cmocka_unit_test(C06_muster_gives_up_an_eviction_that_is_refused_for_long),
        cmocka_unit_test(C06_a_node_whose_bindings_are_always_refused_is_avoided),
        cmocka_unit_test(C07_replacements_are_scheduled_one_by_one),
        cmocka_unit_test(C07_with_requeue_replacements_wait_for_the_minimum),
        cmocka_unit_test(C07_the_match_policy_of_a_podgroup_overrides_the_setting),
        cmocka_unit_test(C09_a_member_with_prepared_volumes_stays_on_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
