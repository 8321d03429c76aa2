/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/gate_lifting.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pod_gate.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/trial.h"
#include "gang/lifecycle/suspension.h"
#include "gang/messages/queue_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/queue_check.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queue_limits.h"

/* A gang is shown to an autoscaler when it has lacked only room for this time. */
#define SHOW_AFTER (10 * USEC_PER_SEC)
/* How many pending pods may be visible, which means without a gate, because kube-scheduler tries
 * each of them again and again. Namespaces share this limit, but each may show one gang in any
 * case. */
#define SHOWN_MAX  512
#define SHOW_AGAIN USEC_PER_SEC
/* When a later member is checked whose gate its queue keeps. */
#define WAKE_SOON (20 * USEC_PER_MSEC)

/* While members are expected, the gates stay: removing a gate is final, and these members may never
 * come. */
bool gate_opens(const struct gang_core *core, const struct pod *pod)
{
    const struct gang *gang = pod->gang;
    bool suspended = pod->facts->suspended;
    if ((!core->config.gates && !suspended) || !pod_is_ours(core, pod))
        return true;
    if (!gang)
        return !pod->facts->awaits_group;
    return passes_singly(gang) || (gang->shown && !suspended) || (pod->slot && !gang->expecting);
}

/* A repeated request includes the nomination again, because the first one may have been lost. */
static void lift(struct gang_core *core, struct pod *pod)
{
    if (pod->facts->suspended) {
        resume_request(core, pod);
        gate_asked(core, pod);
        return;
    }
    bool steered = pod->slot && core->config.steering != GANG_STEER_NEVER;
    const struct node *node = steered ? pod->slot->node : NULL;
    bool again = pod->lifts > 0, there = node && str_eq(pod->nominated, node->name);
    fx_pod(core, GANG_UNGATE, pod, there && !again ? NULL : node);
    if (node && !there) {
        nominated_to(pod, node->name);
        nominated_room_drop(pod, node);
        nomination_update(core, pod);
    }
    core->stats.gates_lifted += !again;
    gate_asked(core, pod);
}

/* Whether an ordinary pod needs the reason why it has no PodGroup: kube-scheduler does not try it,
 * or has tried it when the reason was another one. */
static bool awaits_reason(const struct pod *pod)
{
    return !pod->gang && !pod->node && pod->facts->awaits_group &&
           pod->emitted_reason != REASON_AWAITS_GROUP &&
           (gate_is_closed(pod) || pod->queue.rejected);
}

/* Removes the pod's gate if it opens, or reports the reason of an ordinary pod. `due`: TIMER_GATE
 * has fired. The timer runs while the watch does not show a requested removal, and for NOTICE_DELAY
 * before the reason of an ordinary pod is reported. */
static void check_gate(struct gang_core *core, struct pod *pod, bool due)
{
    bool timed = pod_timer_is_set(pod, TIMER_GATE);
    if (gate_is_closed(pod) && gate_opens(core, pod)) {
        if (due || !timed || !pod->lifts)
            lift(core, pod);
    } else if (awaits_reason(pod) && due) {
        pod_reason_emitted(pod, REASON_AWAITS_GROUP);
        emit_pod_reason(core, pod, pod->facts->awaits_group);
    } else if (awaits_reason(pod) && !timed) {
        pod_timer_set(core, pod, TIMER_GATE, core->now + NOTICE_DELAY);
    }
}

void gates_of_ungrouped(struct gang_core *core)
{
    struct pod *pod;
    while ((pod = ungrouped_take(core)) != NULL)
        check_gate(core, pod, /* due= */ false);
}

void gate_timer_fired(struct gang_core *core, struct pod *pod)
{
    if (pod->facts->gated && pod->node) { /* the watch lags; the Binding may still be refused */
        gate_asked(core, pod);
    } else if (pod->gang) { /* check at the end of the step, when its slot is certain */
        triggered(core, pod->gang, TRIGGER_LOOK_AGAIN);
        gang_touch(core, pod->gang);
    } else if (core->synced && !core->stopping) {
        check_gate(core, pod, /* due= */ true);
    }
}

/* Whether a later member keeps its gate: its queue has no room for it and for the visible members
 * of its signature, so an autoscaler might add nodes for nothing. Such a pod is blocked, and the
 * reason is reported. If the queue has room for the member and a node for it stays free,
 * wake_blocked() removes the gate, because the visible members wait for something else. */
static bool queue_keeps_gate(struct gang_core *core, struct pod *pod)
{
    const struct queue *queue;
    struct queue_short s;
    if (!core->config.gates || !pod_is_ours(core, pod) || pod->facts->suspended || pod->slot)
        return false;
    int n = pod->signature->visible + 1;
    enum gang_reason_code code = queue_refuses_pods(core, pod, n, &queue, &s);
    if (!code)
        return false;
    if (pod->emitted_reason != code) {
        enum gang_reason_code alone = queue_refuses_pods(core, pod, 1, &queue, &s);
        cleanup_free char *text =
            alone ? reason_queue_pod(core, pod, alone, queue, &s) : reason_queue_turn(pod, queue);
        pod_reason_emitted(pod, code);
        emit_pod_reason(core, pod, text);
    }
    if (!pod->queue.blocked) {
        block_pod(core, pod);
        if (!core->due.wake.node.pos)
            timer_set(core, &core->due.wake, core->now + WAKE_SOON);
    }
    return true;
}

static bool is_visible(const struct gang_core *core, const struct pod *pod)
{
    return !pod->node && !pod->slot && pod_plannable(core, pod) && !unit_at_maximum(pod->unit) &&
           !gate_stays_closed(pod);
}

void gate_open_later(struct gang_core *core, struct pod *pod)
{
    unblock_pod(pod);
    check_gate(core, pod, /* due= */ false);
}

/* The gates of members that come after their gang was placed. */
static void gates_of_later(struct gang_core *core, struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        pod->signature->visible = 0;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        pod->signature->visible += is_visible(core, pod);
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!gate_is_closed(pod))
            continue;
        if (pod->lifts > 0) {
            check_gate(core, pod, /* due= */ false);
        } else if (!queue_keeps_gate(core, pod)) {
            gate_open_later(core, pod);
            pod->signature->visible++;
        }
    }
}

void gates_of(struct gang_core *core, struct gang *gang)
{
    bool unreported = false; /* a gated member came after the others got their reason */
    if (!gang->root->t.closed || core->stopping)
        return;
    if (passes_singly(gang)) {
        gates_of_later(core, gang);
        return;
    }
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        check_gate(core, pod, /* due= */ false);
        unreported |= gate_stays_closed(pod) && pod->emitted_reason == REASON_NONE;
    }
    if (unreported && !gang_has_plan(gang) && gang->reason.text[0] &&
        !gang->timers[TIMER_NOTICE].node.pos)
        timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

/* ---- for an autoscaler ---- */

/* Whether more nodes could help. */
static bool is_room(enum gang_reason_code code)
{
    return code == REASON_NOT_ENOUGH_RESOURCES || code == REASON_NO_MATCHING_NODE ||
           code == REASON_MIN_RESOURCES || code == REASON_KEPT_APART || code == REASON_SPREAD;
}

void gates_note(struct gang_core *core, struct gang *gang, enum gang_reason_code code)
{
    if (!is_room(code) || gang->expecting) {
        gang->short_since = 0;
        gang->shown = false;
        return;
    }
    if (!gang->short_since)
        gang->short_since = core->now;
    bool shows = core->config.gates && core->config.show_gated && gang->root->t.closed;
    if (shows && !core->due.show.node.pos)
        timer_set(core, &core->due.show, core->now + SHOW_AGAIN);
}

/* Plannable members that have no gate any more, of gangs without a plan. */
struct visible_pods {
    int visible;
    struct map by_ns;              /* namespace -> number of such pods + 1 */
    struct gang *gangs[SHOWN_MAX]; /* theirs, as far as their queues have room for all of them */
    size_t n_gangs;
};

static int visible_of(const struct visible_pods *s, const struct gang *gang)
{
    uintptr_t n = (uintptr_t)map_get(&s->by_ns, gang->head->ref.ns);
    return n ? (int)n - 1 : 0;
}

/* The autoscaler adds nodes for all visible gangs. So they count as planned, while the queues of
 * others are checked. */
static void add_visible(struct gang_core *core, struct visible_pods *s, struct gang *gang, int pods)
{
    s->visible += pods;
    map_set(&s->by_ns, gang->head->ref.ns, (void *)((uintptr_t)(visible_of(s, gang) + pods) + 1));
    if (!pods || s->n_gangs == SHOWN_MAX || queue_keeps_waiting(core, gang))
        return;
    queue_pretend_planned(core, gang, 1);
    s->gangs[s->n_gangs++] = gang;
}

/* The gated gangs that lack only room, in the order of gangs. Also counts visible pods. */
static struct gang **gated_gangs(struct gang_core *core, size_t *ret_n, struct visible_pods *s)
{
    struct gang **list = xcalloc(core->n_gangs + 1, sizeof *list);
    size_t n = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        const struct tally *t = gang_count(core, gang);
        if (passes_singly(gang) || gang_has_plan(gang))
            continue;
        if (gang->short_since && t->closed && !gang->shown)
            list[n++] = gang;
        add_visible(core, s, gang,
                    gang->shown || t->closed > t->plannable ? t->plannable
                                                            : t->plannable - t->closed);
    }
    qsort(list, n, sizeof *list, by_order);
    *ret_n = n;
    return list;
}

/* A namespace without visible pods may show one gang. Other namespaces may show pods up to `share`.
 */
static bool may_show(const struct visible_pods *s, const struct gang *gang, int share)
{
    int own = visible_of(s, gang);
    return own == 0 || (s->visible < SHOWN_MAX && own < share);
}

/* Shows gangs in their order, so that the autoscaler adds nodes for the first ones. The first round
 * gives each namespace its share, and the second round uses what is left. */
void gates_show(struct gang_core *core)
{
    size_t n;
    if (!core->synced || core->stopping)
        return;
    struct visible_pods s = {.by_ns = MAP_INIT};
    struct trial trial = trial_begin(core);
    cleanup_free struct gang **list = gated_gangs(core, &n, &s);
    size_t namespaces = map_count(&s.by_ns);
    const int shares[] = {SHOWN_MAX / (int)(namespaces ? namespaces : 1), SHOWN_MAX};
    for (size_t i = 0; i < ARRAY_SIZE(shares) * n; i++) {
        struct gang *gang = list[i % n];
        if (gang->shown || core->now - gang->short_since < SHOW_AFTER ||
            !may_show(&s, gang, shares[i / n]) || queue_keeps_waiting(core, gang))
            continue;
        gang->shown = true;
        gang_touch(core, gang);
        add_visible(core, &s, gang, gang->root->t.plannable);
    }
    while (s.n_gangs)
        queue_pretend_planned(core, s.gangs[--s.n_gangs], -1);
    trial_end(&trial);
    map_done(&s.by_ns);
    if (n)
        timer_set(core, &core->due.show, core->now + SHOW_AGAIN);
}
