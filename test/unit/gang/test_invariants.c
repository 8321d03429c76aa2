/* SPDX-License-Identifier: Apache-2.0 */
/* A gang that is not what its state says is found in the step that touches it, and counted. */
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

/* A gang of two, planned. */
static struct world *planned(void)
{
    struct world *w = world_new();
    world_node(w, "n", 4);
    world_group(w, "g", 2);
    world_members(w, "g", 0, 2, 1);
    assert_string_equal(world_state(w, "g"), "Planned");
    return w;
}

/* It was bound, and has lost one. */
static struct world *below_its_minimum(void)
{
    struct world *w = planned();
    world_pod_seen(w, "g-0", "g", 1, "n", PHASE_RUNNING);
    world_pod_seen(w, "g-1", "g", 1, "n", PHASE_RUNNING);
    world_pod_gone(w, "g-1");
    assert_string_equal(world_state(w, "g"), "Scheduled");
    return w;
}

static void says_it_is_done(struct gang *gang)
{
    gang->state = GANG_DONE;
}

static void says_it_has_backed_off(struct gang *gang)
{
    gang->state = GANG_BACKED_OFF;
}

static void counts_a_hold_too_many(struct gang *gang)
{
    gang->n_held++;
}

static void counts_a_slot_too_few(struct gang *gang)
{
    gang->n_slots--;
}

static void forgets_that_it_was_placed(struct gang *gang)
{
    gang->ever_scheduled = false;
}

static void says_it_commits(struct gang *gang)
{
    gang->state = GANG_COMMITTING;
}

/* As a step does that touches the gang and nothing else; `reviewed`: what is wrong is not mended.
 */
static void touch(struct world *w, bool reviewed)
{
    struct gang_event tick = {.kind = GANG_EV_TICK};
    size_t n;
    gang_touch(w->core, the_gang(w));
    if (reviewed)
        gang_reconciled(the_gang(w));
    gang_step(w->core, w->now, &tick, 1, &n);
}

static void each_wrong_state_is_counted_and_its_first_is_kept(void **state)
{
    (void)state;
    static const struct {
        enum gang_invariant what;
        struct world *(*story)(void);
        void (*spoil)(struct gang *);
        bool reviewed;
        const char *words;
    } cases[] = {
        {GANG_INVARIANT_TRANSITION, planned, says_it_is_done, false,
         "from Done to Planned, and what happened to it: nothing"},
        {GANG_INVARIANT_RESERVED, planned, says_it_has_backed_off, true,
         "is BackedOff and reserves 2 slots"},
        {GANG_INVARIANT_HELD, planned, counts_a_hold_too_many, true,
         "is Planned and holds 1 calls, without limit"},
        {GANG_INVARIANT_COUNTS, planned, counts_a_slot_too_few, true,
         "2 slots and 0 held calls counted as 1 and 0"},
        {GANG_INVARIANT_WHOLE, below_its_minimum, forgets_that_it_was_placed, true,
         "is Scheduled with 1 of 2 bound"},
        {GANG_INVARIANT_STATE, planned, says_it_commits, true,
         "is Committing with 2 members: 0 bound, 0 being bound and 2 planned of 2 needed"},
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

/* An untouched gang costs nothing: it was looked at when it was touched. */
static void a_step_looks_at_the_gangs_that_it_touched(void **state)
{
    (void)state;
    struct world *w = planned();
    struct gang_event tick = {.kind = GANG_EV_TICK};
    size_t n;
    says_it_commits(the_gang(w));
    gang_step(w->core, w->now, &tick, 1, &n);
    assert_int_equal(violations(w, GANG_INVARIANT_STATE), 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_wrong_state_is_counted_and_its_first_is_kept),
        cmocka_unit_test(a_step_looks_at_the_gangs_that_it_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
