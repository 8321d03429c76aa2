/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pods.h"

#include "base/must.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/node_labels.h"
#include "gang/cluster/nominate.h"
#include "gang/cluster/nominated_pods.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/passed_nodes.h"
#include "gang/cluster/pod_gate.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/pod_signature.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"

/* ---- from its first facts to its last ---- */

void remember_gone(struct gang_core *core, const char *uid)
{
    if (pod_was_deleted(core, uid))
        return;
    if (!core->gone)
        core->gone = xcalloc(GONE_MAX, sizeof *core->gone);
    char **place = &core->gone[core->gone_at];
    core->gone_at = (core->gone_at + 1) % GONE_MAX;
    if (*place) {
        map_remove(&core->gone_set, *place);
        free(*place);
    }
    *place = xstrdup(uid);
    map_set(&core->gone_set, uid, *place);
}

void gone_forget(struct gang_core *core, const char *uid)
{
    map_remove(&core->gone_set, uid);
}

void gone_done(struct gang_core *core)
{
    for (size_t i = 0; core->gone && i < GONE_MAX; i++)
        free(core->gone[i]);
    map_done(&core->gone_set);
    free(core->gone);
}

static void join_shape(struct gang_core *core, struct pod *pod)
{
    pod->shape = shape_of(core, pod->facts);
    list_push(&pod->shape->pods, &pod->in_shape);
    told_join(pod->shape, pod);
}

static void leave_shape(struct gang_core *core, struct pod *pod)
{
    list_remove(&pod->in_shape);
    shape_unref(core, pod->shape);
    pod->shape = NULL;
}

/* Its place is given up; a held call is answered. */
void lose_slot(struct gang_core *core, struct pod *pod)
{
    if (pod->slot)
        slot_release(core, pod->slot, REASON_SLOT_MOVED);
}

struct pod *pod_make(struct gang_core *core, struct gang_pod_facts *facts)
{
    struct pod *pod = xcalloc(1, sizeof *pod);
    pod->facts = facts;
    queue_joined(core, pod);
    list_init(&pod->in_gang);
    list_init(&pod->in_node);
    list_init(&pod->in_shape);
    list_init(&pod->queue.in_starved);
    list_init(&pod->wake.in_woken);
    list_init(&pod->wake.in_unasked);
    list_init(&pod->in_nominated);
    list_init(&pod->in_promised);
    list_init(&pod->in_passing);
    list_init(&pod->in_shunning);
    list_init(&pod->in_lone);
    list_init(&pod->in_space);
    for (int i = 0; i < POD_TIMERS; i++) {
        pod->timers[i].kind = (enum timer_kind)(GANG_TIMERS + i);
        pod->timers[i].owner = pod;
    }
    nominated_to(pod, facts->nominated);
    gate_seen(core, pod, /* was= */ false, facts->gated);
    core->n_invalid += facts->invalid != NULL;
    map_set(&core->pods, facts->uid, pod);
    cleanup_free char *key = full_name(facts->ns, facts->name);
    map_set(&core->names, key, pod);
    claims_join(core, pod);
    labels_learn(core, facts);
    join_shape(core, pod);
    return pod;
}

struct gang_pod_facts *pod_says(struct gang_core *core, struct pod *pod,
                                struct gang_pod_facts *facts)
{
    struct gang_pod_facts *old = pod->facts;
    core->n_invalid += (facts->invalid != NULL) - (old->invalid != NULL);
    pod->facts = facts;
    return old;
}

void set_unseen(struct gang_core *core, struct pod *pod, bool unseen)
{
    core->n_unseen += unseen - pod->unseen;
    pod->unseen = unseen;
}

void pod_free(struct gang_core *core, struct pod *pod)
{
    MUST(!pod->node && !pod->slot && !pod->call && !pod->gang); /* nobody will bind it */
    leave_shape(core, pod);
    claims_leave(core, pod);
    list_remove(&pod->queue.in_starved);
    list_remove(&pod->wake.in_woken);
    list_remove(&pod->wake.in_unasked);
    list_remove(&pod->in_nominated);
    promise_end(core, pod);
    passing_end(core, pod);
    list_remove(&pod->in_shunning);
    list_remove(&pod->in_lone);
    for (int i = 0; i < POD_TIMERS; i++)
        timer_stop(core, &pod->timers[i]);
    pod_reject(core, pod, false);
    gate_seen(core, pod, pod->facts->gated, /* is= */ false);
    set_unseen(core, pod, false);
    core->n_invalid -= pod->facts->invalid != NULL;
    labels_forget(core, pod->facts);
    map_remove(&core->pods, pod->facts->uid);
    cleanup_free char *key = full_name(pod->facts->ns, pod->facts->name);
    if (map_get(&core->names, key) == pod)
        map_remove(&core->names, key);
    gang_pod_facts_free(pod->facts);
    free(pod->nominated);
    free(pod->named);
    free(pod->pinned);
    free(pod->binding.refused_on);
    free(pod);
}

static void change_shape(struct gang_core *core, struct pod *pod)
{
    struct node *node = pod->node;
    enum charge how = pod->charge;
    usec_t left = node ? node->left : 0;
    lose_slot(core, pod);
    uncharge(core, pod);
    leave_shape(core, pod);
    join_shape(core, pod);
    if (node) {
        charge_back(core, pod, node, how, left);
        node_doubt(core, node);
    }
}

/* The needs are what they were: nothing about the sums changes. The slot stays if its node still
 * does: the pod may be on its way there, and its volume be what is being prepared for that. */
static void change_rules(struct gang_core *core, struct pod *pod)
{
    if (pod->node)
        node_joined(core, pod->node, pod->shape, -1);
    leave_shape(core, pod);
    join_shape(core, pod);
    if (pod->node)
        node_joined(core, pod->node, pod->shape, 1);
    if (pod->slot && !shape_refusal(pod->shape, pod->slot->node))
        slot_reshape(core, pod->slot, pod->shape);
    else
        lose_slot(core, pod);
}

/* Resized in place, its selector changed while gated, or where its volumes are is known now. */
void pod_reshape(struct gang_core *core, struct pod *pod)
{
    struct shape *now = shape_of(core, pod->facts), *before = shape_ref(pod->shape);
    if (now != before) {
        promise_end(core, pod); /* of what it needed before */
        if (pod->gang) {
            happened(core, pod->gang, HAPPENING_MEMBER_CHANGED);
            gang_plan_again(pod->gang);
            gang_touch(core, pod->gang);
        }
        if (shape_needs_equal(now, before))
            change_rules(core, pod);
        else
            change_shape(core, pod);
        promise_note(core, pod);
    }
    shape_unref(core, before);
    shape_unref(core, now);
}
