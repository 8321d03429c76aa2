/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/plan_pass.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/gate_lifting.h"
#include "gang/lifecycle/reconcile.h"
#include "gang/lifecycle/steering.h"
#include "gang/messages/reason_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/plan_gang.h"
#include "gang/plan/shortage.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_state.h"

/* Sets why the gang waits. Takes the text and the help text, which may be NULL. */
static void explain(struct gang_core *core, struct gang *gang, enum gang_reason_code code,
                    char *text, char *help)
{
    bool first = gang->reason.code != code;
    if (!reason_set_help(gang, code, text, help))
        return;
    gang_touch(core, gang);
    if (!first)
        return;
    emit_event(core, gang, true, "Unschedulable", gang->reason.text);
    timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

static void steer_placed(struct gang_core *core, const struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod)
            steer(core, slot->pod);
}

static void announce(struct gang_core *core, struct gang *gang)
{
    core->stats.plans_made++;
    gates_note(core, gang, REASON_NONE);
    early_rejection_watch(core, gang);
    if (gang->state == GANG_COMMITTING) { /* a plan for refused members; the commit goes on */
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

/* Reports the members' shortage. minResources that are not free are reported if there is no
 * shortage, and beside it if they exceed what the members need. */
static void explain_failure(struct gang_core *core, struct gang *gang, const struct outcome *o)
{
    const struct shortage *s = &o->shortage;
    const struct min_short *below = &o->below;
    if (gang->state == GANG_BACKED_OFF || gang->state == GANG_COMMITTING || !o->code)
        return; /* the reason is set already, or there is none */
    cleanup_free char *min =
        below->group ? reason_min_resources(below->group, below->min, below->room) : NULL;
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

static void attempt(struct gang_core *core, struct gang *gang)
{
    struct outcome o = plan_gang(core, gang);
    if (o.result == PLAN_MADE)
        announce(core, gang);
    if (o.result == PLAN_MADE || o.result == PLAN_STANDS)
        nominations_clear(core, gang); /* of extras that have lost their place */
    else if (o.result == PLAN_FAILED)
        announce_failure(core, gang, &o);
}

/* The shortage cache shows that planning would fail again: the gang is not tried. */
static bool waits_still(struct gang_core *core, struct gang *gang)
{
    if (!plan_still_fails(core, gang))
        return false;
    gates_note(core, gang, shortage_code(&gang->marks.full->fill.shortage));
    return true;
}

/* With strict order no gang passes the first one that waits. */
static bool is_behind(struct gang_core *core, struct gang *gang)
{
    if (!core->config.strict_order || !gang_respects_earmark(core, gang) || gang->n_slots)
        return false;
    plan_not_due(core, gang, /* had_room= */ false);
    gates_note(core, gang, REASON_BEHIND);
    if (gang->state == GANG_PLANNED) /* it has lost its slots */
        gang_enter(core, gang, gang_without_plan(gang));
    if (gang->state != GANG_BACKED_OFF && !gang->expecting)
        explain(core, gang, REASON_BEHIND, reason_behind(gang), NULL);
    return true;
}

/*
 * Planning in a step ends with the gang that exceeds config.plan_work. However many gangs are due
 * and whatever their rules cost, a call waits for the work of one step and one gang at most.
 */
void plan_pass(struct gang_core *core)
{
    struct due due = {NULL, 0, 0};
    plans_due(core, &due);
    for (size_t i = 0; i < due.n; i++)
        if (!waits_still(core, due.items[i]) && !plan_defer(core, due.items[i]) &&
            !is_behind(core, due.items[i]))
            attempt(core, due.items[i]);
    free(due.items);
}
