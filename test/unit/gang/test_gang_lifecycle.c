/* SPDX-License-Identifier: Apache-2.0 */
/* The life of gangs, in simulated time. */
#include "test/lib/world.h"

/* Filter and bind for one member, as kube-scheduler calls them; the id of the bind call, or 0 if
 * filter gave no node. */
static uint64_t try_member(struct world *w, const char *group, int i)
{
    cleanup_free char *name = xasprintf("%s-%d", group, i);
    return world_try(w, name);
}

static void S01_with_room_for_six_of_eight_none_starts_then_all_start_together(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_node(w, "b", 2);
    world_group_timeout(w, "g", 8, SECONDS(600));
    world_members(w, "g", 0, 8, 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"), "gang default/g: 8 members needed, room for 6 (2 "
                                              "short of nvidia.com/gpu)");
    for (int i = 0; i < 8; i++) {
        assert_int_equal(try_member(w, "g", i), 0);
        assert_string_equal(w->refusal, world_reason(w, "g"));
    }
    /* Nothing is reserved: an ordinary pod may take the free room. */
    world_pod(w, "small", NULL, 2);
    assert_string_equal(world_filter(w, "small"), "a b");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    world_forget(w);

    world_node(w, "c", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(w->n_nominations, 8); /* all were refused: one write wakes each */
    uint64_t ids[8];
    for (int i = 0; i < 8; i++) {
        assert_int_equal(w->n_bindings, 0);
        ids[i] = try_member(w, "g", i);
        assert_true(ids[i] != 0);
    }
    assert_int_equal(w->n_bindings, 8);
    assert_string_equal(world_state(w, "g"), "Committing");
    assert_null(world_answer(w, ids[0]));
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    for (int i = 0; i < 8; i++)
        assert_string_equal(world_answer(w, ids[i]), "");
    assert_true(world_event(w, "PodGroup/g PodGroupScheduled: 8 members needed, 8 bound"));
    world_free(w);
}

static void waiting_members_that_are_never_filtered_get_an_event(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_pod_seen(w, "other", NULL, 1, "a", PHASE_RUNNING);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_true(world_event(w, "PodGroup/g Unschedulable: gang default/g: 2 members needed, room "
                               "for 0 (2 short of nvidia.com/gpu)"));
    assert_false(world_event(w, "Pod/g-0"));
    world_wait(w, SECONDS(3));
    assert_true(world_event(w, "Pod/g-0 Unschedulable: gang default/g: 2 members needed"));
    assert_true(world_event(w, "Pod/g-1"));
    size_t n = w->n_events;
    world_wait(w, SECONDS(20));
    assert_int_equal(w->n_events, n); /* only once */
    world_free(w);
}

static void members_wait_for_a_missing_podgroup_and_for_each_other(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 8);
    world_members(w, "g", 0, 2, 1);
    assert_int_equal(try_member(w, "g", 0), 0);
    assert_string_equal(w->refusal, "PodGroup default/g (test) does not exist");
    world_wait(w, SECONDS(31)); /* a new text on a pod may take this long */
    world_group(w, "g", 3);
    assert_int_equal(try_member(w, "g", 0), 0);
    assert_string_equal(w->refusal, "gang default/g: 2 of 3 members exist");
    world_members(w, "g", 2, 3, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_true(world_nominated(w, "g-0@a"));
    assert_false(world_nominated(w, "g-1@a")); /* not tried yet: it is in kube-scheduler's queue */
    world_free(w);
}

static void a_gang_that_fits_is_planned_before_any_filter_call(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_pod(w, "early", NULL, 1);
    assert_string_equal(world_filter(w, "early"), "a");
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 4);
    assert_int_equal(w->n_nominations, 0);
    /* Other pods do not get reserved room. */
    world_pod(w, "o", NULL, 1);
    assert_string_equal(world_filter(w, "o"), "");
    assert_string_equal(w->refusal, "reserved for gang default/g");
    uint64_t id = world_bind(w, "early", "a");
    assert_string_equal(world_answer(w, id),
                        "node a has no room for this pod: other pods and reservations use the "
                        "node");
    /* A pod that requests no GPU passes. */
    world_pod(w, "cpu", NULL, 0);
    assert_string_equal(world_filter(w, "cpu"), "a");
    world_free(w);
}

static void C02_a_blocked_ordinary_pod_is_woken_when_the_reservation_ends(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 4);
    world_members(w, "g", 0, 4, 1);
    world_pod(w, "o", NULL, 2);
    assert_string_equal(world_filter(w, "o"), "");
    world_pod_gone(w, "g-3");
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    assert_true(world_nominated(w, "o@a"));
    assert_string_equal(world_filter(w, "o"), "a");
    uint64_t id = world_bind(w, "o", "a");
    world_result(w, "o", "a", OUTCOME_OK);
    assert_string_equal(world_answer(w, id), "");
    world_free(w);
}

static void C03_a_hold_ends_before_its_limit_and_the_plan_stays(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group_timeout(w, "g", 3, SECONDS(600));
    world_members(w, "g", 0, 3, 1);
    uint64_t first = try_member(w, "g", 0);
    world_wait(w, SECONDS(15));
    uint64_t second = try_member(w, "g", 1);
    world_wait(w, SECONDS(4));
    assert_null(world_answer(w, first));
    world_wait(w, SECONDS(1));
    /* Both together, at the limit of the oldest. */
    const char *text = "gang default/g: 2 of 3 members at bind after 20 s; the plan is kept; "
                       "awaited: g-2 (scheduler default-scheduler)";
    assert_string_equal(world_answer(w, first), text);
    assert_string_equal(world_answer(w, second), text);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 3);
    for (int i = 0; i < 3; i++)
        assert_true(try_member(w, "g", i) != 0);
    assert_int_equal(w->n_bindings, 3);
    world_free(w);
}

static void a_dead_or_superseded_hold_does_not_count(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    uint64_t dead = try_member(w, "g", 0);
    world_close(w, dead);
    assert_non_null(world_answer(w, dead));
    uint64_t live = try_member(w, "g", 1);
    assert_int_equal(w->n_bindings, 0);
    uint64_t again = world_bind(w, "g-1", "a");
    assert_non_null(world_answer(w, live)); /* the newer call replaces it */
    assert_null(world_answer(w, again));
    try_member(w, "g", 0);
    assert_int_equal(w->n_bindings, 2);
    world_free(w);
}

static void an_attempt_that_times_out_releases_its_slots_and_backs_off(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group_timeout(w, "g", 2, SECONDS(10));
    world_members(w, "g", 0, 2, 1);
    uint64_t held = try_member(w, "g", 0);
    world_wait(w, SECONDS(10));
    assert_string_equal(world_state(w, "g"), "BackedOff");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    const char *text = "gang default/g: 1 of 2 members at bind; awaited: g-1 (scheduler "
                       "default-scheduler); not placed within 10 s";
    assert_string_equal(world_answer(w, held), text);
    assert_true(world_event(w, "PodGroup/g Timeout: gang default/g: 1 of 2 members at bind"));
    world_wait(w, SECONDS(7)); /* 5 s, ± 20 % */
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void a_waiting_gang_times_out_and_a_capacity_change_ends_the_backoff(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 1);
    world_group_timeout(w, "g", 2, SECONDS(10));
    world_members(w, "g", 0, 2, 1);
    world_wait(w, SECONDS(10));
    assert_string_equal(world_state(w, "g"), "BackedOff");
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 2 members needed, room for 1 (1 short of nvidia.com/gpu); "
                        "not placed within 10 s");
    world_node(w, "b", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void the_room_in_a_reason_is_updated_later(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 6);
    world_group_timeout(w, "g", 8, SECONDS(6000));
    world_members(w, "g", 0, 8, 1);
    assert_non_null(strstr(world_reason(w, "g"), "room for 6 (2 short"));
    world_pod_seen(w, "notebook", NULL, 2, "a", PHASE_RUNNING);
    world_wait(w, SECONDS(30));
    assert_non_null(strstr(world_reason(w, "g"), "room for 4 (4 short"));
    world_free(w);
}

static void C05_a_lost_node_moves_the_plan_or_drops_it_completely(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    uint64_t held = try_member(w, "g", 0);
    const char *first = world_reserved(w, "a", "nvidia.com/gpu") ? "a" : "b";
    const char *other = first[0] == 'a' ? "b" : "a";
    world_node_gone(w, first);
    assert_non_null(
        world_answer(w, held)); /* kube-scheduler must try it again, on the other node */
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, other, "nvidia.com/gpu"), 2);
    held = try_member(w, "g", 0);
    world_node_gone(w, other);
    assert_non_null(world_answer(w, held));
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_free(w);
}

/* Regression: the answer "" would mean that the pod is bound. */
static void a_bind_call_without_a_plan_is_refused_with_a_reason(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_filter(w, "g-0"), "a");
    /* In one batch: kube-scheduler refuses the only node for g-1, and g-0 comes to bind. */
    const char *names[] = {"elsewhere"};
    struct gang_event both[2] = {
        {.kind = GANG_EV_FILTER,
         .id = 998,
         .pod = world_pod_facts("g-1", "g", 1),
         .names = names,
         .n_names = 1},
        {.kind = GANG_EV_BIND,
         .id = 999,
         .bind = {xstrdup("default"), xstrdup("g-0"), xstrdup("uid-g-0"), xstrdup("a")}}};
    w->calls = xcalloc(1, sizeof *w->calls);
    w->cap_calls = w->n_calls = 1;
    w->calls[0] = (struct world_call){999, xstrdup("g-0"), false, NULL};
    world_step(w, both, 2);
    assert_string_equal(world_answer(w, 999), "gang default/g is not planned yet");
    world_free(w);
}

static void C05_a_cordoned_or_smaller_node_or_a_deleted_podgroup_drops_the_plan(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    struct gang_node_facts *cordoned = world_gpu_node("a", 2);
    cordoned->unschedulable = true;
    world_node_facts(w, cordoned);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"), "gang default/g: 2 members needed, room for 0 (no "
                                              "node matches the node selector, affinity and "
                                              "tolerations of g-0)");
    world_node(w, "a", 2);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_node(w, "a", 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    world_node(w, "a", 2);
    uint64_t held = try_member(w, "g", 0);
    world_group_gone(w, "g");
    assert_string_equal(world_answer(w, held), "PodGroup default/g (test) does not exist");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    world_free(w);
}

static void C06_a_gang_with_a_refused_binding_is_completed(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    uint64_t ok = try_member(w, "g", 0), bad = try_member(w, "g", 1);
    world_result(w, "g-0", "a", OUTCOME_OK);
    world_result(w, "g-1", "a", OUTCOME_REFUSED);
    assert_string_equal(world_answer(w, ok), "");
    assert_true(world_answer(w, bad)[0] != '\0');
    assert_string_equal(world_state(w, "g"), "Recovering");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 1);
    world_forget(w);
    assert_true(try_member(w, "g", 1) != 0);
    assert_int_equal(w->n_bindings, 1);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void an_unclear_binding_is_read_and_sent_again(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 1);
    world_members(w, "g", 0, 1, 1);
    uint64_t id = try_member(w, "g", 0);
    world_result(w, "g-0", "a", OUTCOME_UNCLEAR);
    assert_int_equal(w->n_reads, 1);
    assert_int_equal(world_used(w, "a", "nvidia.com/gpu"), 1);
    world_read(w, "g-0", NULL, OUTCOME_UNBOUND);
    assert_int_equal(w->n_bindings, 1);
    world_wait(w, SECONDS(1));
    assert_int_equal(w->n_bindings, 2);
    world_result(w, "g-0", "a", OUTCOME_UNCLEAR);
    world_wait(w, SECONDS(20)); /* the call is answered in time, the charge stays */
    assert_true(world_answer(w, id) && world_answer(w, id)[0]);
    assert_int_equal(world_used(w, "a", "nvidia.com/gpu"), 1);
    world_read(w, "g-0", "a", OUTCOME_OK);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    id = world_bind(w, "g-0", "a");
    assert_string_equal(world_answer(w, id), ""); /* muster answers a repeated call with success */
    world_free(w);
}

static void
C04_after_a_restart_a_bound_gang_is_scheduled_and_a_partial_one_is_completed(void **state)
{
    (void)state;
    struct world *w = world_new_with(test_config(), false);
    world_node(w, "a", 4);
    world_group(w, "half", 2);
    world_pod_seen(w, "half-0", "half", 1, "a", PHASE_RUNNING);
    world_pod(w, "half-1", "half", 1);
    world_group(w, "whole", 1);
    world_pod_seen(w, "whole-0", "whole", 1, "a", PHASE_RUNNING);
    assert_string_equal(world_filter(w, "half-1"), "");
    assert_string_equal(w->refusal, "muster has not read the whole cluster yet");
    uint64_t early = world_bind(w, "half-1", "a");
    assert_true(world_answer(w, early)[0] != '\0');
    world_sync(w);
    assert_string_equal(world_state(w, "half"), "Recovering");
    assert_string_equal(world_state(w, "whole"), "Scheduled");
    assert_string_equal(world_filter(w, "half-1"), "a");
    uint64_t id = world_bind(w, "half-1", "a");
    world_all_bound(w);
    assert_string_equal(world_answer(w, id), "");
    assert_string_equal(world_state(w, "half"), "Scheduled");
    world_free(w);
}

static void C07_a_replacement_needs_no_new_quorum(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    try_member(w, "g", 0);
    try_member(w, "g", 1);
    world_all_bound(w);
    world_pod_gone(w, "g-1");
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_members(w, "g", 2, 3, 1);
    uint64_t id = try_member(w, "g", 2);
    world_result(w, "g-2", "a", OUTCOME_OK);
    assert_string_equal(world_answer(w, id), "");
    world_free(w);
}

static void extras_join_the_plan_but_the_commit_does_not_wait_for_them(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 4, 1);
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 4);
    try_member(w, "g", 3);
    try_member(w, "g", 1);
    assert_int_equal(w->n_bindings, 2);
    try_member(w, "g", 0);
    assert_int_equal(w->n_bindings, 3);
    world_all_bound(w);
    assert_string_equal(world_state(w, "g"), "Scheduled");
    /* The fourth member never comes to bind, so its slot is released. */
    world_wait(w, SECONDS(21));
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    world_free(w);
}

static void gated_members_and_members_of_another_scheduler_are_named(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    const char *ours[] = {"default-scheduler"};
    config.scheduler_names = ours;
    config.n_scheduler_names = 1;
    struct world *w = world_new_with(config, true);
    world_node(w, "a", 4);
    world_group(w, "g", 2);
    world_pod(w, "g-0", "g", 1);
    struct gang_pod_facts *gated = world_pod_facts("g-1", "g", 1);
    gated->gates = xcalloc(1, sizeof *gated->gates);
    gated->gates[0] = xstrdup("kueue.x-k8s.io/admission");
    gated->n_gates = 1;
    world_pod_set(w, gated);
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 1 of 2 members are gated by kueue.x-k8s.io/admission");
    struct gang_pod_facts *foreign = world_pod_facts("g-1", "g", 1);
    free(foreign->scheduler);
    foreign->scheduler = xstrdup("volcano");
    world_pod_set(w, foreign);
    assert_string_equal(world_reason(w, "g"),
                        "gang default/g: 1 of 2 members have spec.schedulerName volcano, which "
                        "muster does not serve (schedulerNames)");
    world_pod(w, "g-1", "g", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

/* The reply is about the gang, and must not say that the held member is gated. */
static void a_held_member_gets_the_gangs_reason_if_a_needed_member_is_gated(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    struct gang_pod_facts *gated = world_pod_facts("g-2", "g", 1);
    gated->gates = xcalloc(1, sizeof *gated->gates);
    gated->gates[0] = xstrdup("kueue.x-k8s.io/admission");
    gated->n_gates = 1;
    world_pod_set(w, gated);
    uint64_t held = world_try(w, "g-0");
    world_group(w, "g", 3);
    assert_string_equal(world_answer(w, held),
                        "gang default/g: 1 of 3 members are gated by kueue.x-k8s.io/admission");
    world_free(w);
}

static void an_invalid_minimum_is_refused_and_the_field_named(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", -1);
    world_members(w, "g", 0, 1, 1);
    assert_string_equal(world_reason(w, "g"),
                        "PodGroup default/g: spec.minMember is -1; it must be 0 to 1000000");
    world_group(w, "g", 0);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void the_gang_of_higher_priority_is_planned_first(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_pod_seen(w, "busy", NULL, 2, "a", PHASE_RUNNING);
    world_group(w, "low", 2);
    world_members(w, "low", 0, 2, 1);
    world_group(w, "high", 2);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("high-%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, "high", 1);
        f->priority = 100;
        world_pod_set(w, f);
    }
    world_pod_gone(w, "busy");
    assert_string_equal(world_state(w, "high"), "Planned");
    assert_string_equal(world_state(w, "low"), "Waiting");
    world_free(w);
}

static void shutdown_answers_every_held_call(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 3);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 3, 1);
    uint64_t a = try_member(w, "g", 0), b = try_member(w, "g", 1);
    world_stop(w);
    assert_string_equal(world_answer(w, a), "muster is stopping");
    assert_string_equal(world_answer(w, b), "muster is stopping");
    uint64_t c = world_bind(w, "g-2", "a");
    assert_string_equal(world_answer(w, c), "muster is stopping");
    assert_int_equal(w->n_bindings, 0);
    world_free(w);
}

static void two_gangs_interleaved_never_block_each_other(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 4);
    world_group(w, "g", 4);
    world_group(w, "h", 4);
    for (int i = 0; i < 4; i++) {
        world_members(w, "g", i, i + 1, 1);
        world_members(w, "h", i, i + 1, 1);
    }
    int bound = 0;
    for (int i = 0; i < 4; i++) {
        bound += try_member(w, "g", i) != 0;
        bound += try_member(w, "h", i) != 0;
    }
    assert_int_equal(bound, 4); /* all of one gang, none of the other */
    assert_int_equal(w->n_bindings, 4);
    world_free(w);
}

static struct world *expecting_world(void)
{
    return world_new_with(test_config(), true);
}

static void room_for_expected_members_lets_the_first_members_be_held(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    world_node(w, "a", 4);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 1, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 3);
    uint64_t first = try_member(w, "g", 0);
    assert_true(first != 0);
    world_members(w, "g", 1, 3, 1);
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 3);
    assert_null(world_answer(w, first));
    try_member(w, "g", 1);
    assert_int_equal(w->n_bindings, 0);
    try_member(w, "g", 2);
    assert_int_equal(w->n_bindings, 3);
    assert_int_equal(w->n_nominations, 0); /* no member was refused, so none had to be woken */
    world_all_bound(w);
    assert_string_equal(world_answer(w, first), "");
    world_wait(w, SECONDS(5));
    assert_string_equal(world_state(w, "g"), "Scheduled");
    world_free(w);
}

static void S11_expected_members_that_do_not_come_release_all_slots(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    world_node(w, "a", 4);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 2, 1);
    uint64_t held = try_member(w, "g", 0);
    world_wait(w, SECONDS(3));
    assert_string_equal(world_answer(w, held), "gang default/g: 2 of 3 members exist");
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    assert_int_equal(try_member(w, "g", 1), 0);
    assert_string_equal(w->refusal, "gang default/g: 2 of 3 members exist");
    world_members(w, "g", 2, 4, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void P12_missing_members_are_expected_while_others_come(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    world_node(w, "a", 9);
    world_group(w, "g", 5);
    for (int i = 0; i < 4; i++) {
        world_members(w, "g", i, i + 1, 1);
        world_wait(w, SECONDS(2));
        assert_string_equal(world_state(w, "g"), "Planned");
        assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 5);
    }
    world_wait(w, SECONDS(1));
    assert_string_equal(world_state(w, "g"), "Assembling");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    world_free(w);
}

static void missing_members_are_expected_for_at_most_30_seconds(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    world_node(w, "a", 30);
    world_group(w, "g", 30);
    for (int i = 0; i < 14; i++) {
        world_members(w, "g", i, i + 1, 1);
        world_wait(w, SECONDS(2));
    }
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 30);
    world_members(w, "g", 14, 15, 1);
    world_wait(w, SECONDS(2)); /* 30 s after the first member */
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    world_free(w);
}

/* As kube-scheduler does: tries each refused member again. Each call is answered within the hold.
 */
static void come_to_bind(struct world *w, int n, uint64_t *calls, usec_t *since)
{
    for (int i = 0; i < n; i++) {
        const char *answer = calls[i] ? world_answer(w, calls[i]) : "none yet";
        if (calls[i] && !answer)
            assert_true(w->now - since[i] < SECONDS(20));
        if (!answer || !answer[0])
            continue;
        calls[i] = try_member(w, "g", i);
        since[i] = w->now;
    }
}

/* muster may expect members for longer than a hold. No call is lost, and the answers say how many
 * members are missing. */
static void C03_members_that_come_slower_than_a_hold_lasts_are_bound_with_the_last_one(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    uint64_t calls[12] = {0}, first = 0;
    usec_t since[12] = {0};
    world_node(w, "a", 12);
    world_group(w, "g", 12);
    for (int i = 0; i < 12; i++) {
        world_members(w, "g", i, i + 1, 1);
        for (int halves = 0; halves < 5; halves++) { /* half seconds */
            come_to_bind(w, i + 1, calls, since);
            first = first ? first : calls[0];
            if (i < 11)
                world_wait(w, USEC_PER_SEC / 2);
        }
        assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), i < 11 ? 12 : 0);
    }
    assert_string_equal(world_answer(w, first),
                        "gang default/g: 8 of 12 members at bind after 20 s; the plan is kept; "
                        "4 members do not exist yet");
    assert_int_equal(w->n_bindings, 12);
    world_all_bound(w);
    for (int i = 0; i < 12; i++)
        assert_string_equal(world_answer(w, calls[i]), "");
    world_free(w);
}

static void members_are_not_expected_after_one_with_other_requests_comes(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    world_node(w, "a", 8);
    world_group(w, "g", 4);
    world_members(w, "g", 0, 2, 1);
    uint64_t held = try_member(w, "g", 0);
    world_pod(w, "g-launcher", "g", 0);
    assert_string_equal(world_answer(w, held), "gang default/g: 3 of 4 members exist");
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 0);
    world_members(w, "g", 2, 3, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void an_assembling_gang_without_room_reports_the_shortage_with_its_first_member(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    world_node(w, "a", 2);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 1, 1);
    assert_string_equal(world_state(w, "g"), "Assembling");
    const char *text = "gang default/g: 3 members needed, room for 2 (1 short of nvidia.com/gpu)";
    assert_int_equal(try_member(w, "g", 0), 0);
    assert_string_equal(w->refusal, text);
    world_members(w, "g", 1, 3, 1);
    assert_string_equal(world_state(w, "g"), "Waiting");
    assert_string_equal(world_reason(w, "g"), text);
    world_node(w, "b", 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    world_free(w);
}

static void a_lost_node_moves_expected_slots_too(void **state)
{
    (void)state;
    struct world *w = expecting_world();
    world_node(w, "a", 3);
    world_node(w, "b", 4);
    world_group(w, "g", 3);
    world_members(w, "g", 0, 1, 1);
    assert_int_equal(world_reserved(w, "a", "nvidia.com/gpu"), 3);
    world_node_gone(w, "a");
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 3);
    world_pod_gone(w, "g-0");
    assert_int_equal(world_reserved(w, "b", "nvidia.com/gpu"), 0);
    world_free(w);
}

static void a_finished_gang_is_done_and_frees_its_room(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_node(w, "a", 2);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    try_member(w, "g", 0);
    try_member(w, "g", 1);
    world_all_bound(w);
    world_group(w, "h", 2);
    world_members(w, "h", 0, 2, 1);
    assert_string_equal(world_state(w, "h"), "Waiting");
    world_pod_seen(w, "g-0", "g", 1, "a", PHASE_SUCCEEDED);
    world_pod_seen(w, "g-1", "g", 1, "a", PHASE_SUCCEEDED);
    assert_string_equal(world_state(w, "g"), "Done");
    assert_string_equal(world_state(w, "h"), "Planned");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(S01_with_room_for_six_of_eight_none_starts_then_all_start_together),
        cmocka_unit_test(waiting_members_that_are_never_filtered_get_an_event),
        cmocka_unit_test(members_wait_for_a_missing_podgroup_and_for_each_other),
        cmocka_unit_test(a_gang_that_fits_is_planned_before_any_filter_call),
        cmocka_unit_test(C02_a_blocked_ordinary_pod_is_woken_when_the_reservation_ends),
        cmocka_unit_test(C03_a_hold_ends_before_its_limit_and_the_plan_stays),
        cmocka_unit_test(a_dead_or_superseded_hold_does_not_count),
        cmocka_unit_test(an_attempt_that_times_out_releases_its_slots_and_backs_off),
        cmocka_unit_test(a_waiting_gang_times_out_and_a_capacity_change_ends_the_backoff),
        cmocka_unit_test(the_room_in_a_reason_is_updated_later),
        cmocka_unit_test(C05_a_lost_node_moves_the_plan_or_drops_it_completely),
        cmocka_unit_test(a_bind_call_without_a_plan_is_refused_with_a_reason),
        cmocka_unit_test(C05_a_cordoned_or_smaller_node_or_a_deleted_podgroup_drops_the_plan),
        cmocka_unit_test(C06_a_gang_with_a_refused_binding_is_completed),
        cmocka_unit_test(an_unclear_binding_is_read_and_sent_again),
        cmocka_unit_test(
            C04_after_a_restart_a_bound_gang_is_scheduled_and_a_partial_one_is_completed),
        cmocka_unit_test(C07_a_replacement_needs_no_new_quorum),
        cmocka_unit_test(extras_join_the_plan_but_the_commit_does_not_wait_for_them),
        cmocka_unit_test(gated_members_and_members_of_another_scheduler_are_named),
        cmocka_unit_test(a_held_member_gets_the_gangs_reason_if_a_needed_member_is_gated),
        cmocka_unit_test(an_invalid_minimum_is_refused_and_the_field_named),
        cmocka_unit_test(the_gang_of_higher_priority_is_planned_first),
        cmocka_unit_test(shutdown_answers_every_held_call),
        cmocka_unit_test(two_gangs_interleaved_never_block_each_other),
        cmocka_unit_test(room_for_expected_members_lets_the_first_members_be_held),
        cmocka_unit_test(S11_expected_members_that_do_not_come_release_all_slots),
        cmocka_unit_test(P12_missing_members_are_expected_while_others_come),
        cmocka_unit_test(missing_members_are_expected_for_at_most_30_seconds),
        cmocka_unit_test(
            C03_members_that_come_slower_than_a_hold_lasts_are_bound_with_the_last_one),
        cmocka_unit_test(members_are_not_expected_after_one_with_other_requests_comes),
        cmocka_unit_test(
            an_assembling_gang_without_room_reports_the_shortage_with_its_first_member),
        cmocka_unit_test(a_lost_node_moves_expected_slots_too),
        cmocka_unit_test(a_finished_gang_is_done_and_frees_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
