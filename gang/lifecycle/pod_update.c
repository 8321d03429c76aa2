/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/pod_update.h"

#include "gang/cluster/api_clock.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/disruption_budgets.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nodes.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/pod_gate.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/pods.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/refusal_text.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"
#include "gang/cluster/wake_writes.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/eviction.h"
#include "gang/lifecycle/predicate_coverage.h"
#include "gang/lifecycle/steering.h"
#include "gang/lifecycle/suspension.h"
#include "gang/messages/status_and_events.h"
#include "gang/podgroup/podgroups.h"

static void join_gang(struct gang_core *core, struct pod *pod)
{
    if (pod->facts->group.api_group)
        group_add(core, pod);
}

static void leave_gang(struct gang_core *core, struct pod *pod)
{
    if (pod->gang)
        group_remove(core, pod);
}

static struct pod *pod_new(struct gang_core *core, struct gang_pod_facts *facts)
{
    struct pod *pod = pod_make(core, facts);
    join_gang(core, pod);
    nomination_update(core, pod);
    return pod;
}

void pod_remove(struct gang_core *core, struct pod *pod)
{
    if (pod->call)
        reply_bind(core, pod, reason_call(core, REASON_POD_DELETED, pod->gang, pod->facts, NULL));
    suspended_replace_undo(core, pod);
    lose_slot(core, pod);
    uncharge(core, pod);
    leave_gang(core, pod);
    pod_free(core, pod);
}

/* Charges the pod to the node in its facts, or releases its slot, and answers its call. */
static void settle_charge(struct gang_core *core, struct pod *pod)
{
    const char *on = pod->facts->node;
    const struct node *asked =
        pod->slot ? pod->slot->node : pod->node; /* its call names this node */
    bool as_asked = on && asked && strcmp(on, asked->name) == 0;
    if (pod_is_finished(pod)) {
        lose_slot(core, pod);
        uncharge(core, pod);
        eviction_ended(core, pod);
    } else if (on) {
        pod_reject(core, pod, false);
        struct node *node = node_get(core, on);
        if (pod->slot && pod->slot->node == node) {
            hold_end(core, pod); /* the slot becomes the charge; the call is answered below */
            slot_free(core, pod->slot);
        }
        lose_slot(core, pod);
        charge(core, pod, node, CHARGE_ASSIGNED);
        if (!pod->eviction.requested)
            pod_timer_stop(core, pod, TIMER_RETRY);
        node_recheck_slots(core, node);
    } else if (pod->slot && !pod_plannable(core, pod)) {
        lose_slot(core, pod); /* deleted or gated after it was planned */
    }
    if (as_asked && !pod_is_finished(pod) && pod->gang && pod->gang->state == GANG_COMMITTING)
        return; /* the call is answered at the end of the commit, see bound() */
    if (pod->call && (on || !pod_counts(pod)))
        reply_bind(core, pod,
                   as_asked ? ""
                            : reason_call(core, on ? REASON_POD_BOUND : REASON_POD_DELETED,
                                          pod->gang, pod->facts, on));
}

/*
 * Whether new facts without a nomination mean that kube-scheduler has cleared it. They may also be
 * older than muster's write. But if the watch has shown this nomination before, and muster has
 * written none since, it was cleared.
 */
static bool nomination_is_over(const struct pod *pod, const struct gang_pod_facts *old)
{
    return old->nominated && str_eq(old->nominated, pod->nominated) && !pod->gang &&
           list_empty(&pod->wake.in_woken);
}

/* Whether the pod is unbound, an ordinary pod and waits for no PodGroup. */
static bool is_ungrouped_pending(const struct pod *pod)
{
    return !pod->gang && !pod->node && !pod_unlinked(pod->facts);
}

/* The trigger for the change from a member's old facts to its new facts. */
static enum gang_trigger trigger_of(const struct gang_pod_facts *old,
                                    const struct gang_pod_facts *now)
{
    if (now->phase == PHASE_FAILED && old->phase != PHASE_FAILED)
        return TRIGGER_MEMBER_LOST;
    if (now->deleting && !old->deleting)
        return TRIGGER_MEMBER_LOST;
    if (now->phase == PHASE_SUCCEEDED && old->phase != PHASE_SUCCEEDED)
        return TRIGGER_MEMBER_ENDED;
    return now->node && !old->node ? TRIGGER_MEMBER_BOUND : TRIGGER_MEMBER_CHANGED;
}

/*
 * The order of these steps matters:
 *   1. What compares the old facts with the new ones, while the pod is in its old gang.
 *   2. The new facts, which everything below reads.
 *   3. Its gang and unit. The slot belongs to the old gang, so it is released first.
 *   4. Its claims, signature and rule labels, after 3: a new signature makes its gang plan again.
 *      New rule labels come before the old ones go, so that what both use is not news.
 *   5. The marks on its nodes, after 3 and 4, which may have released its slot.
 *   6. Its position in kube-scheduler's queue, before 7: it compares the facts with the nomination
 *      that muster wrote or knew before.
 *   7. Its nomination, and then steering, which depends on it.
 *   8. Wide anti-affinity, its disruption budget and its gate, which depend on 2 alone.
 *   9. What its queue counts, after 3 and 4: its gang decides where, and its signature how much.
 * on_pod_set() then settles the charge, which depends on the gang and the signature.
 */
static void pod_update(struct gang_core *core, struct pod *pod, struct gang_pod_facts *facts)
{
    if (pod->gang)
        triggered(core, pod->gang, trigger_of(pod->facts, facts));
    if (pod->gang && facts->preempted && facts->deleting && !pod->facts->deleting)
        member_preempted(core, pod->gang, pod);
    struct gang_pod_facts *old = pod_set_facts(core, pod, facts);
    if (!gang_ref_equal(&old->group, &facts->group)) {
        lose_slot(core, pod);
        leave_gang(core, pod);
        join_gang(core, pod);
    } else if (pod->gang) {
        group_declare(core, pod);
        group_moved(core, pod);
    }
    claims_leave(core, pod);
    claims_join(core, pod);
    pod_signature_update(core, pod);
    rule_labels_add(core, facts);
    rule_labels_remove(core, old);
    if (pod->node)
        node_pods_changed(core, pod->node); /* its labels or deletionTimestamp may have changed */
    if (pod->node && !gang_kvs_equal(&old->labels, &facts->labels))
        node_changed(core, pod->node); /* rules between pods may allow more now */
    if (pod->slot)
        node_pods_changed(core, pod->slot->node);
    if (facts->node || (facts->nominated && str_eq(facts->nominated, pod->nominated)))
        wake_write_seen(core, pod);
    if ((old->gated || old->n_gates) && !facts->gated && !facts->n_gates) {
        if (!pod->queue.rejected) /* otherwise filter has refused it before the watch shows this */
            unblock_pod(pod);
        queue_joined(core, pod);
    }
    if (facts->mark_ended && !old->mark_ended)
        eviction_mark_ends(core, pod);
    early_rejection_seen(core, pod, old);
    bool opened = old->gated && !facts->gated; /* muster nominates before it removes a gate */
    if (facts->nominated || opened || nomination_is_over(pod, old))
        nominated_to(pod, facts->nominated);
    nomination_update(core, pod);
    if (opened && pod->slot && !pod->nominated)
        steer(core, pod);
    if (!gang_kvs_equal(&old->labels, &facts->labels)) {
        wide_anti_affinity_recheck(pod);
        pod_budget_forget(pod);
    }
    if (!list_empty(&pod->in_wide_anti_affinity))
        wide_anti_affinity_begin(core, pod);
    pod_timer_stop(core, pod, TIMER_UNSEEN);
    set_unseen(core, pod, false);
    gate_seen(core, pod, old->gated, facts->gated);
    if (old->preemptible != facts->preemptible || !gang_ref_equal(&old->queue, &facts->queue)) {
        queue_count_pod(core, pod);
        if (pod->queue.rejected && is_ungrouped_pending(pod))
            room_grew(core); /* its old queue may have stopped it */
    }
    if (!str_eq(old->awaits_group, facts->awaits_group))
        pod_reason_emitted(pod, REASON_NONE); /* the pod needs the new text */
    gang_pod_facts_free(old);
}

void on_pod_gone(struct gang_core *core, struct pod *pod)
{
    remember_gone(core, pod->facts->uid);
    if (pod->gang && pod->facts->preempted && !pod->facts->deleting)
        member_preempted(core, pod->gang, pod);
    pod_remove(core, pod);
}

void on_pod_set(struct gang_core *core, struct gang_pod_facts *facts)
{
    gone_forget(core, facts->uid);
    api_time_seen(core, facts->created);
    struct pod *pod = pod_by_uid(core, facts->uid);
    if (pod && facts->part) {
        gang_pod_facts_free(facts);
        return;
    }
    if (!pod) {
        struct pod *other = pod_by_name(core, facts->ns, facts->name);
        if (other) /* it was deleted and created again, and the watch has skipped the deletion */
            on_pod_gone(core, other);
        pod = pod_new(core, facts);
        /* before muster started, an earlier run may have refused it */
        pod_reject(core, pod, facts->unschedulable && pod_is_ours(core, pod));
        settle_charge(core, pod);
        if (pod->gang && facts->preempted && facts->deleting)
            member_preempted(core, pod->gang, pod); /* before muster started */
        if (pod->gang && facts->marked && pod_runs(pod))
            member_was_marked(core, pod->gang);
        if (!core->synced && !pod->node)
            filter_result_inherited(core, pod);
        if (pod->queue.rejected && !pod->gang && !pod->node && !core->synced)
            block_pod(core, pod); /* the reservations of the earlier run are gone */
    } else {
        bool could = pod_plannable(core, pod), was_there = pod->node || pod_is_finished(pod);
        bool was_single = is_ungrouped_pending(pod);
        pod_update(core, pod, facts);
        settle_charge(core, pod);
        if (pod->gang &&
            (could != pod_plannable(core, pod) || was_there != (pod->node || pod_is_finished(pod))))
            gang_plan_again(pod->gang);
        if (pod->queue.rejected && !was_single && is_ungrouped_pending(pod))
            block_pod(core, pod); /* it was refused while it was linked to a gang */
    }
    suspended_replace(core, pod);
    if (pod->gang)
        gang_touch(core, pod->gang);
    gate_touch(core, pod);
}

/* Whether kube-scheduler may filter such a pod, and the number of unseen pods is below its bound.
 */
static bool may_learn(const struct gang_core *core, const struct gang_pod_facts *facts)
{
    return core->n_unseen < UNSEEN_MAX && !facts->node && facts->phase == PHASE_PENDING &&
           gang_pod_facts_size(facts) <= UNSEEN_SIZE;
}

struct pod *pod_learn(struct gang_core *core, struct gang_pod_facts *facts)
{
    if (!may_learn(core, facts)) {
        gang_pod_facts_free(facts);
        return NULL;
    }
    struct pod *pod = pod_new(core, facts);
    set_unseen(core, pod, true);
    pod_timer_set(core, pod, TIMER_UNSEEN, core->now + UNSEEN_LIMIT);
    settle_charge(core, pod);
    suspended_replace(core, pod);
    return pod;
}
