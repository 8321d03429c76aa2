/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/life/bind.h"

#include "gang/bounds.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/gang_marks.h"
#include "gang/cluster/hold_places.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/nodes.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/open_calls.h"
#include "gang/cluster/passed.h"
#include "gang/cluster/refusal.h"
#include "gang/cluster/signature.h"
#include "gang/cluster/slots.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"
#include "gang/group/infeasible.h"
#include "gang/group/quorum.h"
#include "gang/group/state.h"
#include "gang/life/batch.h"
#include "gang/life/express.h"
#include "gang/life/seen.h"
#include "gang/life/unfinished.h"
#include "gang/plan/moves.h"
#include "gang/predicates.h"
#include "gang/words/reason.h"
#include "gang/words/status.h"

#define RETRY_FIRST (200 * USEC_PER_MSEC)
#define RETRY_LAST  (5 * USEC_PER_SEC)
/* The API server gives up a request after 60 s (its --request-timeout): a pod that is unbound so
 * long after its Binding was sent will not be bound by it. */
#define BINDING_OVER (90 * USEC_PER_SEC)
/* An admission webhook may answer 5xx for ever: the same Binding is sent again for so long. */
#define RESEND_LIMIT (300 * USEC_PER_SEC)
/* A PodDisruptionBudget may refuse an eviction for so long. */
#define EVICT_LIMIT (300 * USEC_PER_SEC)

/* ---- the ends of calls ---- */

void hold_timer_fired(struct gang_core *core, struct gang *gang)
{
    core->stats.hold_timeouts++;
    gang_count(core, gang);
    cleanup_free char *text = reason_hold(gang, core->config.hold);
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod && slot->pod->held)
            reply_bind(core, slot->pod, text);
}

void call_closed(struct gang_core *core, uint64_t id)
{
    struct pod *pod = call_find(core, id);
    if (!pod || !pod->held)
        return;
    happened(core, pod->gang, HAPPENING_CALL_LOST);
    reply_bind(core, pod, reason_call(core, REASON_CALL_CLOSED, pod->gang, pod->facts, NULL));
}

void stop_all(struct gang_core *core)
{
    core->stopping = true;
    map_for_each (e, &core->calls) {
        struct pod *pod = e->value;
        reply_bind(core, pod,
                   pod->charge == CHARGE_ASSIGNED
                       ? ""
                       : reason_call(core, REASON_STOPPING, pod->gang, pod->facts, NULL));
    }
}

/* ---- sending ---- */

static void send_binding(struct gang_core *core, struct pod *pod)
{
    fx_pod(core, GANG_BIND, pod, pod->node)->pod.of_commit = pod->commit != 0;
    pod->bind_sent = core->now;
}

static void begin_binding(struct gang_core *core, struct pod *pod, struct node *node)
{
    hold_end(core, pod);
    if (pod->slot)
        slot_free(core, pod->slot); /* the reservation becomes the charge */
    charge(core, pod, node, CHARGE_BINDING);
    pod->bind_began = core->now;
    pod->bind_tries = 0;
    bool of_commit = pod->gang && pod->gang->state == GANG_COMMITTING;
    pod->commit = of_commit ? pod->gang->commits : 0;
    list_remove(&pod->in_starved);
    list_remove(&pod->in_woken);
    if (pod->call)
        timer_set(core, pod_timer(pod, TIMER_CALL), pod->call_since + core->config.hold);
    send_binding(core, pod);
}

void bind_held(struct gang_core *core, struct gang *gang)
{
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod && slot->pod->held)
            begin_binding(core, slot->pod, slot->node);
}

/* One member has come through kube-scheduler, all others are like it in all that counts: they are
 * bound to their places unasked. */
static void bind_planned(struct gang_core *core, struct gang *gang)
{
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang) {
        if (!slot->pod->held) {
            core->stats.bindings_express++;
            slot->node->unasked = core->now;
        }
        begin_binding(core, slot->pod, slot->node);
    }
}

void commit_if_quorum(struct gang_core *core, struct gang *gang)
{
    if (gang->n_held == 0 || core->stopping)
        return;
    if (gang->state != GANG_PLANNED && gang->state != GANG_RECOVERING)
        return;
    bool express = core->config.express && !express_doubt(core, gang);
    if (gang_lacks(core, gang, STAGE_AT_BIND) > 0 && !express)
        return;
    if (commit_waits(core, gang))
        return;
    /* What was in doubt, or waited for, may be about others: nothing need have come to the gang. */
    if (express || core->batch.node.pos)
        happened(core, gang, HAPPENING_LOOK_AGAIN);
    core->stats.commits++;
    gang->commits++;
    first_begin(core, gang, core->now);
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    gang_enter(core, gang, GANG_COMMITTING);
    if (express)
        bind_planned(core, gang);
    else
        bind_held(core, gang);
}

/* ---- which calls may be taken ---- */

/* The pod's own rules, but for those that kube-scheduler runs without. Where the facts do not hold
 * all of them, or all of the node, kube-scheduler alone can tell. */
static const char *unfit(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (pod->facts->invalid || node->facts->invalid)
        return NULL;
    const char *words = shape_refusal(pod->shape, node);
    enum gang_predicate rule = PREDICATE_NONE;
    if (words && words != shape_volume_refusal)
        words = gang_node_refusal_but(pod->facts, node->facts, core->config.rules_off, &rule);
    return words ? reason_rule(core, pod->facts, node->name, rule, words) : NULL;
}

/* Whether kube-scheduler can be asking for it at all. */
static enum gang_reason_code out_of_reach(const struct gang_core *core, const struct pod *pod)
{
    if (!pod_counts(pod) || pod_is_finished(pod))
        return REASON_POD_DELETED;
    if (pod_unlinked(pod->facts))
        return pod_unlinked(pod->facts);
    if (gate_is_closed(pod) && !pod->lifts)
        return REASON_MEMBERS_GATED;
    return pod_is_ours(core, pod) ? REASON_NONE : REASON_FOREIGN_SCHEDULER;
}

/* Why the pod must not be bound to the node, whoever asks: a sentence; NULL: it may. */
static const char *bind_refusal(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (pod->node == node)
        return NULL;
    if (pod->node)
        return reason_call(core, REASON_POD_BOUND, pod->gang, pod->facts, pod->node->name);
    enum gang_reason_code why = out_of_reach(core, pod);
    if (why)
        return reason_call(core, why, pod->gang, pod->facts, NULL);
    if (pod->gang)
        happened(core, pod->gang, HAPPENING_AT_BIND);
    if (!node->facts)
        return reason_call(core, REASON_NODE_UNKNOWN, NULL, NULL, node->name);
    bool again = pod->held && pod->held_node == node->id;
    if (!again && !has_passed(core, pod, node)) {
        core->stats.binds_not_passed++;
        return reason_call(core, REASON_NOT_PASSED, pod->gang, pod->facts, node->name);
    }
    const char *no = unfit(core, pod, node);
    core->stats.binds_unfit += no != NULL;
    return no;
}

/* ---- the bind verb ---- */

static void hold(struct gang_core *core, struct pod *pod, uint64_t id)
{
    struct gang *gang = pod->gang;
    open_call(core, pod, id);
    core->stats.holds++;
    core->last_hold = core->now;
    pod->held = pod->sent = true;
    pod->held_node = pod->slot->node->id;
    if (pod->facts->has_pvc &&
        !claims_bound(pod)) { /* its volumes were prepared for that node before this call */
        free(pod->pinned);
        pod->pinned = xstrdup(pod->slot->node->name);
    }
    place_taken(core, gang);
    if (gang->n_held == 1)
        timer_set(core, &gang->timers[TIMER_HOLD], core->now + core->config.hold);
    commit_for_room(core);
    commit_if_quorum(core, gang);
}

/* A hold that completes the quorum, or with the express lane is enough, ends at once: it needs no
 * place among the held. */
static bool may_hold(struct gang_core *core, struct pod *pod)
{
    pod->held = true;
    bool completes = gang_lacks(core, pod->gang, STAGE_AT_BIND) <= 0 ||
                     (core->config.express && !express_doubt(core, pod->gang));
    pod->held = false;
    int lacks = completes || pod->gang->places ? 0 : gang_lacks(core, pod->gang, STAGE_AT_BIND);
    return completes || places_book(core, pod->gang, lacks);
}

static void bind_one(struct gang_core *core, struct pod *pod, struct node *node, uint64_t id)
{
    if (pod_at_maximum(core, pod)) {
        reply_id(core, id,
                 reason_call(core, REASON_ABOVE_MAXIMUM, pod->gang, pod->facts, node->name));
        return;
    }
    if (express_collides(core, node, pod) || !node_make_room(core, node, pod)) {
        reply_id(core, id, reason_call(core, REASON_NO_ROOM, pod->gang, pod->facts, node->name));
        return;
    }
    open_call(core, pod, id);
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
        open_call(core, pod, id);
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

/* The pod has that very node already, in fact or by a Binding under way. */
static void bind_again(struct gang_core *core, struct pod *pod, uint64_t id)
{
    if (pod->charge == CHARGE_ASSIGNED)
        reply_id(core, id, "");
    else {
        open_call(core, pod, id);
        timer_set(core, pod_timer(pod, TIMER_CALL), core->now + core->config.hold);
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
    const char *no = bind_refusal(core, pod, node);
    if (no) { /* whatever is under way for the pod goes on */
        reply_id(core, ev->id, no);
        return;
    }
    if (pod->call)
        reply_bind(core, pod,
                   reason_call(core, REASON_HOLD_SUPERSEDED, pod->gang, pod->facts, NULL));
    passing_narrow(core, pod, node);
    if (pod->node)
        bind_again(core, pod, ev->id);
    else if (pod->gang)
        bind_member(core, pod, node, ev->id);
    else
        bind_one(core, pod, node, ev->id);
}

/* ---- results ---- */

/*
 * While its gang commits, a call waits until all results are in: each answer makes the scheduler
 * write an event, which the API server would have to do beside the rest of the commit (seen: 1,000
 * Bindings took 0.85 s instead of 0.55 s).
 */
static void bound(struct gang_core *core, struct pod *pod)
{
    if (pod->gang)
        happened(core, pod->gang, HAPPENING_BOUND_OK);
    pod->charge = CHARGE_ASSIGNED;
    timer_stop(core, pod_timer(pod, TIMER_RETRY));
    core->stats.bindings_ok++;
    if (pod->call && !(pod->gang && pod->gang->state == GANG_COMMITTING))
        reply_bind(core, pod, "");
    if (pod->gang)
        gang_touch(core, pod->gang);
}

static void refused(struct gang_core *core, struct pod *pod, const char *text)
{
    core->stats.bindings_refused++;
    if (pod->gang)
        happened(core, pod->gang, HAPPENING_BOUND_REFUSED);
    timer_stop(core, pod_timer(pod, TIMER_RETRY));
    const char *why = text && text[0] ? text : "the API server refused the binding";
    if (pod->call)
        reply_bind(core, pod, why);
    struct node *node = pod->node;
    uncharge(core, pod);
    struct gang *gang = pod->gang;
    if (!gang)
        return;
    /* The API server may have something against that very node (an admission policy): refused there
     * twice, the member is planned elsewhere. */
    if (str_eq(pod->refused_on, node->name))
        evidence_add_node(core, gang, pod->shape, node);
    free(pod->refused_on);
    pod->refused_on = xstrdup(node->name);
    reason_set(gang, REASON_BIND_REFUSED,
               xasprintf("gang %s/%s: the binding of %s was refused: %s", gang->head->ref.ns,
                         gang->head->ref.name, pod->facts->name, why));
    if (gang->refused_in != gang->commits || gang->state != GANG_COMMITTING)
        tell_event(core, gang, true, "BindingRefused", gang->reason.text); /* the first of many */
    gang->refused_in = gang->commits;
    /* Its place elsewhere is looked for at once: what it leaves is not the next gang's to take. */
    gang->retry |= gang->state == GANG_COMMITTING && !core->config.evict_on_failed_commit;
    gang_touch(core, gang);
}

void evict(struct gang_core *core, struct pod *pod)
{
    fx_pod(core, GANG_EVICT, pod, NULL);
    pod->evicted = true;
    timer_set(core, pod_timer(pod, TIMER_RETRY), core->now + EVICT_LIMIT);
}

/* It was not let go: it counts as a member again, and the gang is completed around it. */
static void evict_over(struct gang_core *core, struct pod *pod)
{
    pod->evicted = false;
    if (pod->gang)
        gang_touch(core, pod->gang);
}

static void settle_later(struct gang_core *core, struct pod *pod)
{
    timer_set(core, pod_timer(pod, TIMER_RETRY),
              core->now + usec_backoff(RETRY_FIRST, RETRY_LAST, pod->bind_tries++));
}

static void read_pod(struct gang_core *core, struct pod *pod)
{
    fx_pod(core, GANG_READ_POD, pod, NULL);
}

/* The pod the result is about, if its Binding is still open. */
static struct pod *awaited(struct gang_core *core, const struct gang_event *ev)
{
    struct pod *pod = pod_by_uid(core, ev->result.uid);
    return pod && pod->charge == CHARGE_BINDING ? pod : NULL;
}

/* Bound, never shown by the watch, and gone when it was looked for. */
static void forget_unseen(struct gang_core *core, const struct gang_event *ev)
{
    struct pod *pod = pod_by_uid(core, ev->result.uid);
    if (pod && pod->charge == CHARGE_ASSIGNED && pod_timer(pod, TIMER_UNSEEN)->node.pos &&
        ev->result.outcome == OUTCOME_REFUSED)
        pod_remove(core, pod);
}

static void bound_elsewhere(struct gang_core *core, struct pod *pod, const char *name)
{
    if (pod->gang)
        happened(core, pod->gang, HAPPENING_MEMBER_BOUND);
    refused(core, pod, reason_call(core, REASON_POD_BOUND, pod->gang, pod->facts, name));
    struct node *node = node_get(core, name);
    charge(core, pod, node, CHARGE_ASSIGNED);
    node_settle(core, node);
}

void binding_done(struct gang_core *core, const struct gang_event *ev)
{
    struct pod *pod = awaited(core, ev);
    if (!pod)
        return;
    switch (ev->result.outcome) {
    case OUTCOME_OK:
        bound(core, pod);
        break;
    case OUTCOME_REFUSED:
        refused(core, pod, ev->result.text);
        break;
    default:
        core->stats.bindings_unclear++;
        if (pod->gang)
            happened(core, pod->gang, HAPPENING_BOUND_UNCLEAR);
        read_pod(core, pod);
    }
}

void pod_read(struct gang_core *core, const struct gang_event *ev)
{
    struct pod *pod = awaited(core, ev);
    if (!pod) {
        forget_unseen(core, ev);
        return;
    }
    switch (ev->result.outcome) {
    case OUTCOME_OK:
        if (!ev->result.node || strcmp(ev->result.node, pod->node->name) == 0)
            bound(core, pod);
        else
            bound_elsewhere(core, pod, ev->result.node);
        break;
    case OUTCOME_REFUSED:
        refused(core, pod, reason_call(core, REASON_POD_DELETED, pod->gang, pod->facts, NULL));
        break;
    default: /* still unbound, or not to be read */
        if (ev->result.outcome == OUTCOME_UNBOUND && core->now - pod->bind_sent >= BINDING_OVER)
            refused(core, pod, "it was sent, and the pod is still unbound 90 s later");
        else
            settle_later(core, pod);
    }
}

static bool may_send_again(const struct gang_core *core, const struct pod *pod)
{
    return pod_counts(pod) && core->now - pod->bind_began < RESEND_LIMIT && !charge_in_excess(pod);
}

void pod_timer_fired(struct gang_core *core, struct pod *pod, enum timer_kind kind)
{
    if (kind == TIMER_CALL) {
        if (pod->call)
            reply_bind(core, pod,
                       pod->charge == CHARGE_ASSIGNED
                           ? ""
                           : reason_call(core, REASON_BIND_OPEN, pod->gang, pod->facts, NULL));
    } else if (kind == TIMER_RETRY) {
        if (pod->charge == CHARGE_BINDING && may_send_again(core, pod))
            send_binding(core, pod); /* to the same node, for the same UID */
        else if (pod->charge == CHARGE_BINDING)
            read_pod(core, pod);
        else if (pod->evicted)
            evict_over(core, pod);
    } else if (pod->node) { /* bound by us: only its deletion is the end of it */
        timer_set(core, pod_timer(pod, TIMER_UNSEEN), core->now + UNSEEN_LIMIT);
        read_pod(core, pod);
    } else {
        pod_remove(core, pod);
    }
}
