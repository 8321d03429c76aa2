/* SPDX-License-Identifier: Apache-2.0 */
/* Members that kube-scheduler refuses before it calls an extender: because of a missing claim,
 * podAffinity that matches nothing, or a PreEnqueue plugin. */
#include "base/hash.h"
#include "test/lib/world.h"

#define GPU     "nvidia.com/gpu"
#define MISSING "0/1 nodes are available: persistentvolumeclaim \"data\" not found."
#define YEAR    SECONDS(365 * 24 * 3600)

/* The pod with what kube-scheduler wrote to it: a message and a nomination; either may be NULL. */
static void set_pod_message(struct world *w, const char *name, const char *group, const char *words,
                            const char *nominated)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    f->unschedulable = words != NULL;
    f->said = words ? hash_text(HASH_START, words) : 0;
    f->said_alone = words && !strstr(words, "gang ");
    f->nominated = xstrdup_null(nominated);
    world_pod_set(w, f);
}

/* One node with room for two members. bad-0 and bad-1 are planned there, and their attempt lasts
 * for a year; good-0 and good-1 came later. */
static struct world *bad_and_good(void)
{
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group_timeout(w, "bad", 2, YEAR);
    world_members(w, "bad", 0, 2, 1);
    world_wait(w, SECONDS(1));
    world_group_timeout(w, "good", 2, YEAR);
    world_members(w, "good", 0, 2, 1);
    assert_string_equal(world_state(w, "bad"), "Planned");
    assert_string_equal(world_state(w, "good"), "Waiting");
    return w;
}

static void filter_good(struct world *w)
{
    assert_string_equal(world_filter(w, "good-0"), "");
    assert_string_equal(world_filter(w, "good-1"), "");
}

static void good_is_placed(struct world *w)
{
    assert_string_equal(world_state(w, "good"), "Planned");
    world_try_members(w, "good", 0, 2);
    assert_string_equal(world_state(w, "good"), "Committing");
}

/* A PreEnqueue plugin writes nothing to the pod, and neither does a repeated refusal. */
static void T03_a_plan_ends_when_kube_scheduler_passes_its_members_over(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    filter_good(w);
    world_wait(w, SECONDS(55));
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_wait(w, SECONDS(5));
    assert_string_equal(world_state(w, "bad"), "Assembling");
    assert_string_equal(
        world_reason(w, "bad"),
        "gang default/bad: kube-scheduler refuses 2 of 2 members without calling muster, for "
        "example bad-1; see its condition PodScheduled, and check its claims and podAffinity");
    assert_string_equal(world_reason_name(w, "bad"), "MemberRejectedEarly");
    good_is_placed(w);
    world_free(w);
}

/* kube-scheduler calls filter for no pod, so it may be down. */
static void T03_a_plan_outlives_a_kube_scheduler_that_is_down(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    world_wait(w, SECONDS(3600) - SECONDS(60));
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_free(w);
}

/* Thousands of pods are ahead of the members in the queue: kube-scheduler calls filter all the
 * time, but for no pod behind them. */
static void T03_a_plan_outlives_a_deep_backlog(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group_timeout(w, "old", 3, YEAR);
    world_members(w, "old", 0, 3, 1);
    world_wait(w, SECONDS(1));
    world_group_timeout(w, "bad", 2, YEAR);
    world_members(w, "bad", 0, 2, 1);
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_pod_shaped(w, "urgent", NULL, 0, 100, 1000);
    for (int i = 0; i < 100; i++) {
        struct gang_pod_facts *f = world_pod_facts("first", NULL, 1);
        f->priority = 1000; /* always ahead of the members in the queue */
        world_filter_facts(w, f, "a");
        if (i < 2)
            world_filter(w, i ? "old-1" : "old-0"); /* older than the members */
        world_wait(w, SECONDS(3));
    }
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_free(w);
}

/* kube-scheduler calls filter for its siblings and brings them to bind, but never for this member.
 */
static void T03_one_early_rejected_member_ends_the_plan(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    for (int i = 0; i < 3; i++) {
        world_try(w, "bad-0");
        world_wait(w,
                   SECONDS(20)); /* the hold is over, and kube-scheduler tries the member again */
    }
    assert_string_equal(world_state(w, "bad"), "Assembling");
    good_is_placed(w);
    world_free(w);
}

/* The message is new, so kube-scheduler has tried the pod. muster then waits only for one hold. */
static void T03_a_new_message_without_a_filter_call_is_evidence(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    set_pod_message(w, "bad-0", "bad", MISSING, NULL);
    world_wait(w, SECONDS(15));
    assert_string_equal(world_state(w, "bad"),
                        "Planned"); /* the message may be older than the plan */
    world_wait(w, SECONDS(5));
    assert_string_equal(world_state(w, "bad"), "Assembling");
    good_is_placed(w);
    world_free(w);
}

/* A message that kube-scheduler writes after a filter call is the result of this call. */
static void T03_a_message_after_a_filter_call_is_not_evidence(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    assert_string_equal(world_filter(w, "bad-0"), "a");
    set_pod_message(w, "bad-0", "bad", "0/1 nodes are available: 1 Insufficient cpu.", NULL);
    world_wait(w, SECONDS(45));
    assert_string_equal(world_state(w, "bad"), "Planned");
    set_pod_message(w, "bad-0", "bad", "0/1 nodes are available: 1 gang default/bad: no room.",
                    NULL);
    world_wait(w, SECONDS(10));
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_free(w);
}

/* kube-scheduler clears muster's nomination. The first time, it may have tried the pod before the
 * plan; the second time, it has not. */
static void T03_a_cleared_nomination_is_evidence(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_group_timeout(w, "bad", 1, YEAR);
    set_pod_message(w, "bad-0", "bad", MISSING, NULL);
    assert_string_equal(world_filter_on(w, "bad-0", "x", NULL), "");
    world_node(w, "a", 1);
    assert_true(world_nominated(w, "bad-0@a"));
    set_pod_message(w, "bad-0", "bad", MISSING, "a");
    world_forget(w);
    set_pod_message(w, "bad-0", "bad", MISSING, NULL);
    assert_string_equal(world_state(w, "bad"), "Planned");
    assert_true(world_nominated(w, "bad-0@a"));
    set_pod_message(w, "bad-0", "bad", MISSING, "a");
    set_pod_message(w, "bad-0", "bad", MISSING, NULL);
    assert_string_equal(world_state(w, "bad"), "Assembling");
    assert_int_equal(world_reserved(w, "a", GPU), 0);
    world_free(w);
}

/* The gang is planned again when kube-scheduler calls filter for the member, or after a pause that
 * doubles each time. */
static void T03_a_filter_call_for_the_member_brings_the_gang_back(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    filter_good(w);
    world_wait(w, SECONDS(60));
    assert_string_equal(world_state(w, "bad"), "Assembling");
    world_pod_gone(w, "good-0");
    world_pod_gone(w, "good-1");
    assert_string_equal(world_state(w, "bad"), "Assembling"); /* although there is room */
    assert_string_equal(world_filter(w, "bad-0"), "");
    assert_string_equal(world_filter(w, "bad-1"), "a"); /* its claim exists now */
    world_bind(w, "bad-1", "a");
    world_try(w, "bad-0");
    assert_string_equal(world_state(w, "bad"), "Committing");
    world_free(w);
}

static void T03_the_pauses_between_plans_double(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    usec_t paused[3];
    for (int i = 0; i < 3; i++) {
        while (strcmp(world_state(w, "bad"), "Planned") == 0) {
            filter_good(w);
            world_wait(w, SECONDS(1));
        }
        assert_non_null(strstr(world_reason(w, "bad"), "without calling muster"));
        world_pod_gone(w, "good-0"); /* the room is free */
        paused[i] = w->now;
        while (strcmp(world_state(w, "bad"), "Planned") != 0)
            world_wait(w, SECONDS(1));
        paused[i] = w->now - paused[i];
        world_pod(w, "good-0", "good", 1);
        set_pod_message(w, "bad-0", "bad", NULL, "a"); /* the nominations that wake them */
        set_pod_message(w, "bad-1", "bad", NULL, "a");
    }
    assert_true(paused[1] > paused[0] && paused[2] > paused[1]);
    assert_true(paused[2] > SECONDS(15));
    world_free(w);
}

/* The gang is placed without the extra. */
static void T03_an_early_rejected_extra_does_not_stop_its_gang(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group_timeout(w, "g", 2, YEAR);
    world_members(w, "g", 0, 3, 1);
    assert_int_equal(world_reserved(w, "a", GPU), 3);
    set_pod_message(w, "g-0", "g", MISSING, NULL);
    world_wait(w, SECONDS(22));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    world_try_members(w, "g", 1, 3);
    assert_string_equal(world_state(w, "g"), "Committing");
    world_free(w);
}

/* A pod with muster's gate is in no queue, so it cannot be passed over. */
static void T03_a_gated_member_is_not_rejected_early(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.gates = true;
    struct world *w = world_new_with(config, true);
    world_node(w, "a", 1);
    world_group_timeout(w, "g", 1, YEAR);
    struct gang_pod_facts *f = world_pod_facts("g-0", "g", 1);
    f->gated = true;
    world_pod_set(w, f);
    assert_string_equal(world_state(w, "g"),
                        "Planned"); /* and the write that lifts the gate is slow */
    world_pod(w, "p", NULL, 0);
    for (int i = 0; i < 100; i++) {
        world_filter(w, "p");
        world_wait(w, SECONDS(1));
    }
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* Users choose the timeout freely. */
static void T03_the_timeout_of_a_podgroup_is_capped(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    world_wait(w, SECONDS(3590));
    assert_string_equal(world_state(w, "bad"), "Planned");
    while (strcmp(world_state(w, "bad"), "Planned") == 0)
        world_wait(w, SECONDS(1));
    assert_string_equal(world_state(w, "bad"), "BackedOff");
    good_is_placed(w);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T03_a_plan_ends_when_kube_scheduler_passes_its_members_over),
        cmocka_unit_test(T03_a_plan_outlives_a_kube_scheduler_that_is_down),
        cmocka_unit_test(T03_a_plan_outlives_a_deep_backlog),
        cmocka_unit_test(T03_one_early_rejected_member_ends_the_plan),
        cmocka_unit_test(T03_a_new_message_without_a_filter_call_is_evidence),
        cmocka_unit_test(T03_a_message_after_a_filter_call_is_not_evidence),
        cmocka_unit_test(T03_a_cleared_nomination_is_evidence),
        cmocka_unit_test(T03_a_filter_call_for_the_member_brings_the_gang_back),
        cmocka_unit_test(T03_the_pauses_between_plans_double),
        cmocka_unit_test(T03_an_early_rejected_extra_does_not_stop_its_gang),
        cmocka_unit_test(T03_a_gated_member_is_not_rejected_early),
        cmocka_unit_test(T03_the_timeout_of_a_podgroup_is_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
