/* SPDX-License-Identifier: Apache-2.0 */
/* The step that touches a gang finds a gang that is inconsistent with its state, and counts it. */
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "test/lib/world.h"

static struct gang *the_gang(const struct world *w)
{
    return CONTAINER_OF(w->core->gangs.next, struct gang, in_core);
}

static uint64_t violations(const struct world *w, enum gang_invariant what)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.violations[what];
}

/* A planned gang of two. */
static struct world *planned(void)
{
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    return w;
}

/* A gang that was Scheduled and has lost a member. */
static struct world *below_its_minimum(void)
{
    struct world *w = planned();
    world_pod_seen(w, "g-0", "g", 1, "n", PHASE_RUNNING);
    world_pod_seen(w, "g-1", "g", 1, "n", PHASE_RUNNING);
    world_pod_gone(w, "g-1");
    assert_string_equal(world_state(w, "g"), "Scheduled");
    return w;
}

static void set_done(struct gang *gang)
{
    gang->state = GANG_DONE;
}

static void set_backed_off(struct gang *gang)
{
    gang->state = GANG_BACKED_OFF;
}

static void count_one_hold_too_many(struct gang *gang)
{
    gang->n_held++;
}

static void count_one_slot_too_few(struct gang *gang)
{
    gang->n_slots--;
}

static void forget_that_it_was_placed(struct gang *gang)
{
    gang->ever_scheduled = false;
}

static void set_committing(struct gang *gang)
{
    gang->state = GANG_COMMITTING;
}

/* A step that touches the gang and nothing else. reviewed: reconcile does not correct the gang. */
static void touch(struct world *w, bool reviewed)
{
    struct gang_event tick = {.kind = GANG_EV_TICK};
    size_t n;
    gang_touch(w->core, the_gang(w));
    if (reviewed)
        gang_reconciled(the_gang(w));
    gang_step(w->core, w->now, &tick, 1, &n);
}

static void each_violation_is_counted_and_the_first_is_kept(void **state)
{
    (void)state;
    static const struct {
        enum gang_invariant what;
        struct world *(*story)(void);
        void (*spoil)(struct gang *);
        bool reviewed;
        const char *words;
    } cases[] = {
        {GANG_INVARIANT_TRANSITION, planned, set_done, false,
         "state changed from Done to Planned; triggers: none"},
        {GANG_INVARIANT_RESERVED, planned, set_backed_off, true, "is BackedOff, but has 2 slots"},
        {GANG_INVARIANT_HELD, planned, count_one_hold_too_many, true,
         "is Planned and holds 1 calls, without a time limit"},
        {GANG_INVARIANT_COUNTS, planned, count_one_slot_too_few, true,
         "2 slots and 0 held calls, counted as 1 and 0"},
        {GANG_INVARIANT_WHOLE, below_its_minimum, forget_that_it_was_placed, true,
         "is Scheduled, but 1 of 2 are bound"},
        {GANG_INVARIANT_STATE, planned, set_committing, true,
         "is Committing, but has 2 members: 0 bound, 0 being bound, 2 planned; 2 are needed"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = cases[i].story();
        touch(w, cases[i].reviewed);
        for (int what = 0; what < GANG_INVARIANT_MAX; what++)
            assert_int_equal(violations(w, (enum gang_invariant)what), 0);
        assert_null(gang_core_violation(w->core, cases[i].what));
        cases[i].spoil(the_gang(w));
        touch(w, cases[i].reviewed);
        assert_int_equal(violations(w, cases[i].what), 1);
        const char *first = gang_core_violation(w->core, cases[i].what);
        assert_non_null(first);
        if (!strstr(first, cases[i].words))
            fail_msg("%s: %s", gang_invariant_name(cases[i].what), first);
        cases[i].spoil(the_gang(w));
        touch(w, cases[i].reviewed);
        assert_int_equal(violations(w, cases[i].what), 2);
        assert_ptr_equal(gang_core_violation(w->core, cases[i].what), first);
        world_free(w);
    }
}

/* An untouched gang costs nothing: it was checked in the step that touched it. */
static void a_step_checks_only_gangs_that_it_touched(void **state)
{
    (void)state;
    struct world *w = planned();
    struct gang_event tick = {.kind = GANG_EV_TICK};
    size_t n;
    set_committing(the_gang(w));
    gang_step(w->core, w->now, &tick, 1, &n);
    assert_int_equal(violations(w, GANG_INVARIANT_STATE), 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_violation_is_counted_and_the_first_is_kept),
        cmocka_unit_test(a_step_checks_only_gangs_that_it_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
