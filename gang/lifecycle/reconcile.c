/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/reconcile.h"

#include <inttypes.h>

#include "base/hash.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"
#include "gang/lifecycle/backoff.h"
#include "gang/lifecycle/commit.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/gate_lifting.h"
#include "gang/lifecycle/partial_commit.h"
#include "gang/lifecycle/wake.h"
#include "gang/messages/reason_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/plan_gang.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/podgroups.h"
#include "gang/podgroup/quorum.h"

/* A plan of a Recovering gang has at least the time of so many holds. */
#define RECOVERY_HOLDS 3
/* Of config.assemble, after the first member, however often others come. */
#define HOPE_MAX 10

/* ---- assembling with hope ---- */

/*
 * A controller creates pods one after the other. While the first member is young, the missing ones
 * are planned for as copies of those of their unit, so that members go straight to a held bind
 * instead of being rejected and woken. A unit of which no member exists, or whose members are not
 * alike, says nothing about those that are missing: no hope.
 */
static bool unit_is_known(const struct unit *unit)
{
    return unit->like && !unit->mixed;
}

static bool missing_are_known(const struct unit *unit)
{
    if (unit_lacks(unit, STAGE_EXISTS) <= 0)
        return true;
    if (unit_children_needed(unit) == 0)
        return unit_is_known(unit);
    if (unit_children_needed(unit) < unit->n_children || unit->n_children == 0)
        return false; /* which of them will come is not known */
    int below = 0;
    list_for_each (child, &unit->children, struct unit, in_parent) {
        if (!missing_are_known(child))
            return false;
        below += unit_lacks(child, STAGE_EXISTS);
    }
    return unit_lacks(unit, STAGE_EXISTS) <= below || unit_is_known(unit);
}

/* As long as members come the others may come too, but not for ever. */
static usec_t end_of_expecting(const struct gang_core *core, const struct gang *gang)
{
    usec_t till = gang->newest + core->config.assemble;
    usec_t most = gang->first_seen + HOPE_MAX * core->config.assemble;
    return till < most ? till : most;
}

static bool may_expect(const struct gang_core *core, const struct gang *gang)
{
    const struct tally *t = &gang->root->t;
    return t->members > 0 && t->plannable == t->members &&
           core->now < end_of_expecting(core, gang) && missing_are_known(gang->root);
}

static struct slot *expected_slot(struct gang *gang, const struct pod *pod)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (!slot->pod && slot->signature == pod->signature && slot->unit == pod->unit)
            return slot;
    return NULL;
}

/* Members without a slot take those that were expected for them. */
static void fill_expected(struct gang_core *core, struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (pod->slot || !pod_plannable(core, pod))
            continue;
        struct slot *slot = expected_slot(gang, pod);
        if (!slot)
            continue;
        slot_fill(core, slot, pod);
        steer(core, pod);
    }
}

static void end_expecting(struct gang_core *core, struct gang *gang)
{
    if (!gang->expecting)
        return;
    gang->expecting = false;
    timer_stop(core, &gang->timers[TIMER_EXPECTED]);
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        if (!slot->pod)
            slot_release(core, slot, REASON_SLOT_MOVED);
}

static void hope(struct gang_core *core, struct gang *gang)
{
    if (!gang->expecting)
        gang_plan_again(gang);
    gang->expecting =
        true; /* all members may have been replaced since: then it is hoped for longer */
    timer_set(core, &gang->timers[TIMER_EXPECTED], end_of_expecting(core, gang));
    fill_expected(core, gang);
    if (gang->state != GANG_PLANNED) {
        timer_stop(core, &gang->timers[TIMER_BACKOFF]); /* those that backed off are not these */
        gang_enter(core, gang, GANG_ASSEMBLING);
    } else if (gang_lacks(core, gang, STAGE_PLANNED) > 0) {
        gang_plan_again(gang); /* a slot was lost, or needed rose */
    }
}

/* ---- attempts ---- */

/* The longest of its PodGroups': none of them asked for less than that. Any tenant may write it,
 * and a plan may keep its room for so long. */
static usec_t attempt_timeout(const struct gang_core *core, const struct gang *gang)
{
    usec_t t = 0;
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (group->facts && group->facts->schedule_timeout > t)
            t = group->facts->schedule_timeout;
    usec_t most = core->config.schedule_timeout_max;
    return t <= 0 ? core->config.schedule_timeout : t < most ? t : most;
}

/* A member that may go nowhere but where kube-scheduler has prepared its claims. */
static bool has_pinned(const struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->pinned && !pod->node)
            return true;
    return false;
}

/* What was prepared for a member counts in this attempt. Where it outlives it (a claim that is
 * allocated, or being provisioned) kube-scheduler offers that node alone. */
static void unpin_members(struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        claims_unpin(pod);
}

static void begin_waiting(struct gang_core *core, struct gang *gang)
{
    if (gang->waits)
        return;
    gang->waits = core->now;
    if (core->config.starvation)
        timer_set(core, &gang->timers[TIMER_STARVE], core->now + core->config.starvation);
}

void begin_attempt(struct gang_core *core, struct gang *gang)
{
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    if (gang->timers[TIMER_ATTEMPT].node.pos)
        return;
    gang->attempts++;
    usec_t limit = attempt_timeout(core, gang);
    if (gang->state == GANG_RECOVERING && limit < RECOVERY_HOLDS * core->config.hold)
        limit = RECOVERY_HOLDS * core->config.hold; /* a short timeout does not delay recovery */
    timer_set(core, &gang->timers[TIMER_ATTEMPT], core->now + limit);
    begin_waiting(core, gang);
}

static void end_attempt(struct gang_core *core, struct gang *gang)
{
    unpin_members(gang);
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    timer_stop(core, &gang->timers[TIMER_STARVE]);
    earmark_end(core, gang);
    gang->waits = 0;
    gang->starved = false;
}

/* Later members that were rejected pass singly, as many as may be. */
static void starve_later(struct gang_core *core, struct gang *gang)
{
    gang_count(core, gang);
    gang_capped(gang, false);
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!pod->queue.rejected || pod->slot || !pod_plannable(core, pod))
            continue;
        if (unit_at_maximum(pod->unit))
            gang_capped(gang, true);
        else
            block_pod(core, pod);
    }
}

static void place(struct gang_core *core, struct gang *gang)
{
    end_attempt(core, gang);
    partial_commit_end(core, gang);
    timer_stop(core, &gang->timers[TIMER_NOTICE]);
    end_expecting(core, gang);
    infeasible_nodes_forget(core, gang);
    gang_timed_out(gang, false);
    backoff_end(gang);
    gang_enter(core, gang, GANG_SCHEDULED);
    reason_set(gang, REASON_SCHEDULED, xstrdup(""));
    if (!gang->ever_scheduled)
        emit_scheduled(core, gang);
    gang_scheduled_once(gang, true);
    /* Extras: those at bind join, those on their way keep their place for a while, those that
     * were rejected pass singly now, and nothing else would wake them. */
    bind_held(core, gang);
    if (gang->n_slots)
        timer_set(core, &gang->timers[TIMER_EXTRAS], core->now + core->config.hold);
    nominations_clear(core, gang); /* of those that have lost their place */
    starve_later(core, gang);
}

/*
 * The gang cannot be planned whatever the cluster looks like: it waits for its own facts, in state
 * Assembling, or Recovering when some of it is bound.
 */
static void assemble(struct gang_core *core, struct gang *gang, enum gang_state state,
                     enum gang_reason_code code, char *text)
{
    bool news = reason_set(gang, code, text);
    bool wrong =
        code == REASON_GROUP_INVALID || code == REASON_NOT_UNIFORM || code == REASON_MEMBER_INVALID;
    if (news && wrong) /* its users must change something: said on the object, once */
        emit_event(core, gang, true, gang_reason_name(code), gang->reason.text);
    gang->halted = true;
    gates_note(core, gang, code);
    plan_drop(core, gang, code);
    end_expecting(core, gang);
    end_attempt(core, gang);
    nominations_clear(core, gang);
    gang_enter(core, gang, state);
    if (news)
        timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

/* Parts that labels make may need more, all together, than may be. */
static const struct unit *needs_beyond_maximum(const struct gang *gang)
{
    list_for_each (group, &gang->groups, struct group, in_gang) {
        const struct unit *own = group->units[0];
        if (own->max_pods && unit_needs(own) > own->max_pods)
            return own;
    }
    return NULL;
}

/* What makes it impossible to plan the gang, whatever the cluster looks like; NULL: nothing. */
static char *refusal(const struct gang *gang, enum gang_reason_code *code)
{
    *code = REASON_GROUP_INVALID;
    if (gang->invalid)
        return xstrdup(gang->invalid);
    *code = REASON_GROUP_MISSING;
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (!group->facts)
            return reason_missing(group);
    if (gang->root->t.bound + gang->root->t.binding > 0)
        return NULL; /* too late to refuse it: whoever comes now is an extra */
    *code = REASON_NOT_UNIFORM;
    const struct pod *first = NULL;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!pod_counts(pod) || !pod->facts->uniform.key)
            continue;
        if (first && !str_eq(first->facts->uniform.value, pod->facts->uniform.value))
            return reason_not_uniform(gang, first, pod);
        first = first ? first : pod;
    }
    return NULL;
}

/* A failed commit is undone: those that it bound are asked to leave, if somebody makes them anew.
 */
static void evict_commit(struct gang_core *core, struct gang *gang)
{
    int n = 0;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        bool its = pod->binding.commit && pod->binding.commit == gang->commits &&
                   pod->charge == CHARGE_ASSIGNED;
        if (!its || pod->binding.undone || !pod->facts->controlled || !pod_counts(pod))
            continue;
        n++;
        evict(core, pod);
    }
    if (n)
        emit_evicted(core, gang, n);
}

/* Every result of the commit is in, and the needed set is not bound. */
static void commit_failed(struct gang_core *core, struct gang *gang, const struct tally *t)
{
    if (core->config.evict_on_failed_commit)
        evict_commit(core, gang);
    bool refused = gang->reason.code == REASON_BIND_REFUSED;
    if (t->bound == 0 && refused && unit_lacks(gang->root, STAGE_REACHABLE) <= 0)
        back_off(core, gang); /* every single Binding was refused */
}

static enum gang_reason_code why_unreachable(const struct tally *t)
{
    return t->gated            ? REASON_MEMBERS_GATED
           : t->rejected_early ? REASON_REJECTED_EARLY
                               : REASON_FOREIGN_SCHEDULER;
}

/* Some of it is bound: another attempt, with what is left of the plan or the next one. */
static void recover(struct gang_core *core, struct gang *gang)
{
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    gang_enter(core, gang, GANG_RECOVERING);
    gang_plan_again(gang);
    begin_waiting(core, gang);
    if (gang->n_slots || has_pinned(gang))
        begin_attempt(core, gang);
}

/* There are enough members, and the scheduler may place them. */
static void wait_for_plan(struct gang_core *core, struct gang *gang, const struct tally *t,
                          bool some)
{
    if (gang->state != GANG_BACKED_OFF && !some)
        begin_attempt(core, gang);
    if (gang->state == GANG_ASSEMBLING || gang->state == GANG_DONE ||
        gang->state == GANG_SCHEDULED || gang->state == GANG_COMMITTING) {
        gang_enter(core, gang, GANG_WAITING);
        gang_plan_again(gang);
    }
    if (gang->n_slots && gang->n_slots < t->plannable)
        gang_plan_again(gang); /* a slot was lost, or a member came: complete the plan */
}

/* A member that would need a place, and of which muster does not know where it may go. */
static const struct pod *invalid_member(const struct gang_core *core, const struct gang *gang)
{
    if (!core->n_invalid)
        return NULL;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->invalid && pod_counts(pod) && !pod->node && !pod_is_finished(pod))
            return pod;
    return NULL;
}

/* Planned gangs lose members, unbound ones are marked, a whole gang may be bound from outside. */
static void reconcile_unscheduled(struct gang_core *core, struct gang *gang, const struct tally *t)
{
    if (t->binding && gang->state == GANG_COMMITTING)
        return; /* decided when the last result is in */
    if (gang->state == GANG_COMMITTING) {
        commit_failed(core, gang, t);
        gang_count(core, gang); /* those that are evicted do not count */
    }
    bool some = t->bound + t->binding > 0;
    if (some)
        partial_commit_find(core, gang);
    else
        partial_commit_end(core, gang);
    int missing = unit_lacks(gang->root, STAGE_EXISTS);
    const struct unit *beyond = needs_beyond_maximum(gang);
    const struct pod *invalid = invalid_member(core, gang);
    if (missing > 0 && !some && !beyond && !invalid && may_expect(core, gang)) {
        hope(core, gang);
        return;
    }
    if (gang->expecting)
        fill_expected(core, gang);
    end_expecting(core, gang);
    gang_count(core, gang); /* the slots */
    enum gang_state state = some ? GANG_RECOVERING : GANG_ASSEMBLING;
    if (beyond)
        assemble(core, gang, state, REASON_GROUP_INVALID, reason_beyond_maximum(beyond));
    else if (invalid)
        assemble(core, gang, state, REASON_MEMBER_INVALID, xstrdup(invalid->facts->invalid));
    else if (missing > 0)
        assemble(core, gang, state, REASON_NOT_ENOUGH_MEMBERS, reason_members(gang));
    else if (unit_lacks(gang->root, STAGE_REACHABLE) > 0)
        assemble(core, gang, state, why_unreachable(t), reason_members(gang));
    else
        wait_for_plan(core, gang, t, some);
    if (some && gang->state != GANG_RECOVERING) {
        recover(core, gang);
    } else if (!some && gang->state == GANG_RECOVERING) { /* the bound ones are gone again */
        gang_enter(core, gang, gang->n_slots ? GANG_PLANNED : GANG_WAITING);
        gang_plan_again(gang);
    }
}

/* Whether a gang that was placed once has to be whole again before later members pass. */
static bool must_be_whole(const struct gang_core *core, const struct gang *gang)
{
    enum gang_match match = gang->head->facts->match;
    if (match == MATCH_DEFAULT)
        return core->config.requeue_below_minimum;
    return match != MATCH_ONCE;
}

static void finish(struct gang_core *core, struct gang *gang)
{
    end_attempt(core, gang);
    timer_stop(core, &gang->timers[TIMER_NOTICE]);
    end_expecting(core, gang);
    plan_drop(core, gang, REASON_SLOT_MOVED);
    gang_scheduled_once(gang, true);
    gang_enter(core, gang, GANG_DONE);
    reason_set(gang, REASON_SCHEDULED, xstrdup(""));
}

/* It has what it needs, or had it and lost some of it. Who asks for more than it ever had is
 * placed together with that, or not at all. */
static bool is_whole(const struct gang_core *core, struct gang *gang)
{
    int needed = gang_needed(gang);
    if (unit_lacks(gang->root, STAGE_BOUND) <= 0) {
        gang->whole_at = needed;
        return true;
    }
    return gang->ever_scheduled && needed <= gang->whole_at && !must_be_whole(core, gang);
}

static void review_priority(struct gang_core *core, struct gang *gang)
{
    int32_t own = gang_own_priority(core, gang), pods = gang_pod_priority(core, gang);
    int32_t priority = core->config.trust_group_priority ? own : pods;
    if (priority != gang->priority || own != gang->own_priority)
        earmark_order_changed(core, gang);
    if (pods > gang->pod_priority && core->n_nominated_room) /* fewer are before it */
        gang_plan_again(gang);
    gang->priority = priority;
    gang->own_priority = own;
    gang->pod_priority = pods;
}

static void reconcile(struct gang_core *core, struct gang *gang)
{
    if (gang->over) { /* however many members it has: they are not looked through */
        assemble(core, gang, GANG_ASSEMBLING, REASON_GROUP_INVALID, xstrdup(gang->invalid));
        return;
    }
    const struct tally *t = gang_count(core, gang);
    enum gang_reason_code code;
    gang->halted = false;
    review_priority(core, gang);
    char *text = refusal(gang, &code);
    if (text) {
        assemble(core, gang, GANG_ASSEMBLING, code, text);
        return;
    }
    if (gang->state == GANG_DONE && gang->ever_scheduled && t->succeeded == t->members)
        return; /* finished pods are cleaned up: it stays Done until a new member comes */
    if (t->bound == 0 && t->binding == 0)
        gang_scheduled_once(gang, false); /* a new run under the same PodGroup */
    bool whole = is_whole(core, gang);
    if (whole && t->members > 0 && t->succeeded == t->members) {
        finish(core, gang);
    } else if (whole) {
        if (gang->state != GANG_SCHEDULED)
            place(core, gang);
        else if (gang->capped) /* one may have ended, the maximum or the gang be another */
            starve_later(core, gang);
    } else {
        reconcile_unscheduled(core, gang, t);
    }
    /* A member may have gone, or others are bound now: those held may be the whole rest. */
    commit_if_quorum(core, gang);
    if (gang->state != GANG_COMMITTING)
        list_for_each (pod, &gang->members, struct pod, in_gang)
            if (pod->call && pod->charge == CHARGE_ASSIGNED)
                reply_bind(core, pod, "");
}

bool reconcile_touched(struct gang_core *core)
{
    bool any = false;
    list_for_each (gang, &core->touched, struct gang, marks.in_touched) {
        if (!gang->marks.stale)
            continue;
        any = true;
        reconcile(core, gang);
        gang_reconciled(gang);
    }
    return any;
}

/* ---- timers firing ---- */

/* Releases all; the next attempt begins after a pause. Where room was all that the gang lacked, it
 * begins at once when room grows. A gang that had its places lacked something else: two such gangs
 * would else take one room in turn, and nobody behind them would ever get it. */
static void pause_attempts(struct gang_core *core, struct gang *gang)
{
    bool had_room = gang->n_slots > 0;
    end_expecting(core, gang);
    early_rejection_missed(gang);
    plan_drop(core, gang, gang->reason.code);
    unpin_members(gang);
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    gang_plan_begins(gang);
    plan_not_due(core, gang, had_room);
    timer_set(core, &gang->timers[TIMER_BACKOFF], core->now + gang_pause(core, gang));
}

void back_off(struct gang_core *core, struct gang *gang)
{
    pause_attempts(core, gang);
    gang_failed(core, gang);
    gang_enter(core, gang, GANG_BACKED_OFF);
}

static void attempt_timed_out(struct gang_core *core, struct gang *gang)
{
    bool recovering = gang->state == GANG_RECOVERING && (gang->n_slots || has_pinned(gang));
    if (gang->state != GANG_WAITING && gang->state != GANG_PLANNED && !recovering)
        return;
    core->stats.attempts_timed_out++;
    gang_count(core, gang);
    reason_set(gang, REASON_SCHEDULE_TIMEOUT, reason_timeout(gang, attempt_timeout(core, gang)));
    if (recovering) { /* a part of it is bound: it does not begin anew */
        pause_attempts(core, gang);
    } else {
        gang_timed_out(gang, true);
        back_off(core, gang);
    }
    emit_event(core, gang, true, "Timeout", gang->reason.text);
}

void gang_timer(struct gang_core *core, struct gang *gang, enum timer_kind kind)
{
    static const enum gang_trigger what[GANG_TIMERS] = {
        [TIMER_ATTEMPT] = TRIGGER_ATTEMPT_OVER,      [TIMER_BACKOFF] = TRIGGER_BACKOFF_OVER,
        [TIMER_EXPECTED] = TRIGGER_EXPECTED_OVER,    [TIMER_HOLD] = TRIGGER_HOLD_OVER,
        [TIMER_EXTRAS] = TRIGGER_LOOK_AGAIN,         [TIMER_INFEASIBLE] = TRIGGER_LOOK_AGAIN,
        [TIMER_STATUS] = TRIGGER_LOOK_AGAIN,         [TIMER_STARVE] = TRIGGER_LOOK_AGAIN,
        [TIMER_REFRESH] = TRIGGER_LOOK_AGAIN,        [TIMER_NOTICE] = TRIGGER_LOOK_AGAIN,
        [TIMER_PARTIAL_COMMIT] = TRIGGER_LOOK_AGAIN, [TIMER_FAMILY] = TRIGGER_FAMILY,
    };
    usec_t again = gang->tried_at + core->config.text_refresh;
    if (kind == TIMER_REFRESH && gang->marks.full &&
        again > core->now) { /* it was looked at since */
        timer_set(core, &gang->timers[kind], again);
        return;
    }
    if (kind == TIMER_TURNS) { /* most often nothing comes of it */
        early_rejection_check(core, gang);
        return;
    }
    triggered(core, gang, what[kind]);
    gang_touch(core, gang);
    switch (kind) {
    case TIMER_ATTEMPT:
        attempt_timed_out(core, gang);
        break;
    case TIMER_BACKOFF:
        if (gang->state == GANG_BACKED_OFF)
            gang_enter(core, gang, GANG_WAITING);
        gang_plan_again(gang);
        break;
    case TIMER_HOLD:
        hold_timer_fired(core, gang);
        break;
    case TIMER_INFEASIBLE:
        gang_plan_again(gang);
        infeasible_nodes_arm(core, gang);
        break;
    case TIMER_STARVE:
        gang->starved = true;
        gang_plan_again(gang);
        break;
    case TIMER_REFRESH:
        if (gang->state == GANG_WAITING) /* beside what this step has brought */
            gang_plan_again(gang);
        break;
    case TIMER_EXTRAS:
        if (passes_singly(gang))
            slots_release(core, gang, REASON_SLOT_MOVED); /* nobody came for them */
        break;
    case TIMER_PARTIAL_COMMIT:
        partial_commit_first_over(core, gang);
        break;
    case TIMER_NOTICE:
        emit_member_reasons(core, gang);
        break;
    case TIMER_FAMILY:
        family_recount(core, gang);
        break;
    default: /* TIMER_STATUS: touching is all */
        break;
    }
}
