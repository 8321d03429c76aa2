/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/nominated_pods.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/inter_pod.h"
#include "gang/cluster/objects.h"

static const struct node *promised_node(const struct gang_core *core, const struct pod *pod)
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
    node_moved(core, node);
    layout_new(core);
}

void promise_end(struct gang_core *core, struct pod *pod)
{
    struct node *node = STEAL(pod->promised);
    if (!node)
        return;
    list_remove(&pod->in_promised);
    core->n_promised--;
    changed(core, node);
    if (pod->node != node)
        node_changed(core, node);
}

void promise_note(struct gang_core *core, struct pod *pod)
{
    const struct node *node = promised_node(core, pod);
    if (node == pod->promised)
        return;
    promise_end(core, pod);
    if (!node)
        return;
    pod->promised = node_by_name(core, node->name);
    list_push(&pod->promised->promised, &pod->in_promised);
    core->n_promised++;
    changed(core, pod->promised);
}

void promise_none(struct pod *pod, const struct node *node)
{
    bool anyhow = node && pod->promised == node; /* it only wakes the pod */
    free(pod->named);
    pod->named = node && !anyhow ? xstrdup(node->name) : NULL;
}

void nominated_by_kube(struct pod *pod)
{
    free(STEAL(pod->named));
}

static bool is_before(const struct pod *pod, const struct reach *reach)
{
    return reach->yields && pod != reach->self && pod->facts->priority >= reach->priority;
}

int64_t promised_to(const struct node *node, uint32_t resource, const struct reach *reach)
{
    int64_t sum = 0;
    list_for_each (pod, &node->promised, struct pod, in_promised)
        if (is_before(pod, reach) &&
            __builtin_add_overflow(sum, shape_need(pod->shape, resource), &sum))
            return INT64_MAX / 2;
    return sum;
}

bool ports_promised(const struct node *node, const struct shape *shape, const struct reach *reach)
{
    const struct gang_pod_facts *want = shape->ports ? shape_sample(shape) : NULL;
    list_for_each (pod, &node->promised, struct pod, in_promised)
        if (want && pod->shape->ports && is_before(pod, reach) &&
            gang_pods_conflict(want, pod->facts))
            return true;
    return false;
}

int promise_check(const struct gang_core *core, struct err *err)
{
    size_t n = 0;
    map_for_each (e, &core->pods) {
        const struct pod *pod = e->value;
        n += pod->promised != NULL;
        if (core->synced && pod->promised != promised_node(core, pod))
            return err_set(err, ERR_INTERNAL, "pod %s/%s: room is promised to it on %s, not on %s",
                           pod->facts->ns, pod->facts->name,
                           pod->promised ? pod->promised->name : "no node",
                           promised_node(core, pod) ? promised_node(core, pod)->name : "none");
    }
    if (n != core->n_promised)
        return err_set(err, ERR_INTERNAL, "room is promised to %zu pods, counted as %zu", n,
                       core->n_promised);
    return 0;
}
