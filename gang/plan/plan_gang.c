/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/plan_gang.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/timers.h"
#include "gang/plan/min_resources_check.h"
#include "gang/plan/placement.h"
#include "gang/plan/shortage.h"
#include "gang/plan/shortage_cache.h"
#include "gang/plan/starvation.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"

/* ---- no plan ---- */

/* Planning failed; the gang has no slots left. */
static void plan_failed(struct gang_core *core, struct gang *gang)
{
    core->stats.plans_failed++;
    gang->tried = core->marks.clock;
    nominations_clear(core, gang); /* also those from before a restart */
    if (gang->state == GANG_PLANNED)
        gang_enter(core, gang, gang_without_plan(gang));
    timer_set(core, &gang->timers[TIMER_REFRESH], core->now + core->config.reason_refresh);
}

/* `gated`: its minResources are not free. */
static void update_earmark(struct gang_core *core, struct gang *gang, const struct shortage *s,
                           bool gated)
{
    enum gang_reason_code code = s->culprit ? shortage_code(s) : REASON_NONE;
    bool between = code == REASON_KEPT_APART || code == REASON_SPREAD; /* on some nodes */
    bool refused = code == REASON_REFUSED_BY_SCHEDULER; /* some nodes, and the others are full */
    bool capacity =
        code == REASON_NOT_ENOUGH_RESOURCES || gated || ((between || refused) && s->resource != -1);
    if (!gang->expecting && (core->config.strict_order || (gang->starved && capacity)))
        earmark_for_starved(core, gang);
    else
        earmark_end(core, gang);
}

/* ---- one gang ---- */

struct outcome plan_gang(struct gang_core *core, struct gang *gang)
{
    struct outcome o = {.result = PLAN_UNTRIED};
    int slots = gang->n_slots;
    bool news =
        !gang->marks.retry || gang->marks.step != core->steps || gang->tried < core->marks.freed;
    if (news && gang->state != GANG_COMMITTING)
        triggered(core, gang, TRIGGER_ROOM_MORE);
    gang_plan_begins(gang);
    if (gang_lacks(core, gang, STAGE_REACHABLE) > 0 && !gang->expecting)
        return o; /* reconcile() has set the reason */
    gang->tried_at = core->now;
    gang->tried = core->marks.clock;
    core->planned_in = core->steps;
    o.below = min_resources_short(core, gang);
    bool free = !o.below.group;
    bool done = place_gang(core, gang, free, &o.shortage) && free;
    if (!done && gang->n_slots) { /* the gang's own slots may be in the way */
        plan_drop(core, gang, REASON_SLOT_MOVED);
        slots = 0;
        done = place_gang(core, gang, true, &o.shortage);
    }
    if (done) {
        bool on_its_way = gang->state == GANG_PLANNED || gang->state == GANG_RECOVERING ||
                          gang->state == GANG_COMMITTING;
        bool made = gang->n_slots > slots || (gang->n_slots && !on_its_way);
        o.result = made ? PLAN_MADE : PLAN_STANDS;
    } else {
        o.result = PLAN_FAILED;
        o.code = o.shortage.culprit ? shortage_code(&o.shortage)
                 : free             ? REASON_NONE
                                    : REASON_MIN_RESOURCES;
        plan_failed(core, gang);
    }
    return o;
}

void plan_failure_emitted(struct gang_core *core, struct gang *gang, const struct outcome *o)
{
    if (gang->marks.full && min_resources_exceed_members(core, gang))
        gang_has_known_shortage(gang, NULL, 0, 0);
    update_earmark(core, gang, &o->shortage, o->below.group != NULL);
}

/*
 * Many gangs wait for the same capacity. The shortage that one of them found is valid for all with
 * equal members. If it is also the one they found last, planning them again is useless: each
 * waiting gang costs one lookup.
 */
bool plan_still_fails(struct gang_core *core, struct gang *gang)
{
    if (gang->marks.retry || gang->starved || core->config.strict_order ||
        !shortage_still_holds(core, gang))
        return false;
    triggered(core, gang, TRIGGER_ROOM_MORE);
    core->stats.plans_failed++;
    gang->tried = core->marks.clock;
    gang->tried_at = core->now;
    return true;
}

void plan_not_due(const struct gang_core *core, struct gang *gang, bool had_room)
{
    gang->tried = had_room ? UINT64_MAX : core->marks.clock;
}

/* ---- all gangs ---- */

static bool to_be_planned(const struct gang_core *core, const struct gang *gang)
{
    switch (gang->state) {
    case GANG_ASSEMBLING:
        if (!gang->expecting)
            return false;
        break;
    case GANG_COMMITTING:
        return gang->marks.retry && !gang->halted;
    case GANG_WAITING:
    case GANG_BACKED_OFF:
    case GANG_PLANNED:
    case GANG_RECOVERING:
        break;
    default:
        return false;
    }
    if (gang->halted)
        return false;
    if (gang->marks.retry)
        return true;
    return !gang->n_slots && gang->tried < core->marks.freed;
}

static void add_due(const struct gang_core *core, struct due *due, struct gang *gang)
{
    if (!to_be_planned(core, gang))
        return;
    GROW(due->items, due->cap, due->n + 1);
    due->items[due->n++] = gang;
}

/* Gangs are usually in order already. */
static void put_in_order(struct due *due)
{
    size_t i = 1;
    while (i < due->n && by_order(&due->items[i - 1], &due->items[i]) < 0)
        i++;
    if (i < due->n)
        qsort(due->items, due->n, sizeof *due->items, by_order);
}

bool plan_is_deferred(const struct gang_core *core, const struct gang *gang)
{
    return core->plans_deferred && to_be_planned(core, gang);
}

/* The next step first takes the calls and events that arrived meanwhile. A gang with slots, or one
 * that has just lost them, is never deferred. */
bool plan_defer(struct gang_core *core, const struct gang *gang)
{
    bool begun = gang->n_slots || gang->state == GANG_PLANNED || gang->state == GANG_COMMITTING;
    if (core->work < core->config.plan_work || core->planned_in != core->steps || begun)
        return false;
    if (!core->plans_deferred)
        timer_set(core, &core->due.plan, core->now + 1);
    core->plans_deferred = true;
    return true;
}

/* All open gangs if room grew or plans were deferred, else the touched ones: any other reason to
 * plan a gang again touches it. */
void plans_due(struct gang_core *core, struct due *due)
{
    bool all = core->plan_pass_freed != core->marks.freed || core->plans_deferred;
    core->plan_pass_freed = core->marks.freed;
    core->plans_deferred = false;
    order_settle(core);
    if (all)
        list_for_each (gang, &core->open, struct gang, in_open)
            add_due(core, due, gang);
    else
        list_for_each (gang, &core->touched, struct gang, marks.in_touched)
            add_due(core, due, gang);
    put_in_order(due);
}
