/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - answers to filter.
 *
 * By the time a call is answered, planning is done: filter looks up what was decided. The one
 * thing it still learns is what kube-scheduler offers, see member_on_offer().
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
#include "gang/cluster/refusal_text.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/volume_claims.h"
#include "gang/facts.h"
#include "gang/lifecycle/early_rejection.h"
#include "gang/lifecycle/express_lane.h"
#include "gang/lifecycle/pod_update.h"
#include "gang/lifecycle/predicate_parity.h"
#include "gang/lifecycle/wake.h"
#include "gang/messages/reason_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/node_score.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/quorum.h"

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

static void pod_has_no_node(struct gang_core *core, struct pod *pod)
{
    if (!pod->node)
        wide_anti_affinity_end(pod);
    pod_refuse(core, pod);
    on_its_way(pod, false);
}

/* No node: constant size, the reason on the first node offered. */
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

/* With more nodes the scheduler's own figures are others each time. */
#define AGAIN_NODES 64

static bool holds_lower(const struct node *node, int32_t priority)
{
    list_for_each (pod, &node->pods, struct pod, in_node)
        if (pod->facts->priority < priority)
            return true;
    return false;
}

/*
 * Whenever room comes and goes, all that wait are tried, and what is new to a pod costs a write of
 * its condition, which kube-scheduler waits for, and an event: "16 Insufficient X" on a full
 * cluster, "1 gang …, 12 Insufficient X" while nodes are on their way from one gang to the next,
 * and back. A member that was told what its gang waits for, and reads "Insufficient X" since, hears
 * it again: to it those nodes are as full as the others.
 *
 * The same words need the same kind of refusal, FailedNodes. Default preemption tries such a node,
 * and where it finds pods to evict but needs none of them, ends in an error.
 */
static bool says_it_again(struct gang_core *core, const struct gang_event *ev,
                          const struct pod *pod)
{
    enum gang_reason_code code = reason_code_for_pod(pod->gang);
    if (code != REASON_NOT_ENOUGH_RESOURCES || pod->emitted_reason != code ||
        !pod->facts->short_of || ev->n_names > AGAIN_NODES)
        return false;
    int32_t priority = pod->facts->priority;
    list_for_each (other, &core->filter_results, struct pod,
                   in_filter_results) /* on some node, soon */
        if (other->facts->priority < priority)
            return false;
    for (size_t i = 0; i < ev->n_names; i++) {
        const struct node *node = node_by_name(core, ev->names[i]);
        if (!node || holds_lower(node, priority))
            return false;
    }
    return true;
}

/* None of the nodes, as kube-scheduler refuses those that lack what the pod is short of. */
static void reply_full(struct gang_core *core, const struct gang_event *ev, struct pod *pod)
{
    cleanup_free char *words = xasprintf("Insufficient %s", pod->facts->short_of);
    const char *text = fx_str(core, words);
    struct gang_filter_refusal *refused = fx_alloc(core, ev->n_names * sizeof *refused);
    for (size_t i = 0; i < ev->n_names; i++)
        refused[i] = (struct gang_filter_refusal){(uint32_t)i, text};
    struct gang_filter_reply *r = reply(core, ev);
    r->refused = refused;
    r->n_refused = ev->n_names;
    r->as_full = true;
    pod_has_no_node(core, pod);
}

/* ---- a member on its way to its slot ---- */

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
 * A slot of the same signature on an offered node, expected or of a sibling that is not on its way
 * yet: swap. A sibling that is nominated there is nominated anew, which is a write: one that is not
 * is taken first.
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
            slot_fill(core, mine, sibling); /* an expected one stays of the same unit */
        if (sibling && sibling->nominated)
            nominate(core, sibling, mine->node);
        return at;
    }
    return -1;
}

/* The best offered node with room for the member: its slot moves there. */
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
    slot_release(core, pod->slot, REASON_SLOT_MOVED);
    slot_fill(core, slot_add(core, pod->gang, pod->unit, pod->signature, best), pod);
    core->stats.slots_moved++;
    return offered_at(core, best);
}

/*
 * Which offered node the member takes; -1: none. Its own slot's node if it is there. On the
 * nomination's own call (that one node alone) nothing moves: the full list follows in the same
 * scheduling cycle. Else the slot moves to where the scheduler would let the member go; a whole
 * list without any such node is evidence that it may go nowhere else.
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

/* The member can have its place given up and the needed set be complete all the same. */
static bool is_extra(const struct gang_core *core, const struct gang *gang, const struct pod *pod)
{
    gang_count(core, gang);
    unit_add_slots(pod->unit, -1);
    return unit_lacks(gang->root, STAGE_PLANNED) <= 0;
}

/* The scheduler refuses the member its node; with a whole list, every node that is not offered. */
static void believe(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                    bool whole)
{
    struct gang *gang = pod->gang;
    const struct node *node = pod->slot->node;
    triggered(core, gang, TRIGGER_REFUSED);
    if (is_extra(core, gang, pod))
        slot_release(core, pod->slot, REASON_SLOT_MOVED);
    else
        plan_drop(core, gang, REASON_SLOT_MOVED);
    /* After the release: what it freed is no news about the nodes not offered here. */
    if (whole)
        infeasible_nodes_add(core, gang, pod->signature, ev->names, ev->n_names, node);
    else
        infeasible_node_add(core, gang, pod->signature, node);
    gang_plan_again(gang);
    gang_touch(core, gang);
}

/*
 * Its place is not on offer. A sample says nothing about that, but for the node that the pod is
 * nominated to: kube-scheduler tries it first, alone, and asks us about others only if it was
 * refused (by its own filters, unless we declined it ourselves just before). So a member is
 * nominated to its place, once, and the next sample is evidence about that one node.
 *
 * Neither does any list say anything about a node that has just become free, where kube-scheduler
 * may not have heard of it: what it does because of a nomination it does after that.
 */
static void not_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                        const char *nominated, bool declined)
{
    struct slot *slot = pod->slot;
    bool whole = !is_sample(core, ev);
    bool refused = whole || (!declined && str_eq(nominated, slot->node->name));
    bool heard = slot->steered || !node_just_freed(core, slot->node);
    if (refused && heard) {
        believe(core, pod, ev, whole);
    } else if (!slot->steered) {
        slot_steer(slot);
        nominate(core, pod, slot->node);
    }
}

/* The pod may have taken the last room there itself: it is on its way, or nominated, which
 * kube-scheduler counts like a pod. */
static bool may_fill(const struct pod *pod, const struct node *node)
{
    return pod->held || pod->sent || str_eq(pod->nominated, node->name);
}

/* What a whole list says of the places of its siblings too, for the express lane. */
static void vouch(struct gang_core *core, const struct pod *pod, const struct gang_event *ev)
{
    if (!core->config.express || is_sample(core, ev))
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
        vouch(core, pod, ev);
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
    struct gang *gang = pod->gang;
    struct slot *slot = pod->slot;
    reply_none(core, ev, pod,
               reason_call(core, REASON_NODE_NOT_OFFERED, gang, pod->facts, slot->node->name));
    if (!own_call)
        not_offered(core, pod, ev, nominated, declined);
}

/* ---- pods that are judged by the reservations alone ---- */

/* Why reservations, or what is kept, leave no room for the pod there; NULL: there is room. */
static const char *kept_out_by(struct gang_core *core, const struct pod *pod,
                               const struct node *node, const struct reach *reach)
{
    if (!node || (!node->n_slots && !reach->respects_earmark))
        return NULL;
    const struct slot *slot = slot_anti_affinity_conflict(node, pod->facts, NULL, reach);
    if (!slot && node_takes(node, pod->signature, 0, reach))
        return NULL;
    struct reach reserved = *reach;
    reserved.respects_earmark = false;
    if (slot || !node_takes(node, pod->signature, 0, &reserved)) {
        if (!node->n_slots)
            return NULL; /* the scheduler knows better what is assigned there */
        if (!slot)
            slot = CONTAINER_OF(node->slots.next, struct slot, in_node);
        return reason_call(core, REASON_RESERVED, slot->gang, pod->facts, NULL);
    }
    return reason_call(core, REASON_EARMARKED, core->earmark_gang, pod->facts, NULL);
}

/* The offered nodes where the pod has room. Its nomination is where kube-scheduler has made room
 * for it: slots of a lower priority are no reason to refuse that. */
static void judge_nodes(struct gang_core *core, const struct pod *pod, const struct gang_event *ev,
                        const struct reach *reach, struct gang_filter_reply *r)
{
    uint32_t *passed = fx_alloc(core, (ev->n_names + 1) * sizeof *passed);
    struct gang_filter_refusal *refused = fx_alloc(core, (ev->n_names + 1) * sizeof *refused);
    struct reach nominated = *reach;
    nominated.displace = DISPLACE_LOWER;
    *r = (struct gang_filter_reply){.passed = passed, .refused = refused};
    for (size_t i = 0; i < ev->n_names; i++) {
        bool there = str_eq(ev->names[i], pod->facts->nominated);
        const char *why =
            kept_out_by(core, pod, node_by_name(core, ev->names[i]), there ? &nominated : reach);
        if (why)
            refused[r->n_refused++] = (struct gang_filter_refusal){(uint32_t)i, why};
        else
            passed[r->n_passed++] = (uint32_t)i;
    }
}

static void filter_ordinary(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    struct reach reach = pod_reach(core, pod);
    if (!core->n_slots && !reach.respects_earmark) {
        reply(core, ev)->pass_all = true;
        filter_result_offered(core, pod, ev, NULL, ev->n_names);
        return;
    }
    struct gang_filter_reply judged;
    judge_nodes(core, pod, ev, &reach, &judged);
    if (judged.n_passed == 0) { /* there is no room beside the slots: those below it move */
        reach.displace = DISPLACE_LOWER;
        judge_nodes(core, pod, ev, &reach, &judged);
    }
    judged.id = ev->id;
    *reply(core, ev) = judged;
    if (judged.n_passed == 0) {
        pod_refuse(core, pod);
        block_pod(core, pod);
    } else {
        unblock_pod(pod);
        filter_result_offered(core, pod, ev, judged.passed, judged.n_passed);
    }
}

/* A later member of a Placed gang. */
static void filter_later(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    if (!pod_at_maximum(core, pod)) {
        filter_ordinary(core, pod, ev);
        return;
    }
    reply_none(core, ev, pod, reason_call(core, REASON_ABOVE_MAXIMUM, pod->gang, pod->facts, NULL));
    gang_capped(pod->gang, true); /* reconcile.c sees to it that it is woken */
}

/* ---- filter ---- */

/* The pod the call is about, learnt from the call if need be; NULL when it was answered. */
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
        if (other) { /* an error: the scheduler tries again by itself, nothing else would wake it */
            reply_error(core, ev, reason_call(core, REASON_POD_UNKNOWN, NULL, facts, NULL));
            return NULL;
        }
        struct pod *learnt = pod_learn(core, STEAL(ev->pod));
        if (!learnt)
            reply_error(core, ev, reason_call(core, REASON_POD_UNKNOWN, NULL, NULL, NULL));
        return learnt;
    }
    /* One of us is ahead of the other; what waits for its PodGroup there may have it here. */
    if (!gang_ref_equal(&facts->group, &pod->facts->group) && !facts->awaits_group) {
        reply_error(core, ev, reason_call(core, REASON_POD_UNKNOWN, NULL, facts, NULL));
        return NULL;
    }
    return pod;
}

/*
 * kube-scheduler has not heard yet that the pod is bound, or about to be: it is sent to that very
 * node, where its bind call finds what it asks for. A refusal would be written on the pod as its
 * condition, after it was bound.
 */
static void filter_bound(struct gang_core *core, struct pod *pod, const struct gang_event *ev)
{
    int at = pod->node ? index_of(ev, pod->node->name) : -1;
    if (at >= 0) {
        if (pod->charge == CHARGE_BINDING) /* else its charge says all */
            filter_result_one(core, pod, pod->node);
        reply_one(core, ev, (uint32_t)at);
    } else if (pod->charge == CHARGE_BINDING) { /* it may still be refused: it is asked for again */
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
    if (pod->call) /* the scheduler tries it anew: it does not wait for the bind call any more */
        reply_bind(core, pod, reason_call(core, REASON_HOLD_SUPERSEDED, gang, pod->facts, NULL));
    bool placed = passes_singly(gang);
    if (placed && pod->slot && index_of(ev, pod->slot->node->name) < 0)
        slot_release(core, pod->slot, REASON_SLOT_MOVED); /* it may go anywhere now */
    if (pod->slot)
        filter_slot(core, pod, ev, nominated);
    else if (placed)
        filter_later(core, pod, ev);
    else if (gang->n_slots || gang->state == GANG_COMMITTING) {
        cleanup_free char *text = xasprintf("gang %s/%s: above minimum, no room",
                                            gang->head->ref.ns, gang->head->ref.name);
        reply_none(core, ev, pod, text);
    } else if (says_it_again(core, ev, pod)) {
        reply_full(core, ev, pod);
    } else {
        reply_none(core, ev, pod, reason_for_pod(core, gang));
        pod_reason_emitted(pod, gang->pod_text.code);
    }
}

/* Of two views of a pod the call's says where it is nominated. */
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
    if (unlinked)
        reply_none(core, ev, pod, reason_call(core, unlinked, NULL, pod->facts, NULL));
    else if (pod->gang)
        filter_member(core, pod, ev, nominated_in(pod, ev));
    else
        filter_ordinary(core, pod, ev);
}
