/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/messages/status_and_events.h"

#include "base/hash.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"
#include "gang/messages/reason_text.h"
#include "gang/podgroup/quorum.h"

/* A new state or reason code is written at once. If only counts change (running 3, 4, 5 …), or only
 * the text of the same reason (room for 5, for 4 …), the status is written at most this often. */
#define FIGURES_INTERVAL USEC_PER_SEC
#define TEXT_INTERVAL    (10 * USEC_PER_SEC)

/* Whether the PodGroup exists as an object, so that it has a status and events. */
static bool has_object(const struct group *group)
{
    return group->facts && !group->declared;
}

struct gang_status group_status(const struct group *group)
{
    const struct gang *gang = group->gang;
    const struct tally *t = &group->units[0]->t;
    return (struct gang_status){
        .ref = &group->ref,
        .uid = group->facts ? group->facts->uid : "",
        .state = gang->state,
        .reason = gang->reason.code,
        .text = gang->reason.text,
        .help = gang->reason.help ? gang->reason.help : "",
        .timed_out = gang->timed_out,
        .ever_scheduled = gang->ever_scheduled,
        .min_member = group->facts ? group->facts->min_member : 0,
        .needed = unit_needs(group->units[0]),
        .members = t->members,
        .bound = t->bound,
        .running = t->running,
        .succeeded = t->succeeded,
        .failed = t->failed,
    };
}

static uint64_t digest_words(const struct gang_status *s)
{
    uint64_t h = hash_u64(HASH_START, (uint64_t)s->state);
    h = hash_u64(h, (uint64_t)s->reason);
    h = hash_u64(h, (uint64_t)s->timed_out);
    return h ? h : 1;
}

static uint64_t digest_text(const struct gang_status *s)
{
    return hash_text(hash_text(HASH_START, s->text), s->help);
}

static uint64_t digest_figures(const struct gang_status *s)
{
    uint64_t h = hash_u64(HASH_START, (uint64_t)s->bound);
    h = hash_u64(h, (uint64_t)s->running);
    h = hash_u64(h, (uint64_t)s->succeeded);
    h = hash_u64(h, (uint64_t)s->failed);
    return hash_u64(h, (uint64_t)s->members);
}

static struct gang_status copied(struct gang_core *core, struct gang_status s)
{
    s.ref = fx_ref(core, s.ref);
    s.uid = fx_str(core, s.uid);
    s.text = fx_str(core, s.text);
    s.help = fx_str(core, s.help);
    return s;
}

/* Writes the status if it is due. Returns when the next write is due; USEC_NEVER: none. */
static usec_t update_status(struct gang_core *core, struct group *group)
{
    struct gang_status s = group_status(group);
    uint64_t words = digest_words(&s), figures = digest_figures(&s), text = digest_text(&s);
    words = hash_u64(words, group->objects); /* a new object with this name has no status yet */
    usec_t due = words != group->emitted.words       ? core->now
                 : figures != group->emitted.figures ? group->emitted.at + FIGURES_INTERVAL
                 : text != group->emitted.text       ? group->emitted.at + TEXT_INTERVAL
                                                     : USEC_NEVER;
    if (due > core->now)
        return due;
    group->emitted.words = words;
    group->emitted.figures = figures;
    group->emitted.text = text;
    group->emitted.at = core->now;
    struct gang_status copy = copied(core, s);
    fx_add(core, GANG_STATUS)->status = copy;
    return USEC_NEVER;
}

void emit_status(struct gang_core *core, struct gang *gang)
{
    usec_t due = USEC_NEVER;
    if (!gang->over)
        gang_count(core, gang);
    list_for_each (group, &gang->groups, struct group, in_gang) {
        usec_t t = has_object(group) ? update_status(core, group) : USEC_NEVER;
        due = t < due ? t : due;
    }
    if (due != USEC_NEVER)
        timer_set(core, &gang->timers[TIMER_STATUS], due);
}

static const struct kube_event {
    const char *reason, *kind;
    bool warning;
} kube_events[] = {
#define X(id, reason, warning, kind, when) {reason, kind, warning},
    GANG_KUBE_EVENTS(X)
#undef X
};

/* An event on this object; ref->api_group NULL: the core API group. */
static void add_event(struct gang_core *core, enum gang_kube_event what, const struct gang_ref *ref,
                      const char *uid, const char *message)
{
    const struct kube_event *row = &kube_events[what];
    struct gang_effect *e = fx_add(core, GANG_EVENT);
    e->event.kind = row->kind;
    e->event.api_group = fx_str(core, ref->api_group);
    e->event.ns = fx_str(core, ref->ns);
    e->event.name = fx_str(core, ref->name);
    e->event.uid = fx_str(core, uid);
    e->event.warning = row->warning;
    e->event.reason = row->reason;
    e->event.message = fx_str(core, message);
}

static void group_event(struct gang_core *core, const struct group *group,
                        enum gang_kube_event what, const char *message)
{
    if (has_object(group))
        add_event(core, what, &group->ref, group->facts->uid, message);
}

void warn_pod(struct gang_core *core, const struct pod *pod, enum gang_kube_event what,
              const char *message)
{
    const struct gang_ref ref = {NULL, pod->facts->ns, pod->facts->name};
    add_event(core, what, &ref, pod->facts->uid, message);
}

void emit_event(struct gang_core *core, const struct gang *gang, enum gang_kube_event what,
                const char *message)
{
    list_for_each (group, &gang->groups, struct group, in_gang)
        group_event(core, group, what, message);
}

void emit_scheduled(struct gang_core *core, const struct gang *gang)
{
    gang_count(core, gang);
    list_for_each (group, &gang->groups, struct group, in_gang) {
        const struct unit *own = group->units[0];
        int needed = unit_needs(own);
        cleanup_free char *text =
            xasprintf("%d member%s needed, %d bound", needed, needed == 1 ? "" : "s", own->t.bound);
        group_event(core, group, KUBE_EVENT_SCHEDULED, text);
    }
}

void emit_evicted(struct gang_core *core, const struct gang *gang, int n)
{
    cleanup_free char *text =
        xasprintf("the gang could not be bound as a whole, so muster evicts %d bound member%s", n,
                  n == 1 ? "" : "s");
    emit_event(core, gang, KUBE_EVENT_EVICTED, text);
}

/*
 * kube-scheduler's events do not always contain the reason: it does not call filter if no node
 * passes its own plugins, it keeps an older reason until it tries the pod again, and it never tries
 * gated pods. So muster writes an event and the condition of such members itself, once for each
 * reason.
 */
void emit_pod_reason(struct gang_core *core, struct pod *pod, const char *text)
{
    warn_pod(core, pod, KUBE_EVENT_POD_WAITS, text);
    if (!pod->facts->unschedulable && !pod->facts->gated)
        return;
    struct gang_effect *e = fx_pod(core, GANG_PATCH_CONDITION, pod, NULL);
    e->pod.text = fx_str(core, text);
    e->pod.version = pod->facts->version;
}

/* Whether the member has kube-scheduler's message "Insufficient X", which is still true. Replacing
 * it would cost a write now, and another write when kube-scheduler tries the pod again. */
static bool has_scheduler_message(const struct gang *gang, const struct pod *pod)
{
    return gang->reason.code == REASON_NOT_ENOUGH_RESOURCES && pod->facts->short_of &&
           pod->facts->said_alone;
}

bool gang_has_plan(const struct gang *gang)
{
    return gang->state == GANG_PLANNED || gang->state == GANG_COMMITTING || gang->n_slots;
}

void pod_reason_emitted(struct pod *pod, enum gang_reason_code code)
{
    pod->emitted_reason = code;
}

void member_reasons_forget(struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        pod_reason_emitted(pod, REASON_NONE);
    pod_text_forget(gang);
}

void emit_member_reasons(struct gang_core *core, struct gang *gang)
{
    if (gang_has_plan(gang) || gang->over) /* beyond a bound, only filter gives the reason */
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (pod->node || pod->emitted_reason == gang->reason.code || !pod_counts(pod) ||
            pod_is_finished(pod))
            continue;
        if (pod->rejected_early || pod->facts->suspended)
            continue; /* kube-scheduler has written its own reason, or the pod does not exist */
        pod->emitted_reason = gang->reason.code;
        if (has_scheduler_message(gang, pod))
            warn_pod(core, pod, KUBE_EVENT_POD_WAITS, gang->reason.text);
        else
            emit_pod_reason(core, pod, gang->reason.text);
    }
}
