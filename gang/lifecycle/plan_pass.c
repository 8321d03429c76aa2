/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/plan_pass.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/step_work.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/gang_preemption.h"
#include "gang/lifecycle/gate_lifting.h"
#include "gang/lifecycle/reconcile.h"
#include "gang/lifecycle/steering.h"
#include "gang/messages/preemption_text.h"
#include "gang/messages/queue_text.h"
#include "gang/messages/reason_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/plan_gang.h"
#include "gang/plan/queue_picks.h"
#include "gang/plan/shortage.h"
#include "gang/podgroup/costly_gangs.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_state.h"
#include "gang/queue/fair_share.h"

/* Sets the reason, and reports it if it is news: members get it, but not each new amount in its
 * text. The gang owns the texts from now on; help may be NULL. */
static void explain(struct gang_core *core, struct gang *gang, enum gang_reason_code code,
                    char *text, char *help)
{
    bool news = reason_is_news(gang, code), same_code = gang->reason.code == code;
    if (!reason_set_help(gang, code, text, help))
        return;
    gang_report(core, gang);
    if (!news)
        return;
    if (same_code)
        member_reasons_forget(gang);
    emit_event(core, gang, KUBE_EVENT_WAITS, gang->reason.text);
    timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

static void steer_placed(struct gang_core *core, const struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod)
            steer(core, slot->pod);
}

/* Planning has succeeded. */
static void announce(struct gang_core *core, struct gang *gang)
{
    core->stats.plans_made++;
    gates_note(core, gang, REASON_NONE);
    early_rejection_watch(core, gang);
    if (gang->state == GANG_COMMITTING) { /* the plan is for refused members; the commit goes on */
        gang_touch(core, gang);
        steer_placed(core, gang);
        return;
    }
    earmark_end(core, gang);
    gang_timed_out(gang, false);
    if (gang->state == GANG_RECOVERING)
        begin_attempt(core, gang);
    else
        gang_enter(core, gang, GANG_PLANNED);
    gang_touch(core, gang);
    reason_set(gang, REASON_PLANNED, xstrdup(""));
    pod_text_forget(gang);
    timer_stop(core, &gang->timers[TIMER_NOTICE]);
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    steer_placed(core, gang);
}

/* Reports the members' shortage. minResources that are not free are reported only if the members
 * have no shortage, or if they exceed what the members need. */
static void explain_failure(struct gang_core *core, struct gang *gang, const struct outcome *o)
{
    const struct shortage *s = &o->shortage;
    const struct min_short *below = &o->below;
    if (gang->state == GANG_BACKED_OFF || gang->state == GANG_COMMITTING || !o->code)
        return; /* the gang keeps its reason, or there is none */
    if (o->refusal) {
        explain(core, gang, o->code, reason_queue(gang, o->code), NULL);
        return;
    }
    if (s->queue.queue) {
        explain(core, gang, o->code, reason_queue_short(core, gang, &s->queue), NULL);
        return;
    }
    cleanup_free char *min = below->group ? reason_min_resources(below) : NULL;
    if (!s->culprit) {
        explain(core, gang, o->code, STEAL(min), NULL);
        return;
    }
    char *text = reason_shortage(core, gang, s);
    if (min && below->more) {
        char *both = xasprintf("%s; %s", text, min);
        free(text);
        text = both;
    }
    explain(core, gang, o->code, text, reason_help(core, gang, s));
}

static void announce_failure(struct gang_core *core, struct gang *gang, const struct outcome *o)
{
    gates_note(core, gang, o->code);
    explain_failure(core, gang, o);
    plan_failure_emitted(core, gang, o);
}

/* muster keeps room for the gang. If no pod has to leave it, the gang is planned in this step. */
static void announce_eviction(struct gang_core *core, struct gang *gang)
{
    if (!room_awaits_end(core, gang))
        return;
    gates_note(core, gang, REASON_EVICTING);
    explain(core, gang, REASON_EVICTING, reason_evicting(gang), NULL);
}

/* To try a gang and to report the result takes as long as this many scanned nodes. */
#define WORK_PER_GANG 50

static void attempt(struct gang_core *core, struct gang *gang)
{
    if (gang_awaits_evicted(core, gang))
        return;
    step_work_spend(core, WORK_PER_GANG);
    struct places had = room_lift(core, gang);
    struct outcome o = plan_gang(core, gang);
    if (o.result == PLAN_MADE && had.n) { /* it could not begin before */
        timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
        begin_attempt(core, gang);
    }
    if (o.result == PLAN_MADE) {
        preemption_planned(core, gang);
        announce(core, gang);
    }
    if (o.result == PLAN_MADE || o.result == PLAN_STANDS)
        nominations_clear(core, gang); /* of extras that have lost their slots */
    else if (o.result == PLAN_FAILED && gang_preempts(core, gang, &o, &had))
        announce_eviction(core, gang);
    else if (o.result == PLAN_FAILED)
        announce_failure(core, gang, &o);
    if (had.n && !room_is(gang, &had))
        room_grew(core); /* where the gang got no slot, or less room than before */
    places_done(core, &had);
    if (!has_preempted_room(gang))
        preempted_room_end(core, gang);
}

/* Whether the gang's last plan was stopped, and muster does not plan it again yet. */
static bool waits_as_costly(struct gang_core *core, struct gang *gang)
{
    if (!costly_gang_waits(gang))
        return false;
    if (costly_gang_needs_reason(gang))
        explain(core, gang, REASON_PLAN_TOO_LARGE, reason_costly(gang), NULL);
    return true;
}

/* Whether the shortage cache shows that planning would fail again. */
static bool waits_still(struct gang_core *core, struct gang *gang)
{
    if (has_preempted_room(gang) || !plan_still_fails(core, gang))
        return false;
    gates_note(core, gang,
               gang->marks.queue_full ? REASON_QUEUE_LIMIT
                                      : shortage_code(&gang->marks.full->fill.shortage));
    return true;
}

/* Whether the gang must wait for gangs ahead of it: with strict order, or in a queue that is first
 * in, first out. */
static bool is_behind(struct gang_core *core, struct gang *gang)
{
    bool strict = core->config.strict_order && gang_respects_earmark(core, gang) && !gang->n_slots;
    if (!strict && !queue_picks_blocker(core, gang))
        return false;
    plan_not_due(core, gang, /* had_room= */ false);
    preempted_room_end(core, gang);
    gates_note(core, gang, REASON_BEHIND);
    if (gang->state == GANG_PLANNED) /* it has lost its plan */
        gang_enter(core, gang, gang_without_plan(gang));
    if (gang->state != GANG_BACKED_OFF && !gang->expecting)
        explain(core, gang, strict ? REASON_BEHIND : REASON_QUEUE_BEHIND,
                strict ? reason_behind(gang) : reason_queue_behind(gang), NULL);
    return true;
}

/* When the step has done all the planning that it may: leaves out the gangs for the next step, so
 * that they are not picked one by one. */
static void defer_rest(struct gang_core *core, struct queue_picks *picks)
{
    struct due rest = queue_picks_rest(picks);
    size_t n = 0;
    for (size_t i = 0; i < rest.n; i++)
        if (!plan_defer(core, rest.items[i]))
            rest.items[n++] = rest.items[i];
    rest.n = n;
    *picks = queue_picks_begin(core, rest);
}

/*
 * Planning in a step ends with the gang that exceeds config.plan_work. So a call waits at most for
 * this work and for one more gang, no matter how many gangs are due and what their rules cost.
 */
void plan_pass(struct gang_core *core)
{
    struct due due = {NULL, 0, 0};
    plans_begin(core);
    if (!plans_wait(core))
        shares_update(core);
    rooms_count_in_queues(core);
    preemption_notice(core);
    plans_due(core, &due);
    struct queue_picks picks = queue_picks_begin(core, due);
    bool full = false;
    for (struct gang *gang; (gang = queue_picks_next(core, &picks)) != NULL;) {
        if (!waits_as_costly(core, gang) && !waits_still(core, gang) && !plan_defer(core, gang) &&
            !is_behind(core, gang))
            attempt(core, gang);
        if (!full && plan_is_full(core))
            defer_rest(core, &picks);
        full = plan_is_full(core);
    }
    queue_picks_end(&picks);
}
