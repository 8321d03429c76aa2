/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/gate_lifting.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pod_gate.h"
#include "gang/cluster/timers.h"
#include "gang/messages/status_and_events.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"

/* A gang is shown to an autoscaler when room was all it lacked for so long, */
#define SHOW_AFTER (10 * USEC_PER_SEC)
/* as long as fewer pods than that wait in sight: each costs kube-scheduler its tries. Namespaces
 * share that; a gang of each is shown in any case. */
#define SHOWN_MOST 512
#define SHOW_AGAIN USEC_PER_SEC

/* Hope may be vain, and the gate is lifted for good: it waits until the members are there. */
bool gate_opens(const struct gang_core *core, const struct pod *pod)
{
    const struct gang *gang = pod->gang;
    if (!core->config.gates || !pod_is_ours(core, pod))
        return true;
    if (!gang)
        return !pod->facts->awaits_group;
    return passes_singly(gang) || gang->shown || (pod->slot && !gang->expecting);
}

/* The nomination too when it is asked for again: nobody knows how far the first try came. */
static void lift(struct gang_core *core, struct pod *pod)
{
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

/* `due`: its timer has fired. Between asking and being seen the timer runs. */
static void look(struct gang_core *core, struct pod *pod, bool due)
{
    bool timed = pod_timer(pod, TIMER_GATE)->node.pos;
    if (!gate_is_closed(pod))
        return;
    if (gate_opens(core, pod)) {
        if (due || !timed || !pod->lifts)
            lift(core, pod);
    } else if (!pod->gang && due && pod->emitted_reason != REASON_AWAITS_GROUP) {
        pod_reason_emitted(pod, REASON_AWAITS_GROUP);
        emit_pod_reason(core, pod, pod->facts->awaits_group);
    } else if (!pod->gang && !timed && pod->emitted_reason != REASON_AWAITS_GROUP) {
        timer_set(core, pod_timer(pod, TIMER_GATE), core->now + NOTICE_DELAY);
    }
}

void gates_of_ungrouped(struct gang_core *core)
{
    struct pod *pod;
    while ((pod = ungrouped_take(core)) != NULL)
        look(core, pod, /* due= */ false);
}

void gate_timer_fired(struct gang_core *core, struct pod *pod)
{
    if (pod->facts->gated && pod->node) { /* the watch is late; its Binding may still be refused */
        gate_asked(core, pod);
    } else if (pod->gang) { /* when the step is over: its place may go in this one */
        triggered(core, pod->gang, TRIGGER_LOOK_AGAIN);
        gang_touch(core, pod->gang);
    } else if (core->synced && !core->stopping) {
        look(core, pod, /* due= */ true);
    }
}

/* Members that came since the others were told learn why they wait, too. */
void gates_of(struct gang_core *core, struct gang *gang)
{
    bool untold = false;
    if (!gang->root->t.closed || core->stopping)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        look(core, pod, /* due= */ false);
        untold |= gate_is_closed(pod) && !pod->lifts && pod->emitted_reason == REASON_NONE;
    }
    if (untold && !gang_has_plan(gang) && gang->reason.text[0] &&
        !gang->timers[TIMER_NOTICE].node.pos)
        timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

/* ---- for an autoscaler ---- */

/* What more nodes could help against. */
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

/* Pods that wait without a gate, all and by namespace. */
struct sight {
    int seen;
    struct map by_ns; /* namespace -> pods + 1, of those that have gated gangs too */
};

static int seen_of(const struct sight *s, const struct gang *gang)
{
    uintptr_t n = (uintptr_t)map_get(&s->by_ns, gang->head->ref.ns);
    return n ? (int)n - 1 : 0;
}

static void see(struct sight *s, const struct gang *gang, int pods)
{
    s->seen += pods;
    map_set(&s->by_ns, gang->head->ref.ns, (void *)((uintptr_t)(seen_of(s, gang) + pods) + 1));
}

/* Those that wait for room behind a gate, in their order. */
static struct gang **behind_gates(const struct gang_core *core, size_t *ret_n, struct sight *s)
{
    struct gang **list = xcalloc(core->n_gangs + 1, sizeof *list);
    size_t n = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        const struct tally *t = gang_count(core, gang);
        if (passes_singly(gang) || gang_has_plan(gang))
            continue;
        if (gang->short_since && t->closed && !gang->shown)
            list[n++] = gang;
        see(s, gang,
            gang->shown || t->closed > t->plannable ? t->plannable : t->plannable - t->closed);
    }
    qsort(list, n, sizeof *list, by_order);
    *ret_n = n;
    return list;
}

/* A namespace without a pod in sight has its first gang shown; else up to its share. */
static bool may_show(const struct sight *s, const struct gang *gang, int share)
{
    int own = seen_of(s, gang);
    return own == 0 || (s->seen < SHOWN_MOST && own < share);
}

/* In their order, so that the autoscaler makes room for those that come first; what the shares
 * leave is anybody's. */
void gates_show(struct gang_core *core)
{
    size_t n;
    if (!core->synced || core->stopping)
        return;
    struct sight s = {.by_ns = MAP_INIT};
    cleanup_free struct gang **list = behind_gates(core, &n, &s);
    size_t namespaces = map_count(&s.by_ns);
    const int shares[] = {SHOWN_MOST / (int)(namespaces ? namespaces : 1), SHOWN_MOST};
    for (size_t i = 0; i < ARRAY_SIZE(shares) * n; i++) {
        struct gang *gang = list[i % n];
        if (gang->shown || core->now - gang->short_since < SHOW_AFTER ||
            !may_show(&s, gang, shares[i / n]))
            continue;
        gang->shown = true;
        gang_touch(core, gang);
        see(&s, gang, gang->root->t.plannable);
    }
    map_done(&s.by_ns);
    if (n)
        timer_set(core, &core->due.show, core->now + SHOW_AGAIN);
}
