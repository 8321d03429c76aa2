/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/refused_unasked.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/nominate.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/passed_nodes.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/backoff.h"

#define UNASKED_HOLDS 3

/* ---- whose turn has passed ---- */

static bool says_no_more(const struct turn *t, const struct turn *than)
{
    return t->priority >= than->priority && t->queued <= than->queued;
}

/* kube-scheduler asks about the pod now. The table keeps what says most; a lost entry only makes
 * muster wait for another. */
static void note_turn(struct gang_core *core, const struct pod *pod)
{
    struct turn now = {pod->facts->priority, pod->queue.joined, core->now};
    size_t n = 0;
    for (size_t i = 0; i < core->n_turns; i++)
        if (!says_no_more(&core->turns[i], &now))
            core->turns[n++] = core->turns[i];
    if (n == TURNS_MAX) /* the first is the oldest */
        memmove(core->turns, core->turns + 1, --n * sizeof *core->turns);
    core->turns[n++] = now;
    core->n_turns = n;
    core->asked_at = core->now;
}

/* Since then kube-scheduler has asked about a pod that stands behind this one in its queue. */
static bool turn_has_passed(const struct gang_core *core, const struct pod *pod, usec_t since)
{
    for (size_t i = 0; i < core->n_turns; i++) {
        const struct turn *t = &core->turns[i];
        if (t->priority <= pod->facts->priority && t->queued > pod->queue.joined &&
            t->asked >= since)
            return true;
    }
    return false;
}

/* It asked about somebody, or wrote about the pod, since then; and it asks about nobody now. */
static bool queue_is_idle(const struct gang_core *core, const struct pod *pod, usec_t since)
{
    bool lives = core->asked_at >= since || pod->queue.snubs;
    return lives && core->now - core->asked_at >= core->config.hold;
}

void overlook_asked(struct gang_core *core, struct pod *pod)
{
    note_turn(core, pod);
    queue_asked(core, pod);
    pod->missed = false;
    overlook_end(core, pod);
}

/* ---- what becomes of them ---- */

static void overlook(struct gang_core *core, struct pod *pod)
{
    struct gang *gang = pod->gang;
    happened(core, gang, HAPPENING_OVERLOOKED);
    core->stats.overlooked++;
    pod->overlooked = pod->missed = true;
    queue_snubs_over(pod);
    slot_release(core, pod->slot, REASON_REFUSED_BY_SCHEDULER);
    if (pod->nominated) /* for all that is known it sleeps again */
        pod_reject(core, pod, true);
    nominate(core, pod, NULL);
    timer_set(core, pod_timer(pod, TIMER_OVERLOOKED), core->now + gang_pause(core, gang));
    gang_failed(core, gang);
    gang_plan_again(gang);
    gang_touch(core, gang);
}

void overlook_missed(struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod && !slot->pod->sent && !slot->pod->held)
            slot->pod->missed = true;
}

void overlook_end(struct gang_core *core, struct pod *pod)
{
    if (!pod->overlooked)
        return;
    pod->overlooked = false;
    timer_stop(core, pod_timer(pod, TIMER_OVERLOOKED));
    if (!pod->gang)
        return;
    happened(core, pod->gang, HAPPENING_MEMBER_CHANGED);
    gang_plan_again(pod->gang);
    gang_touch(core, pod->gang);
}

/* Its gang needs a plan, and this member its place in it. */
static bool is_planned(const struct pod *pod)
{
    return pod->slot && !pod->held &&
           (pod->gang->state == GANG_PLANNED || pod->gang->state == GANG_RECOVERING);
}

void overlook_seen(struct gang_core *core, struct pod *pod, const struct gang_pod_facts *old)
{
    const struct gang_pod_facts *now = pod->facts;
    bool ours = old->nominated && str_eq(old->nominated, pod->nominated);
    bool cleared = ours && !now->nominated, words = now->said != old->said;
    if (!cleared && !words)
        return;
    if (queue_wrote(pod)) /* this came of that call */
        return;
    if (!is_planned(pod) || now->node || !(cleared || now->said_alone))
        return;
    if (queue_snubbed(pod) && ours) {
        overlook(core, pod);
    } else if (cleared) {
        pod_reject(core, pod, true);
        nominate(core, pod, pod->slot->node);
    }
}

/* ---- those that nobody asks about ---- */

static bool is_overlooked(const struct gang_core *core, const struct slot *slot)
{
    const struct pod *pod = slot->pod;
    if (!pod || !is_planned(pod) || pod->queue.nudges || gate_is_closed(pod))
        return false; /* it may sleep, or not be in the queue yet */
    usec_t since = pod->queue.joined > slot->made ? pod->queue.joined : slot->made;
    usec_t wait = (pod->queue.snubs ? 1 : UNASKED_HOLDS) * core->config.hold;
    if (pod->sent && wait < pod_busy_time(pod))
        wait = pod_busy_time(pod);
    return core->now - since >= wait &&
           (turn_has_passed(core, pod, slot->made) || queue_is_idle(core, pod, since));
}

void overlook_watch(struct gang_core *core, struct gang *gang)
{
    if (!gang->timers[TIMER_TURNS].node.pos)
        timer_set(core, &gang->timers[TIMER_TURNS], core->now + core->config.hold);
}

void overlook_look(struct gang_core *core, struct gang *gang)
{
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        if (is_overlooked(core, slot))
            overlook(core, slot->pod);
    if (gang->n_slots)
        overlook_watch(core, gang);
}
