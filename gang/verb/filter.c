/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - the verb filter.
 *
 * When filter answers, gangs are already planned, so it only looks up the slot of a member. It also
 * compares the slot's node with the nodes that kube-scheduler offers, see member_on_offer().
 */
#include "gang/verb/verbs.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/held_calls.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/offered_nodes.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/refusal_text.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/volume_claims.h"
#include "gang/cluster/wake_writes.h"
#include "gang/facts.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/express_lane.h"
#include "gang/lifecycle/pod_update.h"
#include "gang/lifecycle/predicate_parity.h"
#include "gang/lifecycle/wake.h"
#include "gang/messages/queue_text.h"
#include "gang/messages/reason_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/move_reservations.h"
#include "gang/plan/node_score.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queue_limits.h"

/* ---- building the reply ---- */

static struct gang_filter_reply *reply(struct gang_core *core, const struct gang_event *ev)
{
    struct gang_filter_reply *r = &fx_add(core, GANG_REPLY_FILTER)->filter;
    r->id = ev->id;
    return r;
}

static void reply_error(struct gang_core *core, const struct gang_event *ev, const char *text)
{
    reply(core, ev)->error = fx_str(core, text);
}

static void reply_one(struct gang_core *core, const struct gang_event *ev, uint32_t index)
{
    uint32_t *passed = fx_alloc(core, sizeof *passed);
    *passed = index;
    struct gang_filter_reply *r = reply(core, ev);
    r->passed = passed;
    r->n_passed = 1;
}

/* Filter returned no node for the pod. */
static void pod_has_no_node(struct gang_core *core, struct pod *pod)
{
    if (!pod->node)
        wide_anti_affinity_end(pod);
    pod_refuse(core, pod);
    on_its_way(pod, false);
}

/* Refuses all nodes. Only the first node gets the reason, so that the reply is small. */
static void reply_none(struct gang_core *core, const struct gang_event *ev, struct pod *pod,
                       const char *text)
{
    struct gang_filter_refusal *refused = fx_alloc(core, sizeof *refused);
    *refused = (struct gang_filter_refusal){0, fx_str(core, text)};
    struct gang_filter_reply *r = reply(core, ev);
    r->refused = refused;
    r->n_refused = ev->n_names ? 1 : 0;
    if (pod)
        pod_has_no_node(core, pod);
}

/* With more nodes, kube-scheduler's own counts differ each time, so repeating its message is
 * useless. */
#define REPEAT_NODES_MAX 64

static bool has_lower_priority_pod(const struct node *node, int32_t priority)
{
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (pod->facts->priority < priority)
            return true;
    return false;
}

/*
 * Whether the offered nodes may be refused as full.
 *
 * The default preemption tries full nodes. It returns an error if such a node has pods of a lower
 * priority but would have room without evicting them. So there must be no such pods.
 */
static bool may_be_full(struct gang_core *core, const struct gang_event *ev, const struct pod *pod)
{
    if (!pod->facts->short_of || ev->n_names > REPEAT_NODES_MAX)
        return false;
    int32_t priority = pod->facts->priority;
    list_for_each (other, &core->filter_results, struct pod, in_filter_results)
        if (other->facts->priority < priority) /* it may be on a node soon */
            return false;
    for (size_t i = 0; i < ev->n_names; i++) {
        const struct node *node = node_by_name(core, ev->names[i]);
        if (!node || has_lower_priority_pod(node, priority))
            return false;
    }
    return true;
}

/*
 * Whether the member gets the message again that its condition has, see reply_again().
 *
 * kube-scheduler tries all waiting pods whenever room changes. If the message of a pod changes,
 * kube-scheduler writes its condition, waits for this write, and sends an event. While nodes pass
 * from one gang to the next, messages would change from "16 Insufficient X" to "1 gang …, 12
 * Insufficient X" and back. So a member that has got its gang's reason once keeps its message.
 */
static bool may_repeat_message(struct gang_core *core, const struct gang_event *ev,
                               const struct pod *pod)
{
    enum gang_reason_code code = reason_code_for_pod(pod->gang);
    return code == REASON_NOT_ENOUGH_RESOURCES && pod->emitted_reason == code &&
           may_be_full(core, ev, pod);
}

/*
 * Refuses all nodes with the message that the pod's condition has: as kube-scheduler refuses full
 * nodes, and the first node with `text`. So the message is "1 gang …, 15 Insufficient X" however
 * many of 16 nodes are offered. `text` is NULL if the condition does not contain it.
 */
static void reply_again(struct gang_core *core, const struct gang_event *ev, struct pod *pod,
                        const char *text)
{
    size_t n = ev->n_names, n_text = text && n ? 1 : 0;
    cleanup_free char *message = xasprintf("Insufficient %s", pod->facts->short_of);
    const char *full = fx_str(core, message);
    struct gang_filter_refusal *refused = fx_alloc(core, n * sizeof *refused);
    for (size_t i = 0; i < n; i++)
        refused[i] = (struct gang_filter_refusal){(uint32_t)i, i < n_text ? text : full};
    struct gang_filter_reply *r = reply(core, ev);
    r->refused = refused;
    r->n_refused = n;
    r->n_full = n - n_text;
    pod_has_no_node(core, pod);
}

/* ---- members with a slot ---- */

static int index_of(const struct gang_event *ev, const char *name)
{
    for (size_t i = 0; i < ev->n_names; i++)
        if (strcmp(ev->names[i], name) == 0)
            return (int)i;
    return -1;
}

static int offered_at(const struct gang_core *core, const struct node *node)
{
    return node->offered == core->offers ? (int)node->offer_index : -1;
}

/*
 * Swaps the member's slot with another slot of its gang and signature, on an offered node. The
 * other slot is that of an expected member, or of a sibling that is not on its way. `nominated`:
 * also swap with a sibling that is nominated, which costs a write of its nomination. Returns the
 * index of the node in the list; -1: there is no such slot.
 */
static int swap_slot(struct gang_core *core, struct pod *pod, bool nominated)
{
    list_for_each (slot, &pod->gang->slots, struct slot, in_gang) {
        const struct pod *other = slot->pod;
        bool free_to_swap =
            slot->signature == pod->signature && other != pod &&
            (other ? !other->sent && !other->held && !other->pinned : slot->unit == pod->unit) &&
            (nominated || !other || !other->nominated);
        int at = free_to_swap ? offered_at(core, slot->node) : -1;
        if (at < 0)
            continue;
        struct slot *mine = pod->slot;
        struct pod *sibling = slot_empty(slot);
        slot_empty(mine);
        slot_fill(core, slot, pod);
        if (sibling)
            slot_fill(core, mine, sibling);
        if (sibling && sibling->nominated)
            nominate(core, sibling, mine->node);
        return at;
    }
    return -1;
}

/* Moves the member's slot to the best offered node with room. Returns its index; -1: there is none.
 */
static int move_slot(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    struct node *best = NULL;
    struct reach reach = gang_reach(core, pod->gang);
    for (size_t i = 0; i < ev->n_names; i++) {
        struct node *node = node_by_name(core, ev->names[i]);
        if (node && node_misfit(node, pod->signature, &reach) == -1 &&
            !signature_refusal(pod->signature, node) &&
            !slot_anti_affinity_conflict(node, pod->facts, pod->slot, &reach) &&
            !express_collides(core, node, pod) &&
            (!best || node_better(pod->signature, node, best)))
            best = node;
    }
    if (!best)
        return -1;
    slot_move(core, pod->slot, best);
    return offered_at(core, best);
}

/*
 * The index of the offered node for the member; -1: none. If the node of its slot is not offered,
 * the slot moves to an offered node. `own_call`: the list is only the nominated node. The slot does
 * not move then, because kube-scheduler calls filter with all nodes in the same scheduling cycle.
 */
static int member_on_offer(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                           bool own_call)
{
    int at = index_of(ev, pod->slot->node->name);
    if (at >= 0 || own_call || pinned_node(core, pod))
        return at;
    look_up_names(core, ev);
    at = swap_slot(core, pod, false);
    if (at < 0)
        at = move_slot(core, pod, ev);
    return at >= 0 ? at : swap_slot(core, pod, true);
}

/* Whether the needed members still have slots without the slot of this member. */
static bool is_extra(const struct gang_core *core, const struct gang *gang, const struct pod *pod)
{
    gang_count(core, gang);
    unit_add_slots(pod->unit, -1);
    return unit_lacks(gang->root, STAGE_PLANNED) <= 0;
}

/* kube-scheduler refuses the node of the member's slot. If the list is complete (`whole`), it
 * refuses all nodes that are not in the list. */
static void note_infeasible(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                            bool whole)
{
    struct gang *gang = pod->gang;
    const struct node *node = pod->slot->node;
    triggered(core, gang, TRIGGER_REFUSED);
    if (is_extra(core, gang, pod))
        slot_release(core, pod->slot, REASON_SLOT_MOVED);
    else
        plan_drop(core, gang, REASON_SLOT_MOVED);
    /* Do this after the release, which would otherwise count as a change of the infeasible nodes.
     */
    if (whole)
        infeasible_nodes_add(core, gang, pod->signature, ev->names, ev->n_names, node);
    else
        infeasible_node_add(core, gang, pod->signature, node);
    gang_plan_again(gang);
    gang_touch(core, gang);
}

/*
 * Whether a list may lack the slot's node only because kube-scheduler has not seen yet that a pod
 * has just left the node. After muster has nominated the member, kube-scheduler has seen this: it
 * sees the nomination later than the end of the pod.
 */
static bool may_not_show(const struct gang_core *core, const struct slot *slot)
{
    return !slot->steered && node_just_freed(core, slot->node);
}

/*
 * The node of the member's slot is not offered. If the list is complete, kube-scheduler refuses the
 * node. If it is a sample, this is certain only for the nominated node: kube-scheduler tries that
 * node first, alone, and filters other nodes only if it was refused, by a plugin or by muster just
 * before
 * (`declined`). So muster nominates the member to the node once, and the next list then shows
 * whether the node is infeasible.
 *
 * If pods have just left the node, the list does not count, see may_not_show().
 */
static void not_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                        const char *nominated, bool declined)
{
    struct slot *slot = pod->slot;
    bool whole = !is_sample(core, ev);
    bool refused = whole || (!declined && str_eq(nominated, slot->node->name));
    if (refused && !may_not_show(core, slot)) {
        note_infeasible(core, pod, ev, whole);
    } else if (!slot->steered) {
        slot_steer(slot);
        nominate(core, pod, slot->node);
    }
}

/* Whether kube-scheduler may count the pod on the node, as assumed or nominated. It can then be the
 * reason why the node is not offered for a sibling. */
static bool may_fill(const struct pod *pod, const struct node *node)
{
    return pod->held || pod->sent || str_eq(pod->nominated, node->name);
}

/* For the express lane: notes for the slots of the pod's siblings whether a complete list offers
 * their nodes. */
static void note_offered_slots(struct gang_core *core, const struct pod *pod,
                               const struct gang_event *ev)
{
    if (!core->config.express_lane || is_sample(core, ev))
        return;
    look_up_names(core, ev);
    list_for_each (slot, &pod->gang->slots, struct slot, in_gang) {
        if (slot->signature != pod->signature)
            continue;
        if (offered_at(core, slot->node) >= 0)
            slot_note_offer(slot, true);
        else if (!slot->pod || slot->pod == pod || !may_fill(slot->pod, slot->node))
            slot_note_offer(slot, false);
    }
}

static void filter_slot(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                        const char *nominated)
{
    bool own_call = ev->n_names == 1 && str_eq(ev->names[0], nominated);
    if (!own_call)
        note_offered_slots(core, pod, ev);
    int at = member_on_offer(core, pod, ev, own_call);
    const struct node *tried = nominated ? node_by_name(core, nominated) : NULL;
    bool declined = tried && pod->declined == tried->id + 1;
    pod->declined = tried && own_call && at < 0 ? tried->id + 1 : 0;
    if (at >= 0) {
        pod_reject(core, pod, false);
        on_its_way(pod, true);
        filter_result_one(core, pod, pod->slot->node);
        reply_one(core, ev, (uint32_t)at);
        return;
    }
    /* A moment later, the node is offered, so a new message would not be worth a write. */
    if (!own_call && pod->facts->said_alone && may_not_show(core, pod->slot) &&
        may_be_full(core, ev, pod))
        reply_again(core, ev, pod, NULL);
    else
        reply_none(core, ev, pod,
                   reason_call(core, REASON_NODE_NOT_OFFERED, pod->gang, pod->facts,
                               pod->slot->node->name));
    if (!own_call)
        not_offered(core, pod, ev, nominated, declined);
}

/* ---- pods without a slot: only reservations and the earmark matter ---- */

/* Why reservations or the earmark leave no room for the pod on the node, as text; NULL: there is
 * room. */
static const char *reservation_refusal(struct gang_core *core, const struct pod *pod,
                                       const struct node *node, const struct reach *reach)
{
    if (!node || (!node->n_slots && !node->n_preempted_room && !reach->respects_earmark))
        return NULL;
    const struct slot *slot = slot_anti_affinity_conflict(node, pod->facts, NULL, reach);
    if (!slot && node_takes(node, pod, reach))
        return NULL;
    struct reach reserved = *reach;
    reserved.respects_earmark = false;
    if (!slot && node_takes(node, pod, &reserved))
        return reason_call(core, REASON_EARMARKED, core->earmark_gang, pod->facts, NULL);
    reserved.respects_preempted = false;
    if (!slot && node_takes(node, pod, &reserved))
        return reason_call(core, REASON_PREEMPTED_ROOM, preempted_room_owner(node, reach),
                           pod->facts, NULL);
    if (!node->n_slots)
        return NULL; /* charged pods fill the node, and kube-scheduler counts them itself */
    if (!slot)
        slot = CONTAINER_OF(node->slots.next, struct slot, in_node);
    return reason_call(core, REASON_RESERVED, slot->gang, pod->facts, NULL);
}

/* Sets the offered nodes that have room for the pod, and the refused ones. On the nominated node,
 * slots of a lower priority do not count, because kube-scheduler has made room there for the pod.
 */
static void check_nodes(struct gang_core *core, const struct pod *pod, const struct gang_event *ev,
                        const struct reach *reach, struct gang_filter_reply *r)
{
    uint32_t *passed = fx_alloc(core, (ev->n_names + 1) * sizeof *passed);
    struct gang_filter_refusal *refused = fx_alloc(core, (ev->n_names + 1) * sizeof *refused);
    struct reach nominated = *reach;
    nominated.displace = DISPLACE_LOWER;
    *r = (struct gang_filter_reply){.passed = passed, .refused = refused};
    for (size_t i = 0; i < ev->n_names; i++) {
        bool there = str_eq(ev->names[i], pod->facts->nominated);
        const char *why = reservation_refusal(core, pod, node_by_name(core, ev->names[i]),
                                              there ? &nominated : reach);
        if (why)
            refused[r->n_refused++] = (struct gang_filter_refusal){(uint32_t)i, why};
        else
            passed[r->n_passed++] = (uint32_t)i;
    }
}

/* Blocks the pod, after muster has refused all offered nodes. Notes which resources these nodes
 * lack, for wake.c. */
static void block_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    for (size_t i = 0; i < ev->n_names; i++) {
        const struct node *node = node_by_name(core, ev->names[i]);
        if (node && node->facts)
            pod->signature->offered_without |= node_lacks(node, pod->signature);
    }
    block_pod(core, pod);
}

/* The pod's queue has no room, or takes no pods: it waits like a pod that reservations block. */
static bool queue_refuses(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    const struct queue *queue;
    struct queue_short s;
    enum gang_reason_code code = queue_refuses_pods(core, pod, 1, &queue, &s);
    if (!code)
        return false;
    cleanup_free char *text = reason_queue_pod(core, pod, code, queue, &s);
    reply_none(core, ev, pod, text);
    block_offered(core, pod, ev);
    return true;
}

static void filter_ordinary(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    if (queue_refuses(core, pod, ev))
        return;
    struct reach reach = pod_reach(core, pod);
    if (!core->n_slots && !core->n_preempted_room && !reach.respects_earmark) {
        reply(core, ev)->pass_all = true;
        filter_result_offered(core, pod, ev, NULL, ev->n_names);
        return;
    }
    struct gang_filter_reply result;
    check_nodes(core, pod, ev, &reach, &result);
    if (result.n_passed == 0) {
        /* All room is reserved. Slots of lower priority may give way. */
        reach.displace = DISPLACE_LOWER;
        check_nodes(core, pod, ev, &reach, &result);
    }
    result.id = ev->id;
    *reply(core, ev) = result;
    if (result.n_passed == 0) {
        pod_refuse(core, pod);
        block_offered(core, pod, ev);
    } else {
        unblock_pod(pod);
        filter_result_offered(core, pod, ev, result.passed, result.n_passed);
    }
}

/* A later member of a placed gang. */
static void filter_extra(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    if (!pod_at_maximum(core, pod)) {
        filter_ordinary(core, pod, ev);
        return;
    }
    reply_none(core, ev, pod, reason_call(core, REASON_ABOVE_MAXIMUM, pod->gang, pod->facts, NULL));
    gang_capped(pod->gang, true); /* reconcile.c wakes it when the maximum allows it */
}

/* ---- the verb filter ---- */

/* The pod of the call, which is added if it is new; NULL: the call is already answered. */
static struct pod *called_pod(struct gang_core *core, struct gang_event *ev)
{
    struct gang_pod_facts *facts = ev->pod;
    if (pod_was_deleted(core, facts->uid)) {
        reply_none(core, ev, NULL, reason_call(core, REASON_POD_DELETED, NULL, facts, NULL));
        return NULL;
    }
    struct pod *pod = pod_by_uid(core, facts->uid);
    if (!pod) {
        struct pod *other = pod_by_name(core, facts->ns, facts->name);
        /* kube-scheduler retries after an error. After a refusal, nothing would wake the pod. */
        if (other) {
            reply_error(core, ev, reason_call(core, REASON_POD_UNKNOWN, NULL, facts, NULL));
            return NULL;
        }
        struct pod *added = pod_learn(core, STEAL(ev->pod));
        if (!added)
            reply_error(core, ev, reason_call(core, REASON_POD_UNKNOWN, NULL, NULL, NULL));
        return added;
    }
    /* muster and kube-scheduler have different versions of the pod. If the call shows it without
     * its PodGroup, muster's version is the newer one. */
    if (!gang_ref_equal(&facts->group, &pod->facts->group) && !facts->awaits_group) {
        reply_error(core, ev, reason_call(core, REASON_POD_UNKNOWN, NULL, facts, NULL));
        return NULL;
    }
    return pod;
}

/*
 * The pod is bound, or its Binding was sent, but kube-scheduler has not seen this yet. Filter
 * returns that node, and the bind call then succeeds. After a refusal, kube-scheduler would write
 * it into the condition of a bound pod.
 */
static void filter_bound(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    int at = pod->node ? index_of(ev, pod->node->name) : -1;
    if (at >= 0) {
        if (pod->charge ==
            CHARGE_BINDING) /* bind calls for an assigned pod need no filter result */
            filter_result_one(core, pod, pod->node);
        reply_one(core, ev, (uint32_t)at);
    } else if (pod->charge ==
               CHARGE_BINDING) { /* the Binding may be refused, so kube-scheduler retries */
        reply_error(core, ev, reason_call(core, REASON_BIND_OPEN, pod->gang, pod->facts, NULL));
    } else {
        reply_none(core, ev, NULL,
                   reason_call(core, REASON_POD_BOUND, pod->gang, pod->facts,
                               pod->node ? pod->node->name : "(finished)"));
    }
}

static void filter_member(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                          const char *nominated)
{
    struct gang *gang = pod->gang;
    triggered(core, gang, TRIGGER_FILTERED);
    if (pod->call) /* kube-scheduler tries the pod again, and no longer waits for the bind call */
        reply_bind(core, pod, reason_call(core, REASON_HOLD_SUPERSEDED, gang, pod->facts, NULL));
    bool placed = passes_singly(gang);
    if (placed && pod->slot && index_of(ev, pod->slot->node->name) < 0)
        slot_release(core, pod->slot, REASON_SLOT_MOVED); /* a later member may use any node */
    if (pod->slot)
        filter_slot(core, pod, ev, nominated);
    else if (placed)
        filter_extra(core, pod, ev);
    else if (gang->n_slots || gang->state == GANG_COMMITTING) {
        cleanup_free char *text =
            xasprintf("gang %s/%s: no room for this member, which is above the minimum; the gang "
                      "starts without it",
                      gang->head->ref.ns, gang->head->ref.name);
        reply_none(core, ev, pod, text);
    } else if (may_repeat_message(core, ev, pod)) {
        reply_again(core, ev, pod, pod->facts->said_alone ? NULL : reason_for_pod(core, gang));
    } else {
        reply_none(core, ev, pod, reason_for_pod(core, gang));
        pod_reason_emitted(pod, gang->pod_text.code);
    }
}

/* The node to which the pod is nominated in the call; NULL: none. The watch may show another one.
 */
static const char *nominated_in(const struct pod *pod, const struct gang_event *ev)
{
    return ev->pod ? ev->pod->nominated : pod->facts->nominated;
}

struct pod *filter_learn(struct gang_core *core, struct gang_event *ev)
{
    if (!core->synced || core->stopping) {
        reply_error(core, ev,
                    reason_call(core, core->stopping ? REASON_STOPPING : REASON_NOT_SYNCED, NULL,
                                NULL, NULL));
        return NULL;
    }
    struct pod *pod = called_pod(core, ev);
    if (!pod)
        return NULL;
    woken_end(pod);
    wake_write_over(core, pod);
    filter_result_end(core, pod);
    if (pod->node || pod_is_finished(pod)) {
        filter_bound(core, pod, ev);
        return NULL;
    }
    early_rejection_asked(core, pod);
    parity_check(core, pod, ev, nominated_in(pod, ev));
    return pod;
}

void answer_filter(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    enum gang_reason_code unlinked = pod_unlinked(pod->facts);
    if (unlinked) {
        reply_none(core, ev, pod, reason_call(core, unlinked, NULL, pod->facts, NULL));
        pod_reason_emitted(pod, unlinked);
    } else if (pod->gang) {
        filter_member(core, pod, ev, nominated_in(pod, ev));
    } else {
        filter_ordinary(core, pod, ev);
    }
}
