/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/step/gang_invariants.h"

#include "gang/cluster/lookup.h"
#include "gang/podgroup/quorum.h"

static char *trigger_names(uint32_t triggered)
{
    struct buf b = BUF_INIT;
    for (int h = 0; h < TRIGGER_MAX; h++)
        if (triggered >> h & 1)
            buf_printf(&b, "%s%s", b.len ? "; " : "", gang_trigger_name((enum gang_trigger)h));
    return b.len ? buf_steal(&b) : xstrdup("none");
}

static int check_transition(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    if (gang->marks.step != core->steps || core->stopping ||
        gang_table_allows(gang->marks.began, gang->marks.triggered, gang->state))
        return 0;
    cleanup_free char *what = trigger_names(gang->marks.triggered);
    return err_set(err, ERR_INTERNAL, "gang %s: state changed from %s to %s; triggers: %s",
                   gang->head->key, gang_state_name(gang->marks.began),
                   gang_state_name(gang->state), what);
}

static int check_reserved(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    (void)core;
    bool may = gang->state == GANG_PLANNED || gang->state == GANG_COMMITTING ||
               gang->state == GANG_SCHEDULED || gang->state == GANG_RECOVERING;
    if (may || !gang->n_slots)
        return 0;
    return err_set(err, ERR_INTERNAL, "I4: gang %s is %s, but has %d slots", gang->head->key,
                   gang_state_name(gang->state), gang->n_slots);
}

static int check_held(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    (void)core;
    bool may = gang->state == GANG_PLANNED || gang->state == GANG_RECOVERING;
    bool ends = gang->timers[TIMER_HOLD].node.pos;
    if (!gang->n_held || (may && ends))
        return 0;
    return err_set(err, ERR_INTERNAL, "I3: gang %s is %s and holds %d calls, %s", gang->head->key,
                   gang_state_name(gang->state), gang->n_held,
                   ends ? "with a time limit" : "without a time limit");
}

/* The tally does not count held members that only filter calls have shown. */
static int check_counts(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    const struct tally *t = &gang->root->t;
    bool held = gang->n_held == t->held || (core->n_unseen && gang->n_held > t->held);
    if (gang->n_slots == t->slots && held)
        return 0;
    return err_set(err, ERR_INTERNAL, "gang %s: %d slots and %d held calls, counted as %d and %d",
                   gang->head->key, t->slots, t->held, gang->n_slots, gang->n_held);
}

/* Whether the gang is refused, which keeps it halted even if it is partly bound. */
static bool is_refused(const struct gang *gang)
{
    enum gang_reason_code code = gang->reason.code;
    return code == REASON_GROUP_INVALID || code == REASON_GROUP_MISSING ||
           code == REASON_NOT_UNIFORM || code == REASON_MEMBER_INVALID;
}

static int check_whole(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    const struct tally *t = &gang->root->t;
    if (!core->synced || core->stopping || gang->ever_scheduled || !t->bound || is_refused(gang) ||
        gang->state == GANG_RECOVERING || gang->state == GANG_COMMITTING ||
        unit_lacks(gang->root, STAGE_BOUND) <= 0)
        return 0;
    return err_set(err, ERR_INTERNAL, "I1: gang %s is %s, but %d of %d are bound", gang->head->key,
                   gang_state_name(gang->state), t->bound, gang_needed(gang));
}

static bool matches_state(const struct gang_core *core, const struct gang *gang)
{
    const struct tally *t = &gang->root->t;
    switch (gang->state) {
    case GANG_PLANNED:
        return unit_lacks(gang->root, STAGE_PLANNED) <= 0 || core->stopping;
    case GANG_COMMITTING:
        return t->binding > 0 || core->stopping;
    case GANG_SCHEDULED:
        return gang->ever_scheduled || unit_lacks(gang->root, STAGE_BOUND) <= 0 || core->stopping;
    case GANG_DONE:
        return t->succeeded == t->members || core->stopping;
    default:
        return true;
    }
}

static int check_state(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    const struct tally *t = &gang->root->t;
    if (matches_state(core, gang))
        return 0;
    return err_set(
        err, ERR_INTERNAL,
        "gang %s is %s, but has %d members: %d bound, %d being bound, %d planned; %d are "
        "needed",
        gang->head->key, gang_state_name(gang->state), t->members, t->bound, t->binding, t->slots,
        gang_needed(gang));
}

static const struct {
    int (*holds)(const struct gang_core *, const struct gang *, struct err *);
    bool by_count;
} checks[GANG_INVARIANT_MAX] = {
    [GANG_INVARIANT_TRANSITION] = {check_transition, false},
    [GANG_INVARIANT_RESERVED] = {check_reserved, false},
    [GANG_INVARIANT_HELD] = {check_held, false},
    [GANG_INVARIANT_COUNTS] = {check_counts, true},
    [GANG_INVARIANT_WHOLE] = {check_whole, true},
    [GANG_INVARIANT_STATE] = {check_state, true},
};

int gang_invariant_check(const struct gang_core *core, const struct gang *gang,
                         enum gang_invariant what, struct err *err)
{
    return checks[what].holds(core, gang, err);
}

void gang_invariants_live(struct gang_core *core, const struct gang *gang, bool counted)
{
    struct err err;
    for (int what = 0; what < GANG_INVARIANT_MAX; what++) {
        if ((checks[what].by_count && !counted) || checks[what].holds(core, gang, &err) == 0)
            continue;
        core->stats.violations[what]++;
        if (!core->violations[what])
            core->violations[what] = xstrdup(err.text);
    }
}

void gang_invariants_done(struct gang_core *core)
{
    for (int what = 0; what < GANG_INVARIANT_MAX; what++)
        free(core->violations[what]);
}

const char *gang_invariant_name(enum gang_invariant what)
{
    static const char *const names[GANG_INVARIANT_MAX] = {
#define X(id, name) name,
        GANG_INVARIANTS(X)
#undef X
    };
    return names[what];
}

const char *gang_core_violation(const struct gang_core *core, enum gang_invariant what)
{
    return core->violations[what];
}
