/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.c - a gang from its first member to Done.
 *
 *   1. It exists as soon as a PodGroup or a linked pod is seen, and is forgotten when neither is.
 *   2. Whatever happens to its facts, members or bindings touches it; review() then derives the
 *      state from what is true. Only planning (plan.c), commit (bind.c) and the timers here make
 *      a state from a decision.
 *   3. An attempt begins when enough members exist and ends when the gang is Placed, or by
 *      timeout: Planned and Waiting gangs then back off. A Recovering gang has no timeout.
 */
#include <inttypes.h>

#include "gang/core.h"

/* A minimum beyond this is a typing mistake, not a gang. */
#define MEMBERS_MAX INT64_C(1000000)
/* A timeout beyond a year is none. */
#define TIMEOUT_MAX (365 * 24 * 3600 * USEC_PER_SEC)

/* ---- timers ---- */

void timer_set(struct gang_core *core, struct timer *t, usec_t at)
{
    heap_set(&core->timers, &t->node, at);
}

void timer_stop(struct gang_core *core, struct timer *t)
{
    heap_remove(&core->timers, &t->node);
}

/* ---- existence ---- */

static char *ref_key(const struct gang_ref *ref)
{
    return xasprintf("%s/%s/%s", ref->api_group, ref->ns, ref->name);
}

struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref)
{
    cleanup_free char *key = ref_key(ref);
    return map_get(&core->gangs, key);
}

struct gang *gang_get(struct gang_core *core, const struct gang_ref *ref)
{
    struct gang *gang = gang_find(core, ref);
    if (gang)
        return gang;
    gang = xcalloc(1, sizeof *gang);
    gang->key = ref_key(ref);
    gang->ref = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    gang->state = GANG_ASSEMBLING;
    gang->since = core->now;
    gang->reason.text = xstrdup("");
    list_init(&gang->members);
    list_init(&gang->slots);
    list_init(&gang->in_touched);
    for (int i = 0; i < GANG_TIMERS; i++) {
        gang->timers[i].kind = (enum timer_kind)i;
        gang->timers[i].owner = gang;
    }
    map_set(&core->gangs, gang->key, gang);
    return gang;
}

void gang_drop(struct gang_core *core, struct gang *gang)
{
    for (int i = 0; i < GANG_TIMERS; i++)
        timer_stop(core, &gang->timers[i]);
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        slot_free(core, slot);
    evidence_forget(core, gang);
    list_remove(&gang->in_touched);
    map_remove(&core->gangs, gang->key);
    gang_group_facts_free(gang->facts);
    free(gang->ref.api_group);
    free(gang->ref.ns);
    free(gang->ref.name);
    free(gang->reason.text);
    free(gang->pod_text);
    free(gang->key);
    free(gang);
}

/* What was decided for, and told to, one PodGroup object does not bind the next of its name. */
static void forget_object(struct gang *gang)
{
    gang->ever_placed = gang->timed_out = false;
    gang->told_words = gang->told_figures = gang->told_text = 0;
}

void take_group(struct gang_core *core, struct gang_group_facts *facts)
{
    struct gang *gang = gang_get(core, &facts->ref);
    bool changed = !gang->facts || gang->facts->min_member != facts->min_member ||
                   gang->facts->has_priority != facts->has_priority ||
                   gang->facts->priority != facts->priority ||
                   gang->facts->schedule_timeout != facts->schedule_timeout ||
                   !str_eq(gang->facts->uid, facts->uid);
    if (gang->facts && !str_eq(gang->facts->uid, facts->uid))
        forget_object(gang); /* another object of the same name */
    gang_group_facts_free(gang->facts);
    gang->facts = facts;
    if (!changed) /* most likely our own status write */
        return;
    gang->retry = true;
    gang_touch(core, gang);
}

void take_group_gone(struct gang_core *core, const struct gang_ref *ref)
{
    struct gang *gang = gang_find(core, ref);
    if (!gang)
        return;
    gang->facts = gang_group_facts_free(gang->facts);
    forget_object(gang);
    gang_touch(core, gang);
}

/* ---- counting ---- */

int gang_needed(const struct gang *gang)
{
    /* minMember 0 asks for nothing together: a gang of one, and the others are extras. */
    int64_t min = gang->facts ? gang->facts->min_member : 1;
    return min < 1 ? 1 : min > MEMBERS_MAX ? (int)MEMBERS_MAX : (int)min;
}

static void count_unbound(const struct gang_core *core, const struct pod *pod, struct tally *t)
{
    if (pod->facts->n_gates) {
        t->gated++;
        t->gate = pod->facts->gates[0];
    } else if (!pod_is_ours(core, pod)) {
        t->foreign++;
        t->scheduler = pod->facts->scheduler;
    } else {
        t->plannable++;
        t->held += pod->held;
    }
}

struct tally tally(const struct gang_core *core, const struct gang *gang)
{
    struct tally t = {0};
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        t.failed += pod->facts->phase == PHASE_FAILED;
        if (!pod_counts(pod))
            continue;
        t.members++;
        t.running += pod->facts->phase == PHASE_RUNNING;
        t.succeeded += pod->facts->phase == PHASE_SUCCEEDED;
        if (pod->facts->phase == PHASE_SUCCEEDED || pod->charge == CHARGE_ASSIGNED)
            t.bound++;
        else if (pod->charge == CHARGE_BINDING)
            t.binding++;
        else
            count_unbound(core, pod, &t);
    }
    return t;
}

int32_t gang_priority(const struct gang *gang)
{
    if (gang->facts && gang->facts->has_priority)
        return gang->facts->priority;
    int32_t highest = INT32_MIN;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->priority > highest)
            highest = pod->facts->priority;
    return highest == INT32_MIN ? 0 : highest;
}

void gang_touch(struct gang_core *core, struct gang *gang)
{
    gang->stale = true;
    if (list_empty(&gang->in_touched))
        list_push(&core->touched, &gang->in_touched);
}

/* ---- states ---- */

void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state)
{
    gang_touch(core, gang);
    if (gang->state == state)
        return;
    gang->state = state;
    gang->since = core->now;
}

enum gang_state gang_without_plan(const struct gang *gang)
{
    return gang->hoping ? GANG_ASSEMBLING : GANG_WAITING;
}

/* ---- assembling with hope ---- */

/*
 * A controller creates pods one after the other. While the first member is young, the missing ones
 * are planned for as copies of those that exist, so that members go straight to a held bind
 * instead of being rejected and woken. Only for gangs of one shape: of other roles nothing is
 * known.
 */
static bool may_hope(const struct gang_core *core, const struct gang *gang, const struct tally *t)
{
    if (t->members == 0 || t->plannable < t->members ||
        core->now >= gang->first_seen + core->config.assemble)
        return false;
    const struct shape *shape = NULL;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (shape && pod->shape != shape)
            return false;
        shape = pod->shape;
    }
    return true;
}

/* Members without a slot take those that were expected for them. */
static void fill_expected(struct gang_core *core, struct gang *gang)
{
    struct list *next = gang->slots.next;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (pod->slot || !pod_plannable(core, pod))
            continue;
        struct slot *slot = NULL;
        for (; !slot && next != &gang->slots; next = next->next) {
            slot = CONTAINER_OF(next, struct slot, in_gang);
            slot = slot->pod || slot->shape != pod->shape ? NULL : slot;
        }
        if (!slot)
            return;
        slot_fill(slot, pod);
        if (pod->rejected)
            nominate(core, pod, slot->node);
    }
}

static void end_hope(struct gang_core *core, struct gang *gang)
{
    if (!gang->hoping)
        return;
    gang->hoping = false;
    timer_stop(core, &gang->timers[TIMER_HOPE]);
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        if (!slot->pod)
            slot_release(core, slot, REASON_SLOT_MOVED);
}

static void hope(struct gang_core *core, struct gang *gang)
{
    if (!gang->hoping) {
        gang->hoping = gang->retry = true;
        timer_set(core, &gang->timers[TIMER_HOPE], gang->first_seen + core->config.assemble);
    }
    fill_expected(core, gang);
    if (gang->state != GANG_PLANNED)
        gang_enter(core, gang, GANG_ASSEMBLING);
    else if (gang->n_slots < gang_needed(gang))
        gang->retry = true; /* a slot was lost, or needed rose */
}

/* ---- attempts ---- */

static usec_t attempt_timeout(const struct gang_core *core, const struct gang *gang)
{
    usec_t t = gang->facts ? gang->facts->schedule_timeout : 0;
    if (t <= 0)
        t = core->config.schedule_timeout;
    return t < TIMEOUT_MAX ? t : TIMEOUT_MAX;
}

static void begin_attempt(struct gang_core *core, struct gang *gang)
{
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    if (gang->timers[TIMER_ATTEMPT].node.pos)
        return;
    gang->attempts++;
    timer_set(core, &gang->timers[TIMER_ATTEMPT], core->now + attempt_timeout(core, gang));
}

static void end_attempt(struct gang_core *core, struct gang *gang)
{
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    timer_stop(core, &gang->timers[TIMER_NOTICE]);
}

static void place(struct gang_core *core, struct gang *gang)
{
    end_attempt(core, gang);
    end_hope(core, gang);
    evidence_forget(core, gang);
    gang->timed_out = false;
    gang->backoffs = 0;
    gang->last_failure = 0;
    gang_enter(core, gang, GANG_PLACED);
    reason_set(gang, REASON_PLACED, xstrdup(""));
    if (!gang->ever_placed) {
        cleanup_free char *text = xasprintf("%d of %d needed members are bound",
                                            tally(core, gang).bound, gang_needed(gang));
        tell_event(core, gang, false, "PodGroupScheduled", text);
    }
    gang->ever_placed = true;
    /* Extras: those at bind join, those on their way keep their place for a while, those that
     * were rejected pass singly now, and nothing else would wake them. */
    bind_held(core, gang);
    if (gang->n_slots)
        timer_set(core, &gang->timers[TIMER_EXTRAS], core->now + core->config.hold);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->rejected && !pod->slot && pod_plannable(core, pod))
            starve(core, pod);
}

/*
 * The gang cannot be planned whatever the cluster looks like: it waits for its own facts, in state
 * Assembling, or Recovering when some of it is bound.
 */
static void assemble(struct gang_core *core, struct gang *gang, enum gang_state state,
                     enum gang_reason_code code, char *text)
{
    bool news = reason_set(gang, code, text);
    plan_drop(core, gang, code);
    end_hope(core, gang);
    end_attempt(core, gang);
    gang_enter(core, gang, state);
    if (news)
        timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

static bool invalid(const struct gang *gang, char **text)
{
    if (!gang->facts || (gang->facts->min_member >= 0 && gang->facts->min_member <= MEMBERS_MAX))
        return false;
    *text = xasprintf("PodGroup %s/%s: spec.minMember is %" PRId64 "; it must be 0 to %" PRId64,
                      gang->ref.ns, gang->ref.name, gang->facts->min_member, MEMBERS_MAX);
    return true;
}

/* Planned gangs lose members, unbound ones are marked, a whole gang may be bound from outside. */
static void review_unplaced(struct gang_core *core, struct gang *gang, const struct tally *t)
{
    int needed = gang_needed(gang);
    int reachable = t->bound + t->binding + t->plannable;
    if (t->binding && gang->state == GANG_COMMITTING)
        return; /* decided when the last result is in */
    if (gang->state == GANG_COMMITTING && t->bound == 0 && t->members >= needed) {
        back_off(core, gang); /* every single Binding was refused */
        return;
    }
    if (t->members < needed && t->bound + t->binding == 0 && may_hope(core, gang, t)) {
        hope(core, gang);
        return;
    }
    if (gang->hoping)
        fill_expected(core, gang);
    end_hope(core, gang);
    enum gang_state state = t->bound + t->binding > 0 ? GANG_RECOVERING : GANG_ASSEMBLING;
    if (t->members < needed) {
        assemble(core, gang, state, REASON_NOT_ENOUGH_MEMBERS, reason_members(gang, t));
    } else if (reachable < needed) {
        assemble(core, gang, state, t->gated ? REASON_MEMBERS_GATED : REASON_FOREIGN_SCHEDULER,
                 reason_members(gang, t));
    } else {
        if (gang->state != GANG_BACKED_OFF && t->bound + t->binding == 0)
            begin_attempt(core, gang);
        if (gang->state == GANG_ASSEMBLING || gang->state == GANG_DONE ||
            gang->state == GANG_PLACED || gang->state == GANG_COMMITTING) {
            gang_enter(core, gang, GANG_WAITING);
            gang->retry = true;
        }
        if (gang->n_slots && gang->n_slots < t->plannable)
            gang->retry = true; /* a slot was lost, or a member came: complete the plan */
    }
    if (t->bound + t->binding > 0 && gang->state != GANG_COMMITTING) {
        timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
        timer_stop(core, &gang->timers[TIMER_BACKOFF]);
        gang_enter(core, gang, GANG_RECOVERING);
    } else if (gang->state == GANG_RECOVERING) { /* the bound ones are gone again */
        gang_enter(core, gang, gang->n_slots ? GANG_PLANNED : GANG_WAITING);
        gang->retry = true;
    }
}

static void review(struct gang_core *core, struct gang *gang)
{
    struct tally t = tally(core, gang);
    gang->priority = gang_priority(gang);
    char *text;
    if (!gang->facts) {
        assemble(core, gang, GANG_ASSEMBLING, REASON_GROUP_MISSING, reason_members(gang, &t));
        return;
    }
    if (invalid(gang, &text)) {
        assemble(core, gang, GANG_ASSEMBLING, REASON_GROUP_INVALID, text);
        return;
    }
    if (t.bound == 0 && t.binding == 0)
        gang->ever_placed = false; /* a new run under the same PodGroup */
    bool whole = t.bound >= gang_needed(gang) || gang->ever_placed;
    if (whole && t.members > 0 && t.succeeded == t.members) {
        end_attempt(core, gang);
        end_hope(core, gang);
        plan_drop(core, gang, REASON_SLOT_MOVED);
        gang->ever_placed = true;
        gang_enter(core, gang, GANG_DONE);
        reason_set(gang, REASON_PLACED, xstrdup(""));
    } else if (whole) {
        if (gang->state != GANG_PLACED)
            place(core, gang);
    } else {
        review_unplaced(core, gang, &t);
    }
    /* A member may have gone, or others are bound now: those held may be the whole rest. */
    commit_if_quorum(core, gang);
}

bool gang_is_over(const struct gang *gang)
{
    return !gang->facts && list_empty(&gang->members);
}

bool review_touched(struct gang_core *core)
{
    bool any = false;
    list_for_each (gang, &core->touched, struct gang, in_touched) {
        if (!gang->stale)
            continue;
        any = true;
        review(core, gang);
        gang->stale = false;
    }
    return any;
}

/* ---- timers firing ---- */

/* 0.8 to 1.2, from the gang and the attempt: spread, and the same in every replay. */
static usec_t jittered(const struct gang *gang, usec_t t)
{
    uint32_t h = 2166136261u;
    for (const char *p = gang->key; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    h = (h ^ (uint32_t)gang->attempts) * 16777619u;
    return t * 4 / 5 + (usec_t)((h >> 8) % 1000) * (t * 2 / 5) / 1000;
}

void back_off(struct gang_core *core, struct gang *gang)
{
    plan_drop(core, gang, gang->reason.code);
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    usec_t pause = core->config.backoff_initial;
    for (int i = 0; i < gang->backoffs && pause < core->config.backoff_max; i++)
        pause *= 2;
    if (pause > core->config.backoff_max)
        pause = core->config.backoff_max;
    gang->backoffs++;
    gang->last_failure = core->now;
    gang->retry = false;
    gang->tried = core->clock; /* its own release is no reason to try again at once */
    gang_enter(core, gang, GANG_BACKED_OFF);
    timer_set(core, &gang->timers[TIMER_BACKOFF], core->now + jittered(gang, pause));
}

static void attempt_timed_out(struct gang_core *core, struct gang *gang)
{
    if (gang->state != GANG_WAITING && gang->state != GANG_PLANNED)
        return;
    core->stats.attempts_timed_out++;
    struct tally t = tally(core, gang);
    reason_set(gang, REASON_SCHEDULE_TIMEOUT,
               reason_timeout(gang, &t, attempt_timeout(core, gang)));
    gang->timed_out = true;
    back_off(core, gang);
    tell_event(core, gang, true, "Timeout", gang->reason.text);
}

void gang_timer(struct gang_core *core, struct gang *gang, enum timer_kind kind)
{
    gang_touch(core, gang);
    switch (kind) {
    case TIMER_ATTEMPT:
        attempt_timed_out(core, gang);
        break;
    case TIMER_BACKOFF:
        gang_enter(core, gang, GANG_WAITING);
        gang->retry = true;
        break;
    case TIMER_HOLD:
        hold_timer_fired(core, gang);
        break;
    case TIMER_EVIDENCE:
        gang->retry = true;
        evidence_arm(core, gang);
        break;
    case TIMER_REFRESH:
        gang->retry = gang->state == GANG_WAITING;
        break;
    case TIMER_EXTRAS:
        if (gang->state == GANG_PLACED || gang->state == GANG_DONE)
            slots_release(core, gang, REASON_SLOT_MOVED); /* nobody came for them */
        break;
    case TIMER_NOTICE:
        tell_members(core, gang);
        break;
    default: /* TIMER_STATUS: touching is all */
        break;
    }
}
