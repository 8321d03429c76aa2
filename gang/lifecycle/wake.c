/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/wake.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/wake_writes.h"
#include "gang/lifecycle/gate_lifting.h"
#include "gang/plan/node_scan.h"
#include "gang/plan/node_score.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queue_limits.h"

/* How many blocked pods are woken and how many are checked in one step, and how long the pause is
 * before the next ones. */
#define WAKES_PER_STEP  64
#define CHECKS_PER_STEP 2048
#define WAKE_PAUSE      (20 * USEC_PER_MSEC)
/* A step may scan 1 / WAKE_WORK of plan_work to wake pods. */
#define WAKE_WORK 6
/* Within this time, kube-scheduler binds a woken pod or calls filter for it. */
#define WAKE_AGAIN (5 * USEC_PER_SEC)

/* Whether the node is feasible for the pod, if the pods that this round has woken for it go there.
 * Sets *own if the node is feasible for other pods of the signature, whose labels may differ. */
static bool takes_blocked(const struct pod *pod, const struct node *node, struct rules *rules,
                          const struct reach *reach, bool *own)
{
    if (!node_has_room(node, pod->signature, node->n_woken, reach) ||
        (node_lacks(node, pod->signature) & ~pod->signature->offered_without) ||
        signature_refusal(pod->signature, node) || node_misfit(node, pod->signature, reach) == -2 ||
        rules_refusal(rules, node) != RULE_NONE)
        return false;
    bool conflict = preempted_rules_conflict(node, pod->facts, reach);
    *own |= conflict;
    return !conflict;
}

/* The node with the pod's nominated room, or else the best feasible one; NULL: none. *ret_own:
 * there is one for other pods of the signature. */
static struct node *node_for_blocked(struct gang_core *core, const struct pod *pod, bool *ret_own)
{
    struct node *best = NULL;
    struct reach reach = pod_reach(core, pod);
    reach.respects_nominated = true;
    struct rules rules = rules_for(core, pod->signature);
    *ret_own = false;
    if (pod->nominated_room && takes_blocked(pod, pod->nominated_room, &rules, &reach, ret_own))
        return pod->nominated_room;
    struct node_scan scan = node_scan_begin(core, NULL, pod->signature, NULL);
    while (node_scan_next(&scan))
        if (takes_blocked(pod, scan.node, &rules, &reach, ret_own) &&
            (!best || node_better(pod->signature, scan.node, best)))
            best = scan.node;
    return best;
}

/*
 * If kube-scheduler neither binds a woken pod nor calls filter for it, its own plugins refuse the
 * pod. The nomination would keep the room from other pods of the same or a lower priority. So
 * muster clears it. A new round then wakes other pods, also for the room of woken pods that were
 * refused again.
 */
void wake_timer_fired(struct gang_core *core)
{
    if (!core->wake.check_at || core->wake.check_at > core->now)
        return; /* the timer was set for the remaining blocked pods */
    core->wake.check_at = 0;
    core->wake.again = true;
    list_for_each_safe (pod, &core->wake.woken, struct pod, wake.in_woken) {
        if (pod->wake.at + WAKE_AGAIN > core->now)
            break;
        list_remove(&pod->wake.in_woken);
        if (!pod->node && !pod->nominated_room)
            nominate(core, pod, NULL);
    }
}

void woken_end(struct pod *pod)
{
    list_remove(&pod->wake.in_woken);
}

/* Sets the timer for the next check of woken pods, unless it is already set. */
static void arm_wake(struct gang_core *core)
{
    if (!core->wake.check_at && !list_empty(&core->wake.woken))
        core->wake.check_at =
            CONTAINER_OF(core->wake.woken.next, struct pod, wake.in_woken)->wake.at + WAKE_AGAIN;
    if (core->wake.check_at && !core->due.wake.node.pos)
        timer_set(core, &core->due.wake,
                  core->wake.check_at > core->now ? core->wake.check_at : core->now);
}

/* Pods woken in earlier rounds no longer count on their nodes. */
static void reset_sent(struct gang_core *core)
{
    list_for_each_safe (node, &core->wake.sent, struct node, in_sent) {
        node->n_woken = 0;
        list_remove(&node->in_sent);
        node_reclassify(core, node);
    }
}

/* Whether room has grown since the round began, or woken pods did not use their room. */
static bool round_is_due(const struct gang_core *core)
{
    return core->wake.round_freed != core->marks.freed || core->wake.again;
}

static bool round_begins(struct gang_core *core)
{
    if (!round_is_due(core))
        return false;
    core->wake.round++;
    reset_sent(core);
    core->wake.round_freed = core->marks.freed;
    core->wake.again = false;
    blocked_check_all(core);
    return true;
}

/* The next pod to check, of a new round if all are checked; NULL: none. */
static struct pod *next_blocked(struct gang_core *core)
{
    struct pod *pod = blocked_next(core);
    return pod || !round_begins(core) ? pod : blocked_next(core);
}

/* Whether the pod waits, and is scheduled on its own: an ordinary pod, or one of a placed gang. */
static bool waits_alone(const struct pod *pod)
{
    return !pod->node && !pod_is_finished(pod) && !pod->facts->deleting && !pod->slot &&
           (!pod->gang || passes_singly(pod->gang));
}

/* The wake write had no visible effect. A pod with a slot is nominated again. A pod that is
 * scheduled on its own becomes a blocked pod again. Other pods wait for the next plan. */
void wake_write_timer_fired(struct gang_core *core, struct pod *pod)
{
    if (core->stopping)
        return;
    if (pod->node) { /* the watch lags; the Binding may still be refused */
        wake_write_sent(core, pod);
        return;
    }
    pod_reject(core, pod, true);
    if (pod->slot) {
        nominate(core, pod, pod->slot->node);
    } else if (waits_alone(pod)) {
        block_pod(core, pod);
        core->wake.again = true;
    }
}

/* What a step may still do. */
struct wakes {
    int wakes, checks;
    int64_t scans; /* of nodes */
};

/* There is a node for a gated member of the gang. True: there has been one for WAKE_AGAIN, so the
 * visible members, which are in front, do not use it. */
static bool node_stays_free(const struct gang_core *core, struct gang *gang)
{
    if (!gang)
        return false;
    if (core->now - gang->gate_node_at > 2 * WAKE_AGAIN)
        gang->gate_node_since = core->now;
    gang->gate_node_at = core->now;
    if (core->now - gang->gate_node_since < WAKE_AGAIN)
        return false;
    gang->gate_node_since = core->now; /* one member each time */
    return true;
}

static void wake(struct gang_core *core, struct pod *pod, struct wakes *w)
{
    int64_t work = core->work;
    bool own;
    struct node *node = node_for_blocked(core, pod, &own);
    w->scans -= core->work - work;
    if (!node && !own)
        pod->signature->blocked_full = core->wake.round;
    if (!node)
        return;
    pod->wake.round = core->wake.round;
    if (!core->wake.check_at)
        core->wake.check_at = core->now + WAKE_AGAIN;
    bool closed = gate_is_closed(pod);
    if (closed && !node_stays_free(core, pod->gang))
        return;
    node->n_woken++;
    if (list_empty(&node->in_sent))
        list_push(&core->wake.sent, &node->in_sent);
    node_reclassify(core, node);
    w->wakes--;
    if (closed) {
        gate_open_later(core, pod);
        return;
    }
    unblock_pod(pod);
    list_remove(&pod->wake.in_woken);
    list_push(&core->wake.woken, &pod->wake.in_woken);
    pod->wake.at = core->now;
    nominate(core, pod, node);
}

/* Whether the pod's unit is at its maximum. Waking does not change the tallies, so each gang is
 * counted once in a step. */
static bool is_at_maximum(struct gang_core *core, const struct pod *pod)
{
    struct gang *gang = pod->gang;
    if (!gang)
        return false;
    if (gang->wake_counted != core->steps && gang_has_maximum(gang))
        gang_count(core, gang);
    gang->wake_counted = core->steps;
    return unit_at_maximum(pod->unit);
}

/* Once in a round: without a node, gated members may be shown to an autoscaler, see gates_of(). */
static void check_gates(struct gang_core *core, struct gang *gang, struct wakes *w)
{
    if (!gang || gang->gate_round == core->wake.round)
        return;
    gang->gate_round = core->wake.round;
    gang_touch(core, gang);
    w->scans -= gang->root->t.members;
}

/* A blocked pod that cannot be woken stays blocked until the next round. */
static void check(struct gang_core *core, struct pod *pod, struct wakes *w)
{
    w->checks--;
    if (!waits_alone(pod)) {
        unblock_pod(pod);
        return;
    }
    if (gate_is_closed(pod))
        check_gates(core, pod->gang, w);
    if (pod->signature->blocked_full == core->wake.round || pod->wake.round == core->wake.round ||
        is_at_maximum(core, pod))
        return; /* there is no node for it, or it was woken; or its maximum is reached */
    if (queue_stops_pod(core, pod))
        w->scans--;
    else
        wake(core, pod, w);
}

/*
 * kube-scheduler does not see the end of a reservation, so muster wakes the blocked pods: a bounded
 * number in each step. If there is no node for a pod, other pods of its signature are skipped in
 * this round.
 */
void wake_blocked(struct gang_core *core)
{
    arm_wake(core);
    if (core->now < core->wake.rest)
        return;
    struct wakes w = {WAKES_PER_STEP, CHECKS_PER_STEP, core->config.plan_work / WAKE_WORK + 1};
    struct pod *pod;
    while (w.wakes > 0 && w.checks > 0 && w.scans > 0 && (pod = next_blocked(core)) != NULL)
        check(core, pod, &w);
    if (!blocked_all_checked(core) || round_is_due(core)) { /* a later step continues */
        core->wake.rest = core->now + WAKE_PAUSE;
        timer_set(core, &core->due.wake, core->wake.rest);
        return;
    }
    arm_wake(core);
}
