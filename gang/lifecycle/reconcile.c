/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/reconcile.h"

#include <inttypes.h>

#include "base/hash.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"
#include "gang/lifecycle/backoff.h"
#include "gang/lifecycle/commit.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/eviction.h"
#include "gang/lifecycle/gang_preemption.h"
#include "gang/lifecycle/gate_lifting.h"
#include "gang/lifecycle/partial_commit.h"
#include "gang/lifecycle/steering.h"
#include "gang/lifecycle/wake.h"
#include "gang/messages/reason_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/plan_gang.h"
#include "gang/plan/queue_check.h"
#include "gang/plan/starvation.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_priority.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/podgroups.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

/* The shortest timeout of a Recovering gang's attempt, in holds. */
#define RECOVERY_HOLDS 3
/* How long members are expected at most after the first one came, in config.assemble. */
#define EXPECT_MAX 10

/* ---- expected members ---- */

/*
 * A controller creates pods one after the other. So muster expects missing members for a while, and
 * plans them as copies of the members in their unit. They can then go to bind at once, instead of
 * being refused and woken. If a unit has no member, or different members, muster cannot know the
 * missing ones and does not expect them.
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
        return false; /* any of the units below may get members */
    int below = 0;
    list_for_each (child, &unit->children, struct unit, in_parent) {
        if (!missing_are_known(child))
            return false;
        below += unit_lacks(child, STAGE_EXISTS);
    }
    return unit_lacks(unit, STAGE_EXISTS) <= below || unit_is_known(unit);
}

/* Each new member extends the time, until the limit EXPECT_MAX. */
static usec_t end_of_expecting(const struct gang_core *core, const struct gang *gang)
{
    usec_t till = gang->newest + core->config.assemble;
    usec_t most = gang->first_seen + EXPECT_MAX * core->config.assemble;
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

/* Gives slots of expected members to members that exist now. */
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

static void expect_members(struct gang_core *core, struct gang *gang)
{
    if (!gang->expecting)
        gang_plan_again(gang);
    gang->expecting = true;
    /* The time changes with each new member. */
    timer_set(core, &gang->timers[TIMER_EXPECTED], end_of_expecting(core, gang));
    fill_expected(core, gang);
    if (gang->state != GANG_PLANNED) {
        timer_stop(core, &gang->timers[TIMER_BACKOFF]); /* the backoff was of earlier members */
        gang_enter(core, gang, GANG_ASSEMBLING);
    } else if (gang_lacks(core, gang, STAGE_PLANNED) > 0) {
        gang_plan_again(gang); /* a slot was lost, or the minimum was raised */
    }
}

/* ---- attempts ---- */

/* The longest timeout of the gang's PodGroups. A tenant can keep reservations for this time, so
 * schedule_timeout_max limits it. */
static usec_t attempt_timeout(const struct gang_core *core, const struct gang *gang)
{
    usec_t t = 0;
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (group->facts && group->facts->schedule_timeout > t)
            t = group->facts->schedule_timeout;
    usec_t most = core->config.schedule_timeout_max;
    return t <= 0 ? core->config.schedule_timeout : t < most ? t : most;
}

/* Whether an unbound member is pinned. */
static bool has_pinned(const struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->pinned && !pod->node)
            return true;
    return false;
}

/* Pins end with the attempt. If a claim is still tied to its node, kube-scheduler offers only this
 * node in the next attempt. */
static void unpin_members(struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        claims_unpin(pod);
}

void begin_attempt(struct gang_core *core, struct gang *gang)
{
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    if (gang->timers[TIMER_ATTEMPT].node.pos)
        return;
    gang->attempts++;
    usec_t limit = attempt_timeout(core, gang);
    if (gang->state == GANG_RECOVERING && limit < RECOVERY_HOLDS * core->config.hold)
        limit = RECOVERY_HOLDS * core->config.hold; /* a short timeout must not prevent recovery */
    timer_set(core, &gang->timers[TIMER_ATTEMPT], core->now + limit);
    starvation_begin(core, gang);
}

static void end_attempt(struct gang_core *core, struct gang *gang)
{
    unpin_members(gang);
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    earmark_end(core, gang);
    starvation_end(core, gang);
    preemption_forget(core, gang);
}

/* Extras that filter refused become blocked pods, which muster wakes. If the maximum is reached,
 * they wait. */
static void block_extras(struct gang_core *core, struct gang *gang)
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

static void enter_placed(struct gang_core *core, struct gang *gang)
{
    preemption_placed(core, gang);
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
    /* Extras that are at bind are bound. Other extras with a slot keep it for one config.hold.
     * Extras that were refused become blocked pods, because nothing else would wake them. */
    bind_held(core, gang);
    if (gang->n_slots)
        timer_set(core, &gang->timers[TIMER_EXTRAS], core->now + core->config.hold);
    nominations_clear(core, gang); /* of extras that have lost their slots */
    block_extras(core, gang);
}

/*
 * The gang cannot be planned, no matter how much room there is. It waits for a change of its own
 * facts, in the state Assembling, or Recovering if some members are bound.
 */
static void wait_for_facts(struct gang_core *core, struct gang *gang, enum gang_state state,
                           enum gang_reason_code code, char *text)
{
    bool changed = reason_set(gang, code, text);
    enum gang_kube_event event = code == REASON_GROUP_INVALID    ? KUBE_EVENT_GROUP_INVALID
                                 : code == REASON_NOT_UNIFORM    ? KUBE_EVENT_NOT_UNIFORM
                                 : code == REASON_MEMBER_INVALID ? KUBE_EVENT_MEMBER_INVALID
                                                                 : KUBE_EVENT_MAX;
    if (changed &&
        event != KUBE_EVENT_MAX) /* one event on the object, because the user must change it */
        emit_event(core, gang, event, gang->reason.text);
    gang->halted = true;
    gates_note(core, gang, code);
    plan_drop(core, gang, REASON_NONE); /* held calls get the text that reason_set() stored */
    end_expecting(core, gang);
    end_attempt(core, gang);
    nominations_clear(core, gang);
    gang_enter(core, gang, state);
    if (changed)
        timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

/* The unit of a PodGroup that needs more members than its maximum allows; NULL: none. New parts of
 * a subgroup add to the needed members. */
static const struct unit *needs_beyond_maximum(const struct gang *gang)
{
    list_for_each (group, &gang->groups, struct group, in_gang) {
        const struct unit *own = group->units[0];
        if (own->max_pods && unit_needs(own) > own->max_pods)
            return own;
    }
    return NULL;
}

/* Why muster refuses the gang, as text, and the code; NULL: it does not. */
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
        return NULL; /* some members are bound, so later members are not compared */
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

/* All results of the commit are in, and the quorum is not bound. */
static void commit_failed(struct gang_core *core, struct gang *gang, const struct tally *t)
{
    if (core->config.evict_on_failed_commit)
        evict_failed_commit(core, gang);
    bool refused = gang->reason.code == REASON_BIND_REFUSED;
    if (t->bound == 0 && refused && unit_lacks(gang->root, STAGE_REACHABLE) <= 0)
        back_off(core, gang); /* every Binding was refused */
}

static enum gang_reason_code why_unreachable(const struct tally *t)
{
    return t->gated            ? REASON_MEMBERS_GATED
           : t->rejected_early ? REASON_REJECTED_EARLY
                               : REASON_FOREIGN_SCHEDULER;
}

/* The gang is partly bound. It continues with the rest of its plan, or with a new plan. */
static void recover(struct gang_core *core, struct gang *gang)
{
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    gang_enter(core, gang, GANG_RECOVERING);
    gang_plan_again(gang);
    starvation_begin(core, gang);
    if (gang->n_slots || has_pinned(gang))
        begin_attempt(core, gang);
}

/* There are enough plannable members. some: some members are bound. */
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
        gang_plan_again(gang); /* a slot was lost or a member is new, so complete the plan */
}

/* An unbound member that muster cannot read completely; NULL: none. */
static const struct pod *invalid_member(const struct gang_core *core, const struct gang *gang)
{
    if (!core->n_invalid)
        return NULL;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->invalid && pod_counts(pod) && !pod->node && !pod_is_finished(pod))
            return pod;
    return NULL;
}

/* The quorum is not bound. The gang waits for facts, members or a plan, or it recovers. */
static void reconcile_unscheduled(struct gang_core *core, struct gang *gang, const struct tally *t)
{
    if (t->binding && gang->state == GANG_COMMITTING)
        return; /* decide when the last result is in */
    if (gang->state == GANG_COMMITTING) {
        commit_failed(core, gang, t);
        gang_count(core, gang); /* without members that are being evicted */
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
        expect_members(core, gang);
        return;
    }
    if (gang->expecting)
        fill_expected(core, gang);
    end_expecting(core, gang);
    gang_count(core, gang); /* the slots may have changed */
    enum gang_state state = some ? GANG_RECOVERING : GANG_ASSEMBLING;
    if (beyond)
        wait_for_facts(core, gang, state, REASON_GROUP_INVALID, reason_beyond_maximum(beyond));
    else if (invalid)
        wait_for_facts(core, gang, state, REASON_MEMBER_INVALID, xstrdup(invalid->facts->invalid));
    else if (missing > 0)
        wait_for_facts(core, gang, state, REASON_NOT_ENOUGH_MEMBERS, reason_members(gang));
    else if (unit_lacks(gang->root, STAGE_REACHABLE) > 0)
        wait_for_facts(core, gang, state, why_unreachable(t), reason_members(gang));
    else
        wait_for_plan(core, gang, t, some);
    if (some && gang->state != GANG_RECOVERING) {
        recover(core, gang);
    } else if (!some && gang->state == GANG_RECOVERING) { /* no member is bound any more */
        /* Limits do not stop a gang that is bound in part, so the plan may exceed them. */
        if (plan_exceeds_queue(core, gang))
            plan_drop(core, gang, REASON_SLOT_MOVED);
        gang_enter(core, gang, gang->n_slots ? GANG_PLANNED : GANG_WAITING);
        gang_plan_again(gang);
    }
}

/* Whether later members of a placed gang below its minimum wait until the gang is whole again. */
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

/* Whether the quorum is bound, or was bound and later members need not wait for it. If the gang now
 * needs more members than were bound then, it must be placed again. */
static bool is_whole(const struct gang_core *core, struct gang *gang)
{
    int needed = gang_needed(gang);
    if (unit_lacks(gang->root, STAGE_BOUND) <= 0) {
        gang->whole_at = needed;
        return true;
    }
    return gang->ever_scheduled && needed <= gang->whole_at && !must_be_whole(core, gang);
}

static void update_priority(struct gang_core *core, struct gang *gang)
{
    int32_t own = gang_own_priority(core, gang), pods = gang_pod_priority(core, gang);
    int32_t priority = core->config.trust_group_priority ? own : pods;
    if (priority != gang->priority || own != gang->own_priority)
        earmark_order_changed(core, gang);
    if (pods > gang->pod_priority && core->n_nominated_room) /* it may use more nominated room */
        gang_plan_again(gang);
    if (priority != gang->priority || own != gang->own_priority || pods != gang->pod_priority)
        preempted_room_reclassify(core, gang);
    gang->priority = priority;
    gang->own_priority = own;
    gang->pod_priority = pods;
    if (gang->root->t.bound || gang->n_slots)
        lowest_priority_seen(core, priority < own ? priority : own);
}

/* Whether all its slots are a plan that can be dropped, because no member is bound any more. */
static bool is_only_planned(const struct gang *gang, const struct tally *t)
{
    return gang->state == GANG_PLANNED ||
           (gang->state == GANG_SCHEDULED && t->bound + t->binding == 0);
}

/* If its queue or a limit changed, a plan that no longer fits is dropped before anything is bound.
 */
static void update_queue(struct gang_core *core, struct gang *gang, const struct tally *t)
{
    queue_assign(core, gang, gang->own_priority);
    bool changed = gang_was_requeued(gang);
    if (changed)
        preempted_room_reclassify(core, gang);
    if (!changed || !is_only_planned(gang, t) || !plan_exceeds_queue(core, gang))
        return;
    triggered(core, gang, TRIGGER_ROOM_LESS);
    plan_drop(core, gang, REASON_SLOT_MOVED);
    gang_plan_again(gang);
}

static void reconcile(struct gang_core *core, struct gang *gang)
{
    if (gang->over) { /* its members are not counted, because there may be too many */
        wait_for_facts(core, gang, GANG_ASSEMBLING, REASON_GROUP_INVALID, xstrdup(gang->invalid));
        return;
    }
    const struct tally *t = gang_count(core, gang);
    enum gang_reason_code code;
    if (evict_broken(core, gang))
        gang_count(core, gang); /* without the evicted members */
    evict_marked(core, gang);
    gang->halted = false;
    update_priority(core, gang);
    update_queue(core, gang, t);
    char *text = refusal(gang, &code);
    if (text) {
        wait_for_facts(core, gang, GANG_ASSEMBLING, code, text);
        return;
    }
    if (gang->state == GANG_DONE && gang->ever_scheduled && t->succeeded == t->members)
        return; /* only finished pods are deleted, so the gang stays Done until a new member comes
                 */
    if (t->bound == 0 && t->binding == 0)
        gang_scheduled_once(gang, false); /* a new run with the same PodGroup */
    bool whole = is_whole(core, gang);
    if (whole && t->members > 0 && t->succeeded == t->members) {
        finish(core, gang);
    } else if (whole) {
        if (gang->state != GANG_SCHEDULED)
            enter_placed(core, gang);
        else if (gang->capped) /* refused members may be allowed now */
            block_extras(core, gang);
    } else {
        reconcile_unscheduled(core, gang, t);
    }
    /* If a member is gone or was bound elsewhere, the held members may be enough now. */
    commit_if_quorum(core, gang);
    if (gang->state != GANG_COMMITTING)
        list_for_each (pod, &gang->members, struct pod, in_gang)
            if (pod->call && pod->charge == CHARGE_ASSIGNED)
                reply_bind(core, pod, "");
}

char *gang_dry_refusal(struct gang_core *core, struct gang *gang, enum gang_reason_code *code)
{
    *code = REASON_GROUP_INVALID;
    if (gang->over)
        return xstrdup(gang->invalid);
    const struct tally *t = gang_count(core, gang);
    update_priority(core, gang);
    queue_assign(core, gang, gang->own_priority);
    char *text = refusal(gang, code);
    if (text)
        return text;
    const struct unit *beyond = needs_beyond_maximum(gang);
    const struct pod *invalid = invalid_member(core, gang);
    if (beyond) {
        *code = REASON_GROUP_INVALID;
        return reason_beyond_maximum(beyond);
    }
    if (invalid) {
        *code = REASON_MEMBER_INVALID;
        return xstrdup(invalid->facts->invalid);
    }
    *code =
        unit_lacks(gang->root, STAGE_EXISTS) > 0 ? REASON_NOT_ENOUGH_MEMBERS : why_unreachable(t);
    return unit_lacks(gang->root, STAGE_REACHABLE) > 0 ? reason_members(gang) : NULL;
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

/* Releases the plan and the pins. The next attempt begins after a pause, or earlier when room
 * grows. But a gang that had a plan did not lack room, so it waits for the whole pause. Otherwise
 * two such gangs could take the room in turn and block all gangs behind them. */
static void pause_attempts(struct gang_core *core, struct gang *gang)
{
    bool had_room = gang->n_slots > 0;
    if (had_room)
        preemption_unused(core, gang);
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
    if (has_preempted_room(gang)) { /* it waits for evicted pods, so no time is lost by it */
        timer_set(core, &gang->timers[TIMER_ATTEMPT], core->now + attempt_timeout(core, gang));
        return;
    }
    core->stats.attempts_timed_out++;
    gang_count(core, gang);
    reason_set(gang, REASON_SCHEDULE_TIMEOUT, reason_timeout(gang, attempt_timeout(core, gang)));
    if (recovering) { /* it is partly bound, so it stays Recovering */
        pause_attempts(core, gang);
    } else {
        gang_timed_out(gang, true);
        back_off(core, gang);
    }
    emit_event(core, gang, KUBE_EVENT_TIMEOUT, gang->reason.text);
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
        [TIMER_PREEMPTION] = TRIGGER_LOOK_AGAIN,
    };
    usec_t again = gang->tried_at + core->config.reason_refresh;
    if (kind == TIMER_REFRESH && gang->marks.full && again > core->now) { /* it was tried since */
        timer_set(core, &gang->timers[kind], again);
        return;
    }
    if (kind == TIMER_UNASKED) { /* not a trigger, because it usually changes nothing */
        early_rejection_check(core, gang);
        return;
    }
    triggered(core, gang, what[kind]);
    gang_report(core, gang);
    switch (kind) {
    case TIMER_ATTEMPT:
        attempt_timed_out(core, gang);
        break;
    case TIMER_PREEMPTION:
        if (gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF ||
            gang->state == GANG_RECOVERING)
            gang_plan_again(gang);
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
        starvation_reached(gang);
        break;
    case TIMER_REFRESH:
        if (gang->state == GANG_WAITING)
            gang_plan_again(gang);
        break;
    case TIMER_EXTRAS:
        if (passes_singly(gang))
            slots_release(core, gang, REASON_SLOT_MOVED); /* extras did not use them */
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
    default: /* TIMER_EXPECTED, TIMER_STATUS: touching the gang is enough */
        break;
    }
}
