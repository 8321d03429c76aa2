/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/binding_results.h"

#include "base/must.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nodes.h"
#include "gang/cluster/pod_binding.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/refusal_text.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/commit.h"
#include "gang/lifecycle/gang_preemption.h"
#include "gang/lifecycle/pod_update.h"
#include "gang/messages/reason_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/move_reservations.h"
#include "gang/podgroup/infeasible_nodes.h"

#define RETRY_FIRST (200 * USEC_PER_MSEC)
#define RETRY_MAX   (5 * USEC_PER_SEC)
/* After this time, a Binding can no longer succeed, because the API server ends each request after
 * 60 s (--request-timeout). */
#define BINDING_OVER (90 * USEC_PER_SEC)
/* How long the same Binding is sent again. An admission webhook may answer 5xx every time. */
#define RESEND_LIMIT (300 * USEC_PER_SEC)

/*
 * While the gang commits, its calls are answered when all results are in. Each answer makes
 * kube-scheduler write an event, and these writes would slow down the rest of the commit (measured:
 * 0.85 s instead of 0.55 s for 1,000 Bindings).
 */
static void bound(struct gang_core *core, struct pod *pod)
{
    if (pod->gang)
        triggered(core, pod->gang, TRIGGER_BOUND_OK);
    charge_confirm(pod);
    pod_timer_stop(core, pod, TIMER_RETRY);
    core->stats.bindings_ok++;
    if (pod->call && !(pod->gang && pod->gang->state == GANG_COMMITTING))
        reply_bind(core, pod, "");
    if (pod->gang)
        gang_touch(core, pod->gang);
}

static void refused(struct gang_core *core, struct pod *pod, const char *text)
{
    MUST(pod->node && pod->charge == CHARGE_BINDING); /* an assigned pod keeps its charge */
    core->stats.bindings_refused++;
    if (pod->gang)
        triggered(core, pod->gang, TRIGGER_BOUND_REFUSED);
    pod_timer_stop(core, pod, TIMER_RETRY);
    const char *why = text && text[0] ? text : "the API server refused the binding";
    if (pod->call)
        reply_bind(core, pod, why);
    struct node *node = pod->node;
    uncharge(core, pod);
    struct gang *gang = pod->gang;
    if (!gang)
        return;
    /* An admission policy may refuse this node only. So after two refusals, the member is planned
     * elsewhere. */
    if (str_eq(pod->binding.refused_on, node->name))
        infeasible_node_add(core, gang, pod->signature, node);
    binding_refused(pod, node);
    preemption_unused(core, gang);
    reason_set(gang, REASON_BIND_REFUSED,
               xasprintf("gang %s/%s: the binding of %s was refused: %s", gang->head->ref.ns,
                         gang->head->ref.name, pod->facts->name, why));
    if (gang->refused_in != gang->commits || gang->state != GANG_COMMITTING)
        emit_event(core, gang, KUBE_EVENT_BIND_REFUSED,
                   gang->reason.text); /* one for each commit */
    gang->refused_in = gang->commits;
    /* Plan the gang again in this step, before another gang takes the member's room. */
    if (gang->state == GANG_COMMITTING && !core->config.evict_on_failed_commit)
        gang_plan_again(gang);
    gang_touch(core, gang);
}

static void settle_later(struct gang_core *core, struct pod *pod)
{
    pod_timer_set(core, pod, TIMER_RETRY,
                  core->now + usec_backoff(RETRY_FIRST, RETRY_MAX, binding_tried(pod)));
}

static void read_pod(struct gang_core *core, struct pod *pod)
{
    fx_pod(core, GANG_READ_POD, pod, NULL);
}

/* The pod of the result; NULL: it has no open Binding any more. */
static struct pod *awaited(struct gang_core *core, const struct gang_event *ev)
{
    struct pod *pod = pod_by_uid(core, ev->result.uid);
    return pod && pod->charge == CHARGE_BINDING ? pod : NULL;
}

/* Removes a pod that was bound and that the watch never showed, if the API server does not have it
 * any more. */
static void forget_unseen(struct gang_core *core, const struct gang_event *ev)
{
    struct pod *pod = pod_by_uid(core, ev->result.uid);
    if (pod && pod->charge == CHARGE_ASSIGNED && pod_timer_is_set(pod, TIMER_UNSEEN) &&
        ev->result.outcome == OUTCOME_REFUSED)
        pod_remove(core, pod);
}

static void bound_elsewhere(struct gang_core *core, struct pod *pod, const char *name)
{
    if (pod->gang)
        triggered(core, pod->gang, TRIGGER_MEMBER_BOUND);
    refused(core, pod, reason_call(core, REASON_POD_BOUND, pod->gang, pod->facts, name));
    struct node *node = node_get(core, name);
    charge(core, pod, node, CHARGE_ASSIGNED);
    node_displace_excess(core, node);
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
            triggered(core, pod->gang, TRIGGER_BOUND_UNCLEAR);
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
    default: /* still unbound, or the read failed */
        if (ev->result.outcome == OUTCOME_UNBOUND && core->now - pod->binding.sent >= BINDING_OVER)
            refused(core, pod, "90 s after it was sent, the pod is still unbound");
        else
            settle_later(core, pod);
    }
}

static bool may_send_again(const struct gang_core *core, const struct pod *pod)
{
    return pod_counts(pod) && core->now - pod->binding.began < RESEND_LIMIT &&
           !charge_in_excess(pod);
}

static void evicted_in_vain(struct gang_core *core, struct pod *pod)
{
    eviction_timed_out(core, pod);
    if (!pod->eviction.requested && pod->gang) /* it counts as a member again */
        triggered(core, pod->gang, TRIGGER_MEMBER_BOUND);
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
        else if (pod->eviction.requested)
            evicted_in_vain(core, pod);
    } else if (pod->node) { /* muster has bound it, so it stays charged while it exists */
        pod_timer_set(core, pod, TIMER_UNSEEN, core->now + UNSEEN_LIMIT);
        read_pod(core, pod);
    } else {
        pod_remove(core, pod);
    }
}
