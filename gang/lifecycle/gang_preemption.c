/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/gang_preemption.h"

#include "gang/cluster/api_clock.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/eviction.h"
#include "gang/messages/preemption_text.h"
#include "gang/plan/min_resources_check.h"
#include "gang/plan/preemption.h"
#include "gang/plan/queue_check.h"
#include "gang/plan/victims.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"

/* The work of the first search for a gang, in scanned nodes: about 5 ms, and more for each needed
 * member. Each search without a result doubles it, up to about 30 ms. */
#define SEARCH_WORK            50000
#define SEARCH_WORK_PER_MEMBER 220
#define SEARCH_WORK_MAX        270000
/* How long after a search its victims are checked. Meanwhile, calls of kube-scheduler get
 * answers. */
#define CHECK_AFTER USEC_PER_MSEC
/* After this time, a decision that could not be checked is void. */
#define DECISION_LASTS USEC_PER_SEC
/* The pause before the next search for the same gang, which doubles up to the maximum. */
#define PAUSE_FIRST USEC_PER_SEC
#define PAUSE_MAX   (60 * USEC_PER_SEC)
/* The same after evictions whose room the gang did not use. */
#define UNUSED_FIRST (600 * USEC_PER_SEC)
#define UNUSED_MAX   (86400 * USEC_PER_SEC)
/* Searches for all gangs together take at most a tenth of the time: a unit of work takes 0.1 us. */
#define PAUSE_PER_WORK 1
/* How many gangs of a step are asked whether their queue may take room back. */
#define ASKED_PER_STEP 64
/* How often muster checks whether the room is still enough. */
#define CHECK_INTERVAL (5 * USEC_PER_SEC)

/* ---- waiting for evicted pods ---- */

bool gang_awaits_evicted(struct gang_core *core, struct gang *gang)
{
    if (!has_preempted_room(gang) || gang->marks.retry || !room_awaits_end(core, gang))
        return false;
    plan_not_due(core, gang, /* had_room= */ false);
    timer_set(core, &gang->timers[TIMER_PREEMPTION], core->now + CHECK_INTERVAL);
    return true;
}

/* Keeps room for the gang at these places, or with `at` NULL wherever it fits. */
static bool keep(struct gang_core *core, struct gang *gang, const struct places *at)
{
    if (at)
        room_keep_at(core, gang, at);
    else if (!room_keep(core, gang))
        return false;
    timer_set(core, &gang->timers[TIMER_PREEMPTION], core->now + CHECK_INTERVAL);
    return true;
}

/* If only plans were in the way, the gang is planned in this step. */
static bool keep_or_plan(struct gang_core *core, struct gang *gang, const struct places *at)
{
    if (!keep(core, gang, at))
        return false;
    if (!room_awaits_end(core, gang)) {
        gang_plan_again(gang);
        gang_touch(core, gang);
    }
    return true;
}

/* The plan has failed, although muster had kept room there. Keeps the same room again if it is
 * still enough and pods still have to leave it, or else other room. If no pod has to leave first,
 * the plan would fail again. */
static bool keep_on(struct gang_core *core, struct gang *gang, const struct places *had)
{
    if (!keep(core, gang, NULL))
        return false;
    struct places now = room_lift(core, gang);
    bool whole = had->n == now.n;
    if (whole)
        room_restore(core, gang, had);
    if (!whole || !room_awaits_end(core, gang)) {
        preempted_room_lift(core, gang);
        room_restore(core, gang, &now);
    }
    places_done(core, &now);
    if (room_awaits_end(core, gang))
        return true;
    preempted_room_lift(core, gang);
    return false;
}

void preemption_forget(struct gang_core *core, struct gang *gang)
{
    preempted_room_end(core, gang);
    timer_stop(core, &gang->timers[TIMER_PREEMPTION]);
    gang->preempting.tries = 0;
    gang->preempting.decision = 0;
    gang->preempting.none = false;
    gang->preempting.began = 0;
}

void preemption_planned(struct gang_core *core, struct gang *gang)
{
    gang->preempting.decision = 0;
    if (core->config.preemption && plan_takes_room(core, gang))
        gang_takes_room(core, gang, true);
}

void preemption_placed(struct gang_core *core, struct gang *gang)
{
    gang_takes_room(core, gang, false);
    gang->preempting.unused = 0;
    if (!gang->preempting.began)
        return;
    core->stats.preemptions_done++;
    core->stats.preemption_waits += core->now - gang->preempting.began;
    gang->preempting.won = core->outside + 1;
}

void preemption_unused(struct gang_core *core, struct gang *gang)
{
    if (!gang->takes_room)
        return;
    gang_takes_room(core, gang, false);
    gang->preempting.next =
        core->now + usec_backoff(UNUSED_FIRST, UNUSED_MAX, gang->preempting.unused++);
}

/* ---- eviction ---- */

static size_t evict_one(struct gang_core *core, struct pod *pod, const char *why)
{
    if (pod->gang) {
        triggered(core, pod->gang, TRIGGER_MEMBER_LOST);
        gang_touch(core, pod->gang);
    }
    eviction_request(core, pod, /* for_room= */ true, why);
    return 1;
}

static size_t evict_victim(struct gang_core *core, const struct victim *v, const char *why)
{
    if (v->pod)
        return evict_one(core, v->pod, why);
    v->gang->preempting.evicted = core->now;
    return evict_gang(core, v->gang, /* for_room= */ true, why);
}

/* Notes what the queues of the victims lose, for the limit on reclaim. */
static void note_losses(struct gang_core *core, const struct preemption *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct victim *v = &p->victims[i];
        if (v->take.branch && v->pod)
            queue_loses(core, v->take.branch, v->pod->signature);
        else if (v->take.branch)
            list_for_each (pod, &v->gang->members, struct pod, in_gang)
                if (pod_runs(pod))
                    queue_loses(core, v->take.branch, pod->signature);
    }
}

static void evict(struct gang_core *core, struct gang *gang, const struct preemption *p)
{
    note_losses(core, p);
    emit_preemption(core, gang, p);
    if (!gang->preempting.began)
        gang->preempting.began = core->now;
    gang_takes_room(core, gang, true);
    core->stats.preemptions++;
    core->stats.preempted_lost += (uint64_t)p->cost.lost;
    cleanup_free char *room =
        xasprintf("to make room for gang %s/%s", gang->head->ref.ns, gang->head->ref.name);
    for (size_t i = 0; i < p->n; i++) {
        const struct victim *v = &p->victims[i];
        evicted_count(core, v->take.branch ? GANG_PREEMPTION_RECLAIM : GANG_PREEMPTION_PRIORITY,
                      /* whole_gang= */ v->pod == NULL, evict_victim(core, v, room));
    }
}

/* ---- when a search begins ---- */

/* Whether more room might help the gang. */
static bool lacks_room(const struct gang *gang, const struct outcome *o)
{
    if (o->refusal || gang->n_slots || gang->expecting || gang->halted)
        return false;
    return evictions_may_help(o->code) &&
           (gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF ||
            gang->state == GANG_RECOVERING);
}

static bool nothing_is_lower(const struct gang_core *core, const struct gang *gang)
{
    int32_t most = gang->priority > gang->own_priority ? gang->priority : gang->own_priority;
    return most <= core->lowest_priority;
}

/* Whether the gang may be asked may_reclaim() in this step. At least half of ASKED_PER_STEP is for
 * gangs that were not asked in this round. A gang that is put off comes again after PAUSE_MAX, so
 * the round goes on until then. */
static bool may_be_asked(struct gang_core *core, struct gang *gang)
{
    struct core_preempting *p = &core->preempting;
    if (p->step != core->steps) {
        p->round += !p->crowded || core->now - p->crowded > PAUSE_MAX + PAUSE_FIRST;
        p->step = core->steps;
        p->asked = p->asked_again = 0;
    }
    bool again = gang->preempting.asked == p->round;
    if (p->asked == ASKED_PER_STEP || (again && p->asked_again == ASKED_PER_STEP / 2)) {
        if (!again)
            p->crowded = core->now;
        return false;
    }
    p->asked++;
    p->asked_again += again;
    gang->preempting.asked = p->round;
    return true;
}

static bool deserves_more(const struct gang_core *core, const struct gang *gang)
{
    return core->queues.root && gang->queue && queue_deserves_more(gang->queue);
}

/* Whether its queue deserves what it needs, so that it may take back what the queue has lent. */
static bool may_reclaim(struct gang_core *core, const struct gang *gang)
{
    struct reclaimed what;
    return deserves_more(core, gang) && gang_entitled(core, gang, &what);
}

void preemption_notice(struct gang_core *core)
{
    if (!core->config.preemption || !lower_priority_came(core))
        return;
    list_for_each (gang, &core->open, struct gang, in_open)
        if (gang->state == GANG_WAITING && !nothing_is_lower(core, gang)) {
            gang_plan_again(gang);
            gang_touch(core, gang);
        }
}

/* When the delay of the gang ends; in the past: it has none, or it is over. */
static usec_t end_of_delay(const struct gang_core *core, const struct gang *gang)
{
    usec_t end = 0;
    list_for_each (group, &gang->groups, struct group, in_gang) {
        usec_t delay = group->facts ? group->facts->preemption_delay : 0;
        if (!delay)
            continue;
        usec_t since = core->now - (api_time(core) - group->facts->created);
        since = gang->preempting.evicted > since ? gang->preempting.evicted : since;
        usec_t at = delay < USEC_NEVER / 2 ? since + delay : USEC_NEVER / 2;
        end = at > end ? at : end;
    }
    return end;
}

/* The gang does not search again for a while, whether it has searched or not: waiting gangs must
 * not all be planned again whenever one of them may search. */
static void pause_gang(struct gang_core *core, struct gang *gang)
{
    usec_t pause = PAUSE_FIRST << (gang->preempting.tries < 6 ? gang->preempting.tries : 6);
    gang->preempting.tries++;
    gang->preempting.next = core->now + (pause < PAUSE_MAX ? pause : PAUSE_MAX);
}

static int64_t search_limit(const struct gang *gang)
{
    int64_t limit = SEARCH_WORK + (int64_t)gang_needed(gang) * SEARCH_WORK_PER_MEMBER;
    for (int i = 0; i < gang->preempting.tries && limit < SEARCH_WORK_MAX; i++)
        limit *= 2;
    return limit < SEARCH_WORK_MAX ? limit : SEARCH_WORK_MAX;
}

static void decide(struct gang_core *core, struct gang *gang, const struct preemption *p)
{
    uint32_t decision = gang->preempting.decision = ++core->preempting.decisions;
    gang->preempting.n_victims = p->n;
    gang->preempting.decided_at = core->now;
    for (size_t i = 0; i < p->n; i++) {
        const struct victim *v = &p->victims[i];
        if (v->pod)
            v->pod->victim_of = decision;
        if (v->gang)
            *(v->pod ? &v->gang->preempting.loses_by : &v->gang->preempting.victim_of) = decision;
    }
}

static void delay_next_search(struct gang_core *core, int64_t work)
{
    usec_t from = core->preempting.next > core->now ? core->preempting.next : core->now;
    core->preempting.next = from + work * PAUSE_PER_WORK;
}

/* Evicts nobody: evictions would make this step longer, and events may wait that the search has not
 * seen. True: muster keeps room for the gang now. */
static bool search(struct gang_core *core, struct gang *gang)
{
    int64_t all = search_limit(gang), left = all;
    struct preemption p = preemption_search(core, gang, &left);
    core->stats.searches++;
    core->stats.searches_stopped += p.result == PREEMPTION_UNKNOWN;
    gang->preempting.none = p.result == PREEMPTION_NONE;
    pause_gang(core, gang);
    delay_next_search(core, all - left);
    /* All gangs that wait for the end of the rest are tried then, in their order. */
    if (p.resting && p.rests_until < gang->preempting.next)
        gang->preempting.next = p.rests_until;
    if (p.complete)
        lowest_priority_is(core, p.lowest);
    if (p.result == PREEMPTION_FOUND)
        decide(core, gang, &p);
    bool kept = p.result == PREEMPTION_LEAVING && p.may_hit_some && keep_or_plan(core, gang, NULL);
    preemption_done(core, &p);
    return kept;
}

/* Evicts the victims of the decision, if they are still enough and needed. True: muster keeps room
 * for the gang now. */
static bool carry_out(struct gang_core *core, struct gang *gang)
{
    int64_t all = SEARCH_WORK_MAX, left = all;
    struct preemption p = preemption_check(core, gang, &left);
    gang->preempting.decision = 0;
    delay_next_search(core, all - left);
    bool found = p.result == PREEMPTION_FOUND;
    if (found)
        evict(core, gang, &p);
    bool room = found || p.result == PREEMPTION_LEAVING;
    bool kept = room && keep_or_plan(core, gang, found ? &p.places : NULL);
    preemption_done(core, &p);
    return kept;
}

bool gang_preempts(struct gang_core *core, struct gang *gang, const struct outcome *o,
                   const struct places *had)
{
    if (!core->config.preemption || !lacks_room(gang, o) || !gang_may_preempt(gang))
        return false;
    if (had->n && keep_on(core, gang, had))
        return true;
    core->stats.preemptions_spoiled += had->n > 0;
    if (had->n && min_resources_exceed_members(core, gang)) /* others took what was not kept */
        preemption_unused(core, gang);
    if (gang_has_won(core, gang)) {
        timer_set(core, &gang->timers[TIMER_PREEMPTION], core->now + PAUSE_MAX);
        return false;
    }
    if (nothing_is_lower(core, gang) && !(gang->queue && gang->queue->facts))
        return false;
    usec_t delay = end_of_delay(core, gang);
    if (delay > core->now) {
        timer_set(core, &gang->timers[TIMER_PREEMPTION], delay);
        return false;
    }
    if (core->now - gang->preempting.decided_at > DECISION_LASTS)
        gang->preempting.decision = 0;
    if (gang->preempting.decision && core->now - gang->preempting.decided_at < CHECK_AFTER)
        return true;
    if (gang->preempting.decision && carry_out(core, gang))
        return true;
    bool lower = !nothing_is_lower(core, gang), asked = false, later = false, passed = false;
    bool paused = core->now < gang->preempting.next;
    if (!paused) {
        later = core->now < core->preempting.next;
        passed = !later && !lower && !may_be_asked(core, gang);
        asked = !later && !passed && (lower || may_reclaim(core, gang));
        if (asked && search(core, gang))
            return true;
        if (!asked) /* its pause does not grow, so that it comes before gangs that have searched */
            gang->preempting.next = core->now + PAUSE_FIRST;
    }
    if (gang->preempting.decision) {
        timer_set(core, &gang->timers[TIMER_PREEMPTION], core->now + CHECK_AFTER);
        return true;
    }
    /* Otherwise, only a change can help, which plans it again. */
    if (lower || asked || later || (paused && deserves_more(core, gang)))
        timer_set(core, &gang->timers[TIMER_PREEMPTION], gang->preempting.next);
    else if (passed && deserves_more(core, gang))
        timer_set(core, &gang->timers[TIMER_PREEMPTION], core->now + PAUSE_MAX);
    return false;
}
