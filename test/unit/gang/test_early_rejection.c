/* SPDX-License-Identifier: Apache-2.0 */
/* Members that kube-scheduler refuses before it asks an extender: a claim that is missing,
 * podAffinity that matches nothing, a PreEnqueue plugin. */
#include "base/hash.h"
#include "test/lib/world.h"

#define GPU     "nvidia.com/gpu"
#define MISSING "0/1 nodes are available: persistentvolumeclaim \"data\" not found."
#define YEAR    SECONDS(365 * 24 * 3600)

/* The pod as kube-scheduler has written on it; either may be NULL. */
static void pod_set_facts(struct world *w, const char *name, const char *group, const char *words,
                          const char *nominated)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 1);
    f->unschedulable = words != NULL;
    f->said = words ? hash_text(HASH_START, words) : 0;
    f->said_alone = words && !strstr(words, "gang ");
    f->nominated = xstrdup_null(nominated);
    world_pod_set(w, f);
}

/* One node of two places. bad-0 and bad-1 are planned there, and wait for a year; good-0 and good-1
 * came after them. */
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

static void ask_good(struct world *w)
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

/* A PreEnqueue plugin writes nothing, and an unchanged refusal is not written. */
static void T03_a_plan_whose_turn_has_passed_ends(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    ask_good(w);
    world_wait(w, SECONDS(55));
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_wait(w, SECONDS(5));
    assert_string_equal(world_state(w, "bad"), "Assembling");
    assert_string_equal(
        world_reason(w, "bad"),
        "gang default/bad: kube-scheduler refuses 2 of 2 members before it asks muster, such as "
        "bad-1: see its condition PodScheduled, and its claims and podAffinity");
    assert_string_equal(world_reason_name(w, "bad"), "MemberRejectedEarly");
    good_is_placed(w);
    world_free(w);
}

/* Nobody is asked about: kube-scheduler may be down. */
static void T03_a_scheduler_that_is_down_ends_no_plan(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    world_wait(w, SECONDS(3600) - SECONDS(60));
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_free(w);
}

/* Thousands stand before the members in the queue: kube-scheduler asks all the time, and about
 * nobody behind them. */
static void T03_a_deep_backlog_ends_no_plan(void **state)
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
        f->priority = 1000; /* goes before them whenever it comes */
        world_filter_facts(w, f, "a");
        if (i < 2)
            world_filter(w, i ? "old-1" : "old-0"); /* older than they are */
        world_wait(w, SECONDS(3));
    }
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_free(w);
}

/* Its siblings are asked about, and come to bind: it alone is passed over. */
static void T03_one_early_rejected_member_ends_the_plan(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    for (int i = 0; i < 3; i++) {
        world_try(w, "bad-0");
        world_wait(w, SECONDS(20)); /* the hold is over, it comes again */
    }
    assert_string_equal(world_state(w, "bad"), "Assembling");
    good_is_placed(w);
    world_free(w);
}

/* The words are new: kube-scheduler has tried it. One hold is enough then. */
static void T03_words_without_a_question_are_evidence(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    pod_set_facts(w, "bad-0", "bad", MISSING, NULL);
    world_wait(w, SECONDS(15));
    assert_string_equal(world_state(w, "bad"), "Planned"); /* it may be older than the plan */
    world_wait(w, SECONDS(5));
    assert_string_equal(world_state(w, "bad"), "Assembling");
    good_is_placed(w);
    world_free(w);
}

/* What it says after muster was asked came of that. */
static void T03_words_that_follow_a_question_are_none(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    assert_string_equal(world_filter(w, "bad-0"), "a");
    pod_set_facts(w, "bad-0", "bad", "0/1 nodes are available: 1 Insufficient cpu.", NULL);
    world_wait(w, SECONDS(45));
    assert_string_equal(world_state(w, "bad"), "Planned");
    pod_set_facts(w, "bad-0", "bad", "0/1 nodes are available: 1 gang default/bad: no room.", NULL);
    world_wait(w, SECONDS(10));
    assert_string_equal(world_state(w, "bad"), "Planned");
    world_free(w);
}

/* A nomination of muster's is cleared: once may be older than the plan, twice is not. */
static void T03_a_cleared_nomination_is_evidence(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_group_timeout(w, "bad", 1, YEAR);
    pod_set_facts(w, "bad-0", "bad", MISSING, NULL);
    assert_string_equal(world_filter_on(w, "bad-0", "x", NULL), "");
    world_node(w, "a", 1);
    assert_true(world_nominated(w, "bad-0@a"));
    pod_set_facts(w, "bad-0", "bad", MISSING, "a");
    world_forget(w);
    pod_set_facts(w, "bad-0", "bad", MISSING, NULL);
    assert_string_equal(world_state(w, "bad"), "Planned");
    assert_true(world_nominated(w, "bad-0@a"));
    pod_set_facts(w, "bad-0", "bad", MISSING, "a");
    pod_set_facts(w, "bad-0", "bad", MISSING, NULL);
    assert_string_equal(world_state(w, "bad"), "Assembling");
    assert_int_equal(world_reserved(w, "a", GPU), 0);
    world_free(w);
}

/* It comes again when kube-scheduler asks about the member, or after pauses that double. */
static void T03_the_gang_returns(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    ask_good(w);
    world_wait(w, SECONDS(60));
    assert_string_equal(world_state(w, "bad"), "Assembling");
    world_pod_gone(w, "good-0");
    world_pod_gone(w, "good-1");
    assert_string_equal(world_state(w, "bad"), "Assembling"); /* whatever room there is */
    assert_string_equal(world_filter(w, "bad-0"), "");
    assert_string_equal(world_filter(w, "bad-1"), "a"); /* its claim exists by now */
    world_bind(w, "bad-1", "a");
    world_try(w, "bad-0");
    assert_string_equal(world_state(w, "bad"), "Committing");
    world_free(w);
}

static void T03_its_pauses_double(void **state)
{
    (void)state;
    struct world *w = bad_and_good();
    usec_t paused[3];
    for (int i = 0; i < 3; i++) {
        while (strcmp(world_state(w, "bad"), "Planned") == 0) {
            ask_good(w);
            world_wait(w, SECONDS(1));
        }
        assert_non_null(strstr(world_reason(w, "bad"), "before it asks muster"));
        world_pod_gone(w, "good-0"); /* the room is free */
        paused[i] = w->now;
        while (strcmp(world_state(w, "bad"), "Planned") != 0)
            world_wait(w, SECONDS(1));
        paused[i] = w->now - paused[i];
        world_pod(w, "good-0", "good", 1);
        pod_set_facts(w, "bad-0", "bad", NULL, "a"); /* the nominations that were to wake them */
        pod_set_facts(w, "bad-1", "bad", NULL, "a");
    }
    assert_true(paused[1] > paused[0] && paused[2] > paused[1]);
    assert_true(paused[2] > SECONDS(15));
    world_free(w);
}

/* One more than needed: the gang is placed without it. */
static void T03_an_early_rejected_extra_keeps_nobody(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group_timeout(w, "g", 2, YEAR);
    world_members(w, "g", 0, 3, 1);
    assert_int_equal(world_reserved(w, "a", GPU), 3);
    pod_set_facts(w, "g-0", "g", MISSING, NULL);
    world_wait(w, SECONDS(22));
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "a", GPU), 2);
    world_try_members(w, "g", 1, 3);
    assert_string_equal(world_state(w, "g"), "Committing");
    world_free(w);
}

/* Behind muster's own gate it is in no queue: its turn cannot pass. */
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
    assert_string_equal(world_state(w, "g"), "Planned"); /* and its lifting is slow */
    world_pod(w, "p", NULL, 0);
    for (int i = 0; i < 100; i++) {
        world_filter(w, "p");
        world_wait(w, SECONDS(1));
    }
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* A tenant may write any timeout. */
static void T03_a_groups_timeout_has_a_cap(void **state)
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
        cmocka_unit_test(T03_a_plan_whose_turn_has_passed_ends),
        cmocka_unit_test(T03_a_scheduler_that_is_down_ends_no_plan),
        cmocka_unit_test(T03_a_deep_backlog_ends_no_plan),
        cmocka_unit_test(T03_one_early_rejected_member_ends_the_plan),
        cmocka_unit_test(T03_words_without_a_question_are_evidence),
        cmocka_unit_test(T03_words_that_follow_a_question_are_none),
        cmocka_unit_test(T03_a_cleared_nomination_is_evidence),
        cmocka_unit_test(T03_the_gang_returns),
        cmocka_unit_test(T03_its_pauses_double),
        cmocka_unit_test(T03_an_early_rejected_extra_keeps_nobody),
        cmocka_unit_test(T03_a_gated_member_is_not_rejected_early),
        cmocka_unit_test(T03_a_groups_timeout_has_a_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
