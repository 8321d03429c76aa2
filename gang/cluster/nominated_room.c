/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/nominated_room.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"

/* The node on which the pod should have nominated room; NULL: none. */
static const struct node *nominated_room_node(const struct gang_core *core, const struct pod *pod)
{
    const char *name = pod->facts->nominated;
    bool shown = name && str_eq(name, pod->nominated) && !str_eq(name, pod->named);
    bool gated = pod->facts->gated || pod->facts->n_gates > 0;
    if (!shown || pod->slot || pod->node || gated || !pod_counts(pod) || pod_is_finished(pod) ||
        !pod_is_ours(core, pod))
        return NULL;
    if (pod_unlinked(pod->facts) || (pod->gang && !passes_singly(pod->gang)))
        return NULL;
    return node_by_name(core, name);
}

static void changed(struct gang_core *core, struct node *node)
{
    node_reclassify(core, node);
    layout_new(core);
}

void nominated_room_end(struct gang_core *core, struct pod *pod)
{
    struct node *node = STEAL(pod->nominated_room);
    if (!node)
        return;
    list_remove(&pod->in_nominated_room);
    core->n_nominated_room--;
    changed(core, node);
    if (pod->node != node)
        node_changed(core, node);
}

void nominated_room_update(struct gang_core *core, struct pod *pod)
{
    const struct node *node = nominated_room_node(core, pod);
    if (node == pod->nominated_room)
        return;
    nominated_room_end(core, pod);
    if (!node)
        return;
    pod->nominated_room = node_by_name(core, node->name);
    list_push(&pod->nominated_room->nominated_room, &pod->in_nominated_room);
    core->n_nominated_room++;
    changed(core, pod->nominated_room);
}

void nominated_room_drop(struct pod *pod, const struct node *node)
{
    /* If kube-scheduler has nominated the pod to this node, muster's write only wakes the pod. */
    bool anyhow = node && pod->nominated_room == node;
    free(pod->named);
    pod->named = node && !anyhow ? xstrdup(node->name) : NULL;
}

void nominated_by_scheduler(struct pod *pod)
{
    free(STEAL(pod->named));
}

/* Whether `reach` must leave the pod's nominated room free. */
static bool is_before(const struct pod *pod, const struct reach *reach)
{
    return reach->respects_nominated && pod != reach->self &&
           pod->facts->priority >= reach->priority;
}

int64_t nominated_amount(const struct node *node, uint32_t resource, const struct reach *reach)
{
    int64_t sum = 0;
    list_for_each (pod, &node->nominated_room, struct pod, in_nominated_room)
        if (is_before(pod, reach) &&
            __builtin_add_overflow(sum, signature_need(pod->signature, resource), &sum))
            return INT64_MAX / 2;
    return sum;
}

bool nominated_ports_conflict(const struct node *node, const struct signature *signature,
                              const struct reach *reach)
{
    const struct gang_pod_facts *want = signature->ports ? signature_sample(signature) : NULL;
    list_for_each (pod, &node->nominated_room, struct pod, in_nominated_room)
        if (want && pod->signature->ports && is_before(pod, reach) &&
            gang_pods_conflict(want, pod->facts))
            return true;
    return false;
}

int nominated_room_check(const struct gang_core *core, struct err *err)
{
    size_t n = 0;
    map_for_each (e, &core->pods) {
        const struct pod *pod = e->value;
        n += pod->nominated_room != NULL;
        if (core->synced && pod->nominated_room != nominated_room_node(core, pod))
            return err_set(
                err, ERR_INTERNAL, "pod %s/%s has nominated room on %s, but should have it on %s",
                pod->facts->ns, pod->facts->name,
                pod->nominated_room ? pod->nominated_room->name : "no node",
                nominated_room_node(core, pod) ? nominated_room_node(core, pod)->name : "no node");
    }
    if (n != core->n_nominated_room)
        return err_set(err, ERR_INTERNAL, "%zu pods have nominated room, counted as %zu", n,
                       core->n_nominated_room);
    return 0;
}
