/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/plan_gang.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/timers.h"
#include "gang/plan/min_resources_check.h"
#include "gang/plan/placement.h"
#include "gang/plan/queue_check.h"
#include "gang/plan/shortage.h"
#include "gang/plan/shortage_cache.h"
#include "gang/plan/starvation.h"
#include "gang/podgroup/costly_gangs.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

/* ---- no plan ---- */

/* Planning has failed, and the gang has no slots any more. */
static void plan_failed(struct gang_core *core, struct gang *gang)
{
    core->stats.plans_failed++;
    gang->tried = core->marks.clock;
    nominations_clear(core, gang); /* including those from before a restart */
    if (gang->state == GANG_PLANNED)
        gang_enter(core, gang, gang_without_plan(gang));
    timer_set(core, &gang->timers[TIMER_REFRESH], core->now + core->config.reason_refresh);
}

/* Gives the gang the earmark if it starves for capacity. If a rule between pods or kube-scheduler
 * rules out some nodes, it starves for capacity only if other nodes are full (s->resource). A gang
 * that its queue stops has no claim to nodes. */
static void update_earmark(struct gang_core *core, struct gang *gang, const struct outcome *o)
{
    const struct shortage *s = &o->shortage;
    bool gated = o->below.group != NULL; /* its minResources are not free */
    enum gang_reason_code code = s->culprit ? shortage_code(s) : REASON_NONE;
    bool between = code == REASON_KEPT_APART || code == REASON_SPREAD;
    bool refused = code == REASON_REFUSED_BY_SCHEDULER;
    bool capacity =
        code == REASON_NOT_ENOUGH_RESOURCES || gated || ((between || refused) && s->resource != -1);
    bool stopped = o->refusal || s->queue.queue;
    if (!stopped && !gang->expecting &&
        (core->config.strict_order || (capacity && (gang->starved || queue_owes_room(core, gang)))))
        earmark_for_starved(core, gang);
    else
        earmark_end(core, gang);
}

/* ---- one gang ---- */

/* A gang that has begun goes on, whatever its queue takes now. */
static enum gang_reason_code refusal_of(const struct gang_core *core, const struct gang *gang)
{
    return gang->n_slots || gang_began_commit(gang) ? REASON_NONE : queue_refuses_gang(core, gang);
}

static void tried_now(const struct gang_core *core, struct gang *gang)
{
    gang->tried = core->marks.clock;
    gang->tried_at = core->now;
    gang->pass = core->plan_pass;
}

/* A gang that has slots, or has just lost them, is not deferred. */
static bool has_begun(const struct gang *gang)
{
    return gang->n_slots || gang->state == GANG_PLANNED || gang->state == GANG_COMMITTING;
}

/* A gang that its queue can never hold earns no credit for the queue. */
static void note_excess(struct gang_core *core, struct gang *gang, const struct outcome *o)
{
    const struct queue_short *s = &o->shortage.queue;
    bool exceeds = o->result == PLAN_FAILED && !o->refusal && o->shortage.queue_alone &&
                   s->code != REASON_QUEUE_RESERVED && s->need > s->limit;
    if (exceeds == gang->exceeds_queue)
        return;
    gang->exceeds_queue = exceeds;
    queue_want_changed(core, gang->queue);
}

/* Places the gang, or finds out why it cannot be placed. */
static struct outcome try_gang(struct gang_core *core, struct gang *gang)
{
    struct outcome o = {.result = PLAN_UNTRIED};
    int slots = gang->n_slots;
    bool news =
        !gang->marks.retry || gang->marks.step != core->steps || gang->tried < core->marks.freed;
    if (news && gang->state != GANG_COMMITTING)
        triggered(core, gang, TRIGGER_ROOM_MORE);
    gang_plan_begins(gang);
    if (gang_lacks(core, gang, STAGE_REACHABLE) > 0 && !gang->expecting)
        return o; /* reconcile() sets the reason */
    tried_now(core, gang);
    if (!has_begun(gang))
        core->planned_in = core->steps;
    o.refusal = refusal_of(core, gang);
    if (o.refusal) {
        o.result = PLAN_FAILED;
        o.code = o.refusal;
        plan_failed(core, gang);
        return o;
    }
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
        costly_gang_end(core, gang);
    } else {
        o.result = PLAN_FAILED;
        o.refusal = refusal_of(core, gang); /* it may have lost its plan */
        o.code = o.refusal            ? o.refusal
                 : o.shortage.culprit ? shortage_code(&o.shortage)
                 : free               ? REASON_NONE
                                      : REASON_MIN_RESOURCES;
        plan_failed(core, gang);
        if (o.shortage.stopped)
            costly_gang_begin(core, gang, o.code);
    }
    return o;
}

struct outcome plan_gang(struct gang_core *core, struct gang *gang)
{
    struct outcome o = try_gang(core, gang);
    if (o.result != PLAN_UNTRIED)
        note_excess(core, gang, &o);
    return o;
}

void plan_failure_emitted(struct gang_core *core, struct gang *gang, const struct outcome *o)
{
    if (o->shortage.queue_alone &&
        (o->code == REASON_QUEUE_LIMIT || o->code == REASON_QUEUE_DESERVED))
        gang_stopped_by_queue(gang); /* after the report, which touches the gang */
    if (gang->marks.full && min_resources_exceed_members(core, gang))
        gang_has_known_shortage(gang, NULL, 0, 0);
    update_earmark(core, gang, o);
}

/*
 * Many gangs may wait for the same capacity. A shortage of one gang is valid for all gangs with
 * equal members. If the gang's last plan failed with the shortage that is still cached, planning
 * again would fail too. So each waiting gang costs only this check.
 */
bool plan_still_fails(struct gang_core *core, struct gang *gang)
{
    bool by_nodes =
        !gang->starved && !core->config.strict_order && shortage_still_holds(core, gang);
    bool still = gang->marks.queue_full ? queue_still_stops(core, gang) : by_nodes;
    if (gang->marks.retry || !still || queue_refuses_gang(core, gang))
        return false;
    triggered(core, gang, TRIGGER_ROOM_MORE);
    core->stats.plans_failed++;
    tried_now(core, gang);
    return true;
}

void plan_not_due(const struct gang_core *core, struct gang *gang, bool had_room)
{
    gang->tried = had_room ? UINT64_MAX : core->marks.clock;
    gang->pass = core->plan_pass;
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

/* queue_picks.h orders gangs of different queues, so they need no order here; their queues only
 * keep them apart. Gangs with an unfinished commit go before all queues, in order. */
static int by_queue(const void *a, const void *b)
{
    const struct gang *g = *(struct gang *const *)a, *h = *(struct gang *const *)b;
    uintptr_t x = (uintptr_t)queue_of_gang(g->core, g), y = (uintptr_t)queue_of_gang(h->core, h);
    if (x == y || gang_began_commit(g) || gang_began_commit(h))
        return by_order(a, b);
    return x < y ? -1 : 1;
}

/* Sorts the gangs, which are usually in order already. */
static void put_in_order(struct due *due)
{
    size_t i = 1;
    while (i < due->n && by_queue(&due->items[i - 1], &due->items[i]) < 0)
        i++;
    if (i < due->n)
        qsort(due->items, due->n, sizeof *due->items, by_queue);
}

bool plan_is_deferred(const struct gang_core *core, const struct gang *gang)
{
    return core->plans_deferred && to_be_planned(core, gang);
}

bool plans_wait(const struct gang_core *core)
{
    return core->plans_wait == core->steps;
}

bool plan_is_full(const struct gang_core *core)
{
    return core->work >= core->config.plan_work &&
           (core->planned_in == core->steps || plans_wait(core));
}

/* Before it plans the deferred gangs, the next step takes the calls and events that have arrived
 * meanwhile. */
bool plan_defer(struct gang_core *core, const struct gang *gang)
{
    bool untried = gang->pass != core->plan_pass;
    if (has_begun(gang) || (!plan_is_full(core) && (untried || !core->untried_only)))
        return false;
    if (!core->plans_deferred)
        timer_set(core, &core->due.plan, core->now + 1);
    core->plans_deferred = true;
    core->untried_deferred |= untried;
    return true;
}

/* While room keeps growing, the first gangs in the order are due again in each step. If they use up
 * its work, every other step that plans goes on with the gangs that the pass has not tried. */
static void continue_pass(struct gang_core *core)
{
    if (core->plans_step == core->steps)
        return;
    core->plans_step = core->steps;
    if (plans_wait(core))
        return;
    core->plan_pass += !core->untried_deferred;
    core->untried_only = core->untried_deferred && !core->untried_only;
    core->untried_deferred = false;
}

static void add_due(struct gang_core *core, struct due *due, struct gang *gang)
{
    if (!to_be_planned(core, gang) || (plan_is_full(core) && plan_defer(core, gang)))
        return;
    GROW(due->items, due->cap, due->n + 1);
    due->items[due->n++] = gang;
}

/* Whether all open gangs are checked: room grew or gangs were deferred. If this step has deferred
 * gangs, the next one checks all. */
static bool all_may_be_due(struct gang_core *core)
{
    if (core->plans_step == core->steps && core->plans_deferred && plan_is_full(core))
        return false;
    bool all = core->plan_pass_freed != core->marks.freed || core->plans_deferred;
    core->plan_pass_freed = core->marks.freed;
    core->plans_deferred = false;
    return all;
}

/* Of two steps in a row, at most one waits, so other work cannot stop planning. */
void plans_begin(struct gang_core *core)
{
    bool first = core->planned_in != core->steps && core->plans_wait + 1 < core->steps;
    if (first && core->work >= core->config.plan_work)
        core->plans_wait = core->steps;
}

/* Else it checks the touched gangs only, because any other reason to plan a gang touches it. */
void plans_due(struct gang_core *core, struct due *due)
{
    if (!plans_wait(core))
        order_settle(core);
    bool all = all_may_be_due(core);
    continue_pass(core);
    if (all)
        list_for_each (gang, &core->open, struct gang, in_open)
            add_due(core, due, gang);
    else
        list_for_each (gang, &core->touched, struct gang, marks.in_touched)
            add_due(core, due, gang);
    put_in_order(due);
}
