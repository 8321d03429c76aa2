/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - what people see of a gang: the PodGroup's status and events, on change only.
 */
#include "gang/core.h"

/* States and reason codes are written at once; figures alone (running 3, 4, 5 …) and the words of
 * the same reason (room for 5, for 4 …) this seldom. */
#define FIGURES_INTERVAL USEC_PER_SEC
#define TEXT_INTERVAL    (10 * USEC_PER_SEC)

struct gang_status gang_status_of(const struct gang_core *core, const struct gang *gang)
{
    struct tally t = tally(core, gang);
    return (struct gang_status){
        .ref = &gang->ref,
        .uid = gang->facts ? gang->facts->uid : "",
        .state = gang->state,
        .reason = gang->reason.code,
        .text = gang->reason.text,
        .timed_out = gang->timed_out,
        .ever_placed = gang->ever_placed,
        .min_member = gang->facts ? gang->facts->min_member : 0,
        .needed = gang_needed(gang),
        .members = t.members,
        .bound = t.bound,
        .running = t.running,
        .succeeded = t.succeeded,
        .failed = t.failed,
    };
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    for (int i = 0; i < 8; i++, v >>= 8)
        h = (h ^ (v & 0xff)) * UINT64_C(1099511628211); /* FNV-1a */
    return h;
}

static uint64_t digest_words(const struct gang_status *s)
{
    uint64_t h = mix(UINT64_C(14695981039346656037), (uint64_t)s->state);
    h = mix(h, (uint64_t)s->reason);
    h = mix(h, (uint64_t)s->timed_out);
    return h ? h : 1;
}

static uint64_t digest_text(const struct gang_status *s)
{
    uint64_t h = 1;
    for (const char *p = s->text; *p; p++)
        h = mix(h, (unsigned char)*p);
    return h;
}

static uint64_t digest_figures(const struct gang_status *s)
{
    uint64_t h = mix(1, (uint64_t)s->bound);
    h = mix(h, (uint64_t)s->running);
    h = mix(h, (uint64_t)s->succeeded);
    h = mix(h, (uint64_t)s->failed);
    return mix(h, (uint64_t)s->members);
}

static struct gang_status copied(struct gang_core *core, struct gang_status s)
{
    struct gang_ref *ref = fx_alloc(core, sizeof *ref);
    char *strings[3] = {s.ref->api_group, s.ref->ns, s.ref->name};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(strings[i]) + 1;
        strings[i] = memcpy(fx_alloc(core, n), strings[i], n);
    }
    *ref = (struct gang_ref){strings[0], strings[1], strings[2]};
    s.ref = ref;
    s.uid = fx_str(core, s.uid);
    s.text = fx_str(core, s.text);
    return s;
}

void tell_status(struct gang_core *core, struct gang *gang)
{
    if (!gang->facts)
        return;
    struct gang_status s = gang_status_of(core, gang);
    uint64_t words = digest_words(&s), figures = digest_figures(&s), text = digest_text(&s);
    usec_t due = words != gang->told_words       ? core->now
                 : figures != gang->told_figures ? gang->told_at + FIGURES_INTERVAL
                 : text != gang->told_text       ? gang->told_at + TEXT_INTERVAL
                                                 : USEC_NEVER;
    if (due > core->now) {
        if (due != USEC_NEVER)
            timer_set(core, &gang->timers[TIMER_STATUS], due);
        return;
    }
    gang->told_words = words;
    gang->told_figures = figures;
    gang->told_text = text;
    gang->told_at = core->now;
    struct gang_status kept = copied(core, s);
    fx_add(core, GANG_STATUS)->status = kept;
}

void tell_event(struct gang_core *core, const struct gang *gang, bool warning, const char *reason,
                const char *message)
{
    if (!gang->facts)
        return;
    struct gang_effect e = {.kind = GANG_EVENT};
    e.event.kind = "PodGroup";
    e.event.api_group = fx_str(core, gang->ref.api_group);
    e.event.ns = fx_str(core, gang->ref.ns);
    e.event.name = fx_str(core, gang->ref.name);
    e.event.uid = fx_str(core, gang->facts->uid);
    e.event.warning = warning;
    e.event.reason = fx_str(core, reason);
    e.event.message = fx_str(core, message);
    *fx_add(core, GANG_EVENT) = e;
}

/*
 * Where no node passes the scheduler's own filters it never asks us, and its event does not speak
 * of the gang; or it asked when the reason was another. Such members are told by an event of
 * ours, once per reason.
 */
void tell_members(struct gang_core *core, struct gang *gang)
{
    if (gang->state == GANG_PLANNED || gang->state == GANG_COMMITTING || gang->n_slots)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (pod->node || pod->told == gang->reason.code || !pod_counts(pod) || pod_is_finished(pod))
            continue;
        pod->told = gang->reason.code;
        struct gang_effect e = {.kind = GANG_EVENT};
        e.event.kind = "Pod";
        e.event.ns = fx_str(core, pod->facts->ns);
        e.event.name = fx_str(core, pod->facts->name);
        e.event.uid = fx_str(core, pod->facts->uid);
        e.event.warning = true;
        e.event.reason = "Unschedulable";
        e.event.message = fx_str(core, gang->reason.text);
        *fx_add(core, GANG_EVENT) = e;
    }
}
