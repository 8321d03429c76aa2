/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pods.h"

#include "base/must.h"
#include "gang/cluster/class_labels.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/filter_results.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/nominations.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/pod_gate.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/pods_by_queue.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/timers.h"
#include "gang/cluster/volume_claims.h"

/* P04 allows 100 MiB for 50,000 pods, and 100 bytes more for each pod cost 5 MiB. */
_Static_assert(sizeof(struct pod) <= 576, "allocate state that few pods need separately");

/* ---- life cycle ---- */

void remember_gone(struct gang_core *core, const char *uid)
{
    if (pod_was_deleted(core, uid))
        return;
    if (!core->gone)
        core->gone = xcalloc(GONE_MAX, sizeof *core->gone);
    char **entry = &core->gone[core->gone_at];
    core->gone_at = (core->gone_at + 1) % GONE_MAX;
    if (*entry) {
        map_remove(&core->gone_set, *entry);
        free(*entry);
    }
    *entry = xstrdup(uid);
    map_set(&core->gone_set, uid, *entry);
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

static void join_signature(struct gang_core *core, struct pod *pod)
{
    pod->signature = signature_of(core, pod->facts);
    pod_recount(pod);
    class_labels_pod_added(core, pod->signature, pod);
}

static void leave_signature(struct gang_core *core, struct pod *pod)
{
    signature_unlist(pod);
    signature_unref(core, pod->signature);
    pod->signature = NULL;
}

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
    list_init(&pod->in_ending);
    list_init(&pod->in_signature);
    list_init(&pod->wake.in_woken);
    list_init(&pod->steering.in_unasked);
    list_init(&pod->in_nominated);
    list_init(&pod->in_nominated_room);
    list_init(&pod->in_filter_results);
    list_init(&pod->in_wide_anti_affinity);
    list_init(&pod->in_ungrouped);
    list_init(&pod->in_namespace);
    list_init(&pod->in_queue_name);
    nominated_to(pod, facts->nominated);
    ending_update(core, pod);
    gate_seen(core, pod, /* was= */ false, facts->gated);
    core->n_invalid += facts->invalid != NULL;
    core->n_suspended += facts->suspended;
    map_set(&core->pods, facts->uid, pod);
    cleanup_free char *key = full_name(facts->ns, facts->name);
    map_set(&core->names, key, pod);
    queue_name_update(core, pod, NULL);
    claims_join(core, pod);
    rule_labels_add(core, facts);
    join_signature(core, pod);
    return pod;
}

struct gang_pod_facts *pod_set_facts(struct gang_core *core, struct pod *pod,
                                     struct gang_pod_facts *facts)
{
    struct gang_pod_facts *old = pod->facts;
    core->n_invalid += (facts->invalid != NULL) - (old->invalid != NULL);
    core->n_suspended += (size_t)facts->suspended - old->suspended;
    pod->facts = facts;
    queue_name_update(core, pod, &old->queue);
    ending_update(core, pod);
    pod_recount(pod);
    return old;
}

void set_unseen(struct gang_core *core, struct pod *pod, bool unseen)
{
    core->n_unseen += unseen - pod->unseen;
    pod->unseen = unseen;
    pod_recount(pod);
}

void pod_free(struct gang_core *core, struct pod *pod)
{
    MUST(!pod->node && !pod->slot && !pod->call && !pod->gang); /* nothing will bind it */
    leave_signature(core, pod);
    queue_name_end(core, pod);
    claims_leave(core, pod);
    list_remove(&pod->in_ending);
    unblock_pod(pod);
    list_remove(&pod->wake.in_woken);
    list_remove(&pod->steering.in_unasked);
    list_remove(&pod->in_nominated);
    nominated_room_end(core, pod);
    filter_result_end(core, pod);
    list_remove(&pod->in_wide_anti_affinity);
    list_remove(&pod->in_ungrouped);
    pod_timers_stop(core, pod);
    pod_reject(core, pod, false);
    gate_seen(core, pod, pod->facts->gated, /* is= */ false);
    set_unseen(core, pod, false);
    core->n_invalid -= pod->facts->invalid != NULL;
    core->n_suspended -= pod->facts->suspended;
    rule_labels_remove(core, pod->facts);
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

static void change_signature(struct gang_core *core, struct pod *pod)
{
    struct node *node = pod->node;
    enum charge how = pod->charge;
    usec_t left = node ? node->left : 0;
    const struct pod_eviction eviction = pod->eviction;
    lose_slot(core, pod);
    uncharge(core, pod);
    leave_signature(core, pod);
    join_signature(core, pod);
    if (node) {
        charge_back(core, pod, node, how, left);
        eviction_stays(core, pod, &eviction);
        node_recheck_slots(core, node);
    }
}

/* The needs are the same, so the sums do not change. The slot stays if its node is still feasible,
 * because the pod may be on its way, and kube-scheduler may be preparing its volumes there. */
static void change_rules(struct gang_core *core, struct pod *pod)
{
    if (pod->node)
        node_joined(core, pod->node, pod->signature, -1);
    leave_signature(core, pod);
    join_signature(core, pod);
    if (pod->node)
        node_joined(core, pod->node, pod->signature, 1);
    if (pod->slot && !signature_refusal(pod->signature, pod->slot->node))
        slot_signature_update(core, pod->slot, pod->signature);
    else
        lose_slot(core, pod);
}

void pod_signature_update(struct gang_core *core, struct pod *pod)
{
    struct signature *now = signature_of(core, pod->facts), *before = signature_ref(pod->signature);
    if (now != before) {
        nominated_room_end(core, pod); /* its amounts are those of the old signature */
        if (pod->gang) {
            triggered(core, pod->gang, TRIGGER_MEMBER_CHANGED);
            gang_plan_again(pod->gang);
            gang_touch(core, pod->gang);
        }
        if (signature_needs_equal(now, before))
            change_rules(core, pod);
        else
            change_signature(core, pod);
        nominated_room_update(core, pod);
    }
    signature_unref(core, before);
    signature_unref(core, now);
}
