/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/earmark.h"

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reach.h"
#include "gang/cluster/resources.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/quorum.h"

void earmark_add(struct gang_core *core, struct node *node, struct signature *signature)
{
    layout_new(core);
    amounts_add(core, &node->earmarked, signature, 1);
    node->earmarked_alone |= signature->alone;
    if (list_empty(&node->in_earmarked))
        list_push(&core->earmarked, &node->in_earmarked);
    node_reclassify(core, node);
}

void earmark_clear(struct gang_core *core)
{
    layout_new(core);
    list_for_each_safe (node, &core->earmarked, struct node, in_earmarked) {
        amounts_clear(core, &node->earmarked);
        node->earmarked_alone = false;
        list_remove(&node->in_earmarked);
        node_reclassify(core, node);
    }
}

void earmark_set(struct gang_core *core, struct gang *gang)
{
    core->earmark_gang = gang;
}

void earmark_end(struct gang_core *core, struct gang *gang)
{
    if (core->earmark_gang != gang)
        return;
    earmark_clear(core);
    earmark_set(core, NULL);
    room_grew(core); /* for gangs and pods that had to respect the earmark */
}

void earmark_order_changed(struct gang_core *core, const struct gang *gang)
{
    if (core->earmark_gang == gang)
        room_grew(core);
}

/* It is for the fair share of a queue: the gang has not waited too long yet. */
static bool is_for_share(const struct gang_core *core)
{
    return !core->earmark_gang->starved && !core->config.strict_order;
}

bool gang_respects_earmark(const struct gang_core *core, const struct gang *gang)
{
    const struct gang *earmark_gang = core->earmark_gang;
    return earmark_gang && gang != earmark_gang && !gang->room_since &&
           !(is_for_share(core) && gang->queue == earmark_gang->queue) &&
           order_after(gang, earmark_gang);
}

bool earmark_binds_pods(const struct gang_core *core, int32_t priority)
{
    return core->earmark_gang && !is_for_share(core) && priority <= core->earmark_gang->priority;
}

bool pod_respects_earmark(const struct gang_core *core, const struct pod *pod)
{
    return pod->gang != core->earmark_gang && earmark_binds_pods(core, pod->facts->priority);
}

/* Whether any room is free only for some, see room_is_kept(). */
static bool any_room_is_kept(const struct gang_core *core)
{
    return core->n_preempted_room || core->n_takers;
}

static uint64_t digest_if_needed(const struct gang_core *core, const char *ns)
{
    return any_room_is_kept(core) ? namespace_digest(ns) : 0;
}

struct reach gang_reach(const struct gang_core *core, const struct gang *gang)
{
    return (struct reach){.respects_earmark = gang_respects_earmark(core, gang),
                          .respects_nominated = true,
                          .respects_preempted = true,
                          .gang = gang,
                          .own_gang = gang->room_since ? gang : NULL,
                          .queue = queue_of_gang(core, gang),
                          .ns = digest_if_needed(core, gang->head->ref.ns),
                          .priority = gang->pod_priority};
}

/* A member of a running gang that does not need it. */
static bool is_extra(const struct gang_core *core, const struct pod *pod)
{
    const struct gang *gang = pod->gang;
    return gang && gang->state == GANG_SCHEDULED && !pod->node &&
           gang_lacks(core, gang, STAGE_BOUND) <= 0; /* a trial may have counted it */
}

struct reach pod_reach(const struct gang_core *core, const struct pod *pod)
{
    bool own = pod->gang && pod->gang->room_since;
    const struct queue *queue = queue_of_pod(core, pod);
    return (struct reach){.respects_earmark = pod_respects_earmark(core, pod),
                          .respects_preempted = true,
                          .extra = is_extra(core, pod),
                          .gang = pod->gang,
                          .own_gang = own ? pod->gang : NULL,
                          .queue = pod->gang || queue != core->queues.none ? queue : NULL,
                          .ns = digest_if_needed(core, pod->facts->ns),
                          .priority = pod->facts->priority,
                          .self = pod};
}

bool reach_equal(const struct gang_core *core, const struct reach *a, const struct reach *b)
{
    bool kept = any_room_is_kept(core);
    return a->respects_earmark == b->respects_earmark &&
           (a->priority == b->priority || (!core->n_nominated_room && !kept)) &&
           ((a->queue == b->queue && a->ns == b->ns) || !kept) && a->own_gang == b->own_gang;
}
