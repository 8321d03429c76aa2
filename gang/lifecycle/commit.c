/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/commit.h"

#include "base/must.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_binding.h"
#include "gang/cluster/refusal_text.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/commit_batch.h"
#include "gang/lifecycle/express_lane.h"
#include "gang/lifecycle/partial_commit.h"
#include "gang/lifecycle/wake.h"
#include "gang/messages/reason_text.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"

/* ---- ending held calls ---- */

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
    triggered(core, pod->gang, TRIGGER_CALL_LOST);
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

void send_binding(struct gang_core *core, struct pod *pod)
{
    MUST(pod->node && pod->charge == CHARGE_BINDING); /* charged before it is sent */
    fx_pod(core, GANG_BIND, pod, pod->node)->pod.of_commit = pod->binding.commit != 0;
    binding_sent(core, pod);
}

void begin_binding(struct gang_core *core, struct pod *pod, struct node *node)
{
    MUST(!pod->node && pod_counts(pod)); /* not bound yet, neither deleted nor failed */
    MUST(!pod->slot || pod->slot->node == node);
    MUST(node->facts && !core->marks.paused); /* the node exists, and no trial is open */
    hold_end(core, pod);
    if (pod->slot)
        slot_free(core, pod->slot); /* the reservation becomes the charge */
    charge(core, pod, node, CHARGE_BINDING);
    bool of_commit = pod->gang && pod->gang->state == GANG_COMMITTING;
    binding_begins(core, pod, of_commit ? pod->gang->commits : 0);
    unblock_pod(pod);
    woken_end(pod);
    if (pod->call)
        pod_timer_set(core, pod, TIMER_CALL, pod->call_since + core->config.hold);
    send_binding(core, pod);
}

void bind_held(struct gang_core *core, struct gang *gang)
{
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod && slot->pod->held)
            begin_binding(core, slot->pod, slot->node);
}

/* In the express lane: binds all members with a slot, including those that are not at bind. */
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
    bool express = core->config.express_lane && !express_doubt(core, gang);
    if (gang_lacks(core, gang, STAGE_AT_BIND) > 0 && !express)
        return;
    if (commit_waits(core, gang))
        return;
    /* The reason to wait may have ended without a change of this gang, but the state table needs a
     * trigger. */
    if (express || core->due.batch.node.pos)
        triggered(core, gang, TRIGGER_LOOK_AGAIN);
    core->stats.commits++;
    gang->commits++;
    partial_commit_begin(core, gang, core->now);
    timer_stop(core, &gang->timers[TIMER_ATTEMPT]);
    gang_enter(core, gang, GANG_COMMITTING);
    if (express)
        bind_planned(core, gang);
    else
        bind_held(core, gang);
    MUST(gang_lacks(core, gang, STAGE_AT_BIND) <= 0); /* the commit includes all needed members */
}
