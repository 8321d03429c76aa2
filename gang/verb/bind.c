/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - the verb bind: checks a call, and then refuses it, holds it, or sends the Binding.
 */
#include "gang/verb/verbs.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/hold_quota.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/refusal_text.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"
#include "gang/lifecycle/commit.h"
#include "gang/lifecycle/commit_batch.h"
#include "gang/lifecycle/express_lane.h"
#include "gang/messages/queue_text.h"
#include "gang/node_predicates.h"
#include "gang/plan/move_reservations.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queue_limits.h"

/* ---- checks ---- */

/* Which of the pod's own rules excludes the node, as text; NULL: none. Skips rules that are off in
 * kube-scheduler's profile. If muster cannot read the pod or the node completely, it relies on
 * kube-scheduler. */
static const char *node_refusal(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (pod->facts->invalid || node->facts->invalid)
        return NULL;
    const char *text = signature_refusal(pod->signature, node);
    enum gang_predicate rule = PREDICATE_NONE;
    if (text && text != signature_volume_refusal)
        text = gang_node_refusal_but(pod->facts, node->facts, core->config.rules_off, &rule);
    return text ? reason_rule(core, pod->facts, node->name, rule, text) : NULL;
}

/* Why kube-scheduler cannot have called bind for such a pod; REASON_NONE: it can. */
static enum gang_reason_code unbindable(const struct gang_core *core, const struct pod *pod)
{
    if (!pod_counts(pod) || pod_is_finished(pod))
        return REASON_POD_DELETED;
    if (pod_unlinked(pod->facts))
        return pod_unlinked(pod->facts);
    if (gate_stays_closed(pod))
        return REASON_MEMBERS_GATED;
    return pod_is_ours(core, pod) ? REASON_NONE : REASON_FOREIGN_SCHEDULER;
}

/* Why muster must not bind the pod to the node, as text; NULL: it may. */
static const char *bind_refusal(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (pod->node == node)
        return NULL;
    if (pod->node)
        return reason_call(core, REASON_POD_BOUND, pod->gang, pod->facts, pod->node->name);
    enum gang_reason_code why = unbindable(core, pod);
    if (why)
        return reason_call(core, why, pod->gang, pod->facts, NULL);
    if (pod->gang)
        triggered(core, pod->gang, TRIGGER_AT_BIND);
    if (!node->facts)
        return reason_call(core, REASON_NODE_UNKNOWN, NULL, NULL, node->name);
    bool again = pod->held && pod->held_node == node->id;
    if (!again && !filter_result_has(core, pod, node)) {
        core->stats.binds_not_passed++;
        return reason_call(core, REASON_NOT_FILTERED, pod->gang, pod->facts, node->name);
    }
    const char *refusal = node_refusal(core, pod, node);
    core->stats.binds_unfit += refusal != NULL;
    return refusal;
}

/* ---- the verb bind ---- */

static void hold(struct gang_core *core, struct pod *pod, uint64_t id)
{
    call_open(core, pod, id);
    core->stats.holds++;
    core->last_hold = core->now;
    hold_begin(core, pod);
    if (pod->facts->has_pvc && !claims_bound(pod)) /* prepared for this node */
        claims_pin(pod, pod->slot->node);
    commit_for_room(core);
    commit_if_quorum(core, pod->gang);
}

/* Whether the pod's call may be held. A hold that completes the quorum, or is enough for the
 * express lane, ends at once. So it needs no hold of the quota. */
static bool may_hold(struct gang_core *core, struct pod *pod)
{
    hold_in_trial(pod, true);
    bool completes = gang_lacks(core, pod->gang, STAGE_AT_BIND) <= 0 ||
                     (core->config.express_lane && !express_doubt(core, pod->gang));
    hold_in_trial(pod, false);
    int lacks =
        completes || pod->gang->booked_holds ? 0 : gang_lacks(core, pod->gang, STAGE_AT_BIND);
    return completes || hold_quota_book(core, pod->gang, lacks);
}

/* Binds an ordinary pod, or a later member of a placed gang. */
static void bind_one(struct gang_core *core, struct pod *pod, struct node *node, uint64_t id)
{
    if (pod_at_maximum(core, pod)) {
        reply_id(core, id,
                 reason_call(core, REASON_ABOVE_MAXIMUM, pod->gang, pod->facts, node->name));
        return;
    }
    const struct queue *queue;
    struct queue_short s;
    enum gang_reason_code stopped = queue_refuses_pods(core, pod, 1, &queue, &s);
    if (stopped) {
        cleanup_free char *text = reason_queue_pod(core, pod, stopped, queue, &s);
        reply_id(core, id, text);
        return;
    }
    if (express_collides(core, node, pod) || !node_displace_for(core, node, pod)) {
        reply_id(core, id, reason_call(core, REASON_NO_ROOM, pod->gang, pod->facts, node->name));
        return;
    }
    call_open(core, pod, id);
    begin_binding(core, pod, node);
}

static void bind_member(struct gang_core *core, struct pod *pod, struct node *node, uint64_t id)
{
    struct gang *gang = pod->gang;
    bool placed = passes_singly(gang);
    if (placed && pod->slot && pod->slot->node != node)
        slot_release(core, pod->slot, REASON_SLOT_MOVED);
    bool in_place = pod->slot && pod->slot->node == node;
    if (in_place && (placed || gang->state == GANG_COMMITTING)) {
        call_open(core, pod, id);
        begin_binding(core, pod, node);
    } else if (in_place && !may_hold(core, pod)) {
        reply_id(core, id, reason_call(core, REASON_TOO_MANY_HOLDS, gang, pod->facts, NULL));
    } else if (in_place) {
        hold(core, pod, id);
    } else if (placed) {
        bind_one(core, pod, node, id);
    } else {
        reply_id(core, id,
                 reason_call(core, gang->n_slots ? REASON_SLOT_MOVED : gang->reason.code, gang,
                             pod->facts, node->name));
    }
}

/* The pod is already bound to this node, or its Binding is open. */
static void bind_again(struct gang_core *core, struct pod *pod, uint64_t id)
{
    if (pod->charge == CHARGE_ASSIGNED)
        reply_id(core, id, "");
    else {
        call_open(core, pod, id);
        pod_timer_set(core, pod, TIMER_CALL, core->now + core->config.hold);
    }
}

void refuse_bind(struct gang_core *core, uint64_t id, enum gang_reason_code why)
{
    reply_id(core, id, reason_call(core, why, NULL, NULL, NULL));
}

void answer_bind(struct gang_core *core, const struct gang_event *ev)
{
    if (!core->synced || core->stopping) {
        reply_id(core, ev->id,
                 reason_call(core, core->stopping ? REASON_STOPPING : REASON_NOT_SYNCED, NULL, NULL,
                             NULL));
        return;
    }
    struct pod *pod = pod_by_uid(core, ev->bind.uid);
    struct node *node = node_by_name(core, ev->bind.node);
    if (!pod || !str_eq(pod->facts->ns, ev->bind.ns) || !str_eq(pod->facts->name, ev->bind.name)) {
        reply_id(core, ev->id, reason_call(core, REASON_POD_UNKNOWN, NULL, NULL, NULL));
        return;
    }
    if (!node) {
        reply_id(core, ev->id, reason_call(core, REASON_NODE_UNKNOWN, NULL, NULL, ev->bind.node));
        return;
    }
    const char *refusal = bind_refusal(core, pod, node);
    if (refusal) { /* this does not end an open Binding or a held call of the pod */
        reply_id(core, ev->id, refusal);
        return;
    }
    if (pod->call)
        reply_bind(core, pod,
                   reason_call(core, REASON_HOLD_SUPERSEDED, pod->gang, pod->facts, NULL));
    filter_result_narrow(core, pod, node);
    if (pod->node)
        bind_again(core, pod, ev->id);
    else if (pod->gang)
        bind_member(core, pod, node, ev->id);
    else
        bind_one(core, pod, node, ev->id);
}
