/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/early_rejection.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/backoff.h"
#include "gang/lifecycle/gang_preemption.h"

/* How long kube-scheduler may take to call filter for a planned member, in holds. */
#define UNASKED_HOLDS 3

/* ---- how far kube-scheduler's queue has come ---- */

/* Whether `by` shows everything that `call` shows about the pods ahead. */
static bool covered(const struct filter_call_seen *call, const struct filter_call_seen *by)
{
    return call->priority >= by->priority && call->queued <= by->queued;
}

/* Adds an entry for the filter call, and drops entries that it covers. If the table is full, drops
 * the oldest entry, which only delays an early rejection. */
static void note_filter_call(struct gang_core *core, const struct pod *pod)
{
    struct filter_call_seen now = {pod->facts->priority, pod->queue.joined, core->now};
    size_t n = 0;
    for (size_t i = 0; i < core->n_filter_calls_seen; i++)
        if (!covered(&core->filter_calls_seen[i], &now))
            core->filter_calls_seen[n++] = core->filter_calls_seen[i];
    if (n == FILTER_CALLS_SEEN_MAX) /* the first entry is the oldest */
        memmove(core->filter_calls_seen, core->filter_calls_seen + 1,
                --n * sizeof *core->filter_calls_seen);
    core->filter_calls_seen[n++] = now;
    core->n_filter_calls_seen = n;
    core->asked_at = core->now;
}

/* Whether filter was called, after `since`, for a pod that was behind this pod in the queue. */
static bool was_passed_over(const struct gang_core *core, const struct pod *pod, usec_t since)
{
    for (size_t i = 0; i < core->n_filter_calls_seen; i++) {
        const struct filter_call_seen *call = &core->filter_calls_seen[i];
        if (call->priority <= pod->facts->priority && call->queued > pod->queue.joined &&
            call->asked >= since)
            return true;
    }
    return false;
}

/* Whether kube-scheduler works, but has nothing to do: after `since` it called filter for some pod
 * or refused this pod, and it has made no call for one config.hold. */
static bool queue_is_idle(const struct gang_core *core, const struct pod *pod, usec_t since)
{
    bool running = core->asked_at >= since || pod->queue.early_rejections;
    return running && core->now - core->asked_at >= core->config.hold;
}

void early_rejection_asked(struct gang_core *core, struct pod *pod)
{
    note_filter_call(core, pod);
    queue_asked(core, pod);
    if (pod->missed && pod->gang)
        gang_recount(pod->gang);
    pod->missed = 0;
    early_rejection_end(core, pod);
}

/* ---- beginning and end of an early rejection ---- */

static void early_reject(struct gang_core *core, struct pod *pod)
{
    struct gang *gang = pod->gang;
    triggered(core, gang, TRIGGER_REJECTED_EARLY);
    core->stats.rejected_early++;
    pod->rejected_early = true;
    pod->missed += !pod->missed;
    gang_recount(gang);
    queue_early_rejections_over(pod);
    slot_release(core, pod->slot, REASON_REJECTED_EARLY);
    if (pod->nominated) /* kube-scheduler has tried it, so it probably sleeps again */
        pod_reject(core, pod, true);
    nominate(core, pod, NULL);
    pod_timer_set(core, pod, TIMER_REJECTED_EARLY, core->now + gang_pause(core, gang));
    gang_failed(core, gang);
    preemption_unused(core, gang);
    gang_plan_again(gang);
    gang_touch(core, gang);
}

void early_rejection_missed(struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod && !slot->pod->sent && !slot->pod->held)
            slot->pod->missed += slot->pod->missed < UINT16_MAX;
    gang_recount(gang);
}

void early_rejection_end(struct gang_core *core, struct pod *pod)
{
    if (!pod->rejected_early)
        return;
    pod->rejected_early = false;
    pod_recount(pod);
    pod_timer_stop(core, pod, TIMER_REJECTED_EARLY);
    if (!pod->gang)
        return;
    triggered(core, pod->gang, TRIGGER_MEMBER_CHANGED);
    gang_plan_again(pod->gang);
    gang_touch(core, pod->gang);
}

/* Whether the member's gang waits for it: it has a slot and is not at bind. */
static bool is_planned(const struct pod *pod)
{
    return pod->slot && !pod->held &&
           (pod->gang->state == GANG_PLANNED || pod->gang->state == GANG_RECOVERING);
}

void early_rejection_seen(struct gang_core *core, struct pod *pod, const struct gang_pod_facts *old)
{
    const struct gang_pod_facts *now = pod->facts;
    bool ours = old->nominated && str_eq(old->nominated, pod->nominated);
    bool cleared = ours && !now->nominated, changed = now->said != old->said;
    if (!cleared && !changed)
        return;
    if (queue_wrote(pod)) /* it is the result of a filter call */
        return;
    bool first = !pod->queue.was_asked && !pod->slot && !pod->nominated;
    if (first && changed && now->unschedulable && !now->node)
        pod_reject(core, pod, true); /* it sleeps, so a later plan must wake it */
    if (!is_planned(pod) || now->node || !(cleared || now->said_alone))
        return;
    if (queue_rejected_early(pod) && ours) {
        early_reject(core, pod);
    } else if (cleared) {
        pod_reject(core, pod, true);
        nominate(core, pod, pod->slot->node);
    }
}

/* ---- members without a filter call ---- */

static bool is_rejected_early(const struct gang_core *core, const struct slot *slot)
{
    const struct pod *pod = slot->pod;
    if (!pod || !is_planned(pod) || pod->wake_writes || gate_is_closed(pod))
        return false; /* it may still sleep, or may not be in the queue yet */
    usec_t since = pod->queue.joined > slot->made ? pod->queue.joined : slot->made;
    usec_t wait = (pod->queue.early_rejections ? 1 : UNASKED_HOLDS) * core->config.hold;
    if (pod->sent && wait < pod_busy_time(pod))
        wait = pod_busy_time(pod);
    return core->now - since >= wait &&
           (was_passed_over(core, pod, slot->made) || queue_is_idle(core, pod, since));
}

void early_rejection_watch(struct gang_core *core, struct gang *gang)
{
    if (!gang->timers[TIMER_UNASKED].node.pos)
        timer_set(core, &gang->timers[TIMER_UNASKED], core->now + core->config.hold);
}

void early_rejection_check(struct gang_core *core, struct gang *gang)
{
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        if (is_rejected_early(core, slot))
            early_reject(core, slot->pod);
    if (gang->n_slots)
        early_rejection_watch(core, gang);
}
