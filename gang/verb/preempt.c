/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preempt.c - the verb preempt: on which nodes a preemption may proceed.
 */
#include "gang/verb/verbs.h"

#include "gang/cluster/effects.h"
#include "gang/cluster/kube_preemptions.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reach.h"
#include "gang/plan/pod_taker.h"
#include "gang/podgroup/earmark.h"
#include "gang/queue/queue_limits.h"
#include "gang/verb/preempt_choice.h"
#include "gang/verb/victim_gangs.h"

/* From this priority on, a pod is critical for the system, as in kube-scheduler. */
#define SYSTEM_CRITICAL INT32_C(2000000000)

/* Whether the pod could use the room that a preemption on the node frees. False if the earmark, a
 * slot or preempted room needs the room, or if kube-scheduler may have assumed a member there and
 * could choose it as a victim. */
static bool frees_room(const struct gang_core *core, const struct node *node,
                       const struct gang_pod_facts *facts)
{
    const struct pod *pod = pod_by_uid(core, facts->uid);
    bool respects_earmark = earmark_binds_pods(core, facts->priority);
    struct reach kept = {.respects_preempted = true};
    if (pod)
        kept = pod_reach(core, pod);
    kept.priority = facts->priority;
    struct reach lower = kept;
    lower.displace = DISPLACE_LOWER;
    if (node && respects_earmark && node->earmarked.n)
        return false;
    if (node && preempted_room_owner(node, &kept))
        return false;
    if (node)
        list_for_each (slot, &node->slots, struct slot, in_node)
            if (!slot_yields(slot, &lower) || (slot->pod && slot->pod->sent))
                return false;
    return true;
}

/* Whether kube-scheduler accepts an answer with these victims on the node. If not, it gives up the
 * preemption on every node, in two cases:
 *   - There are no victims (pkg/scheduler/framework/preemption, callExtenders).
 *   - A victim runs on another node. From Kubernetes 1.37 on, the victims on a node include all
 *     pods of a native PodGroup with the disruptionMode "all" that has a pod there. kube-scheduler
 *     looks for them on this node only (pkg/scheduler/extender.go, convertPodUIDToPod). */
static bool may_be_echoed(const struct gang_core *core, const struct node *node,
                          const struct gang_victims *victims)
{
    for (size_t i = 0; i < victims->n; i++) {
        const struct pod *pod = pod_by_uid(core, victims->uids[i]);
        if (pod && pod->node && pod->node != node)
            return false;
    }
    return victims->n > 0;
}

/* The candidates whose room the pod may use. */
static size_t usable(const struct gang_core *core, const struct gang_event *ev, uint32_t *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < ev->n_names; i++) {
        const struct node *node = node_by_name(core, ev->names[i]);
        if (frees_room(core, node, ev->pod) &&
            (!ev->victims || may_be_echoed(core, node, &ev->victims[i])))
            ret[n++] = (uint32_t)i;
    }
    return n;
}

/* Of these candidates, keeps those that the rules of queues allow. */
static size_t keep_allowed(struct gang_core *core, const struct gang_event *ev, uint32_t *kept,
                           size_t n_kept)
{
    size_t n = 0;
    struct pod_taker taker = pod_taker_begin(core, ev->pod, pod_by_uid(core, ev->pod->uid));
    for (size_t i = 0; i < n_kept; i++)
        if (pod_may_take(&taker, &ev->victims[kept[i]]))
            kept[n++] = kept[i];
    pod_taker_end(&taker);
    return n;
}

/* Keeps those that the rules of queues allow, too, and whose victims leave every gang its minimum.
 * The rules of queues do not bind a pod that is critical for the system. If none is left for it,
 * keeps all usable ones. */
static size_t keep(struct gang_core *core, const struct gang_event *ev, uint32_t *kept)
{
    bool critical = ev->pod->priority >= SYSTEM_CRITICAL;
    cleanup_free uint32_t *all = xcalloc(ev->n_names + 1, sizeof *all);
    size_t n = 0, n_all = usable(core, ev, all);
    if (ev->victims && !critical)
        n_all = keep_allowed(core, ev, all, n_all);
    struct victim_gangs gangs = victim_gangs_begin(core, ev);
    for (size_t i = 0; i < n_all; i++)
        if (!ev->victims || !victims_break_gang(&gangs, &ev->victims[all[i]]))
            kept[n++] = all[i];
    victim_gangs_end(&gangs);
    if (n || !critical)
        return n;
    memcpy(kept, all, n_all * sizeof *kept);
    return n_all;
}

/* If a victim is a member of a gang or is in a queue, keeps only one candidate, so that the victims
 * are known. Remembers the preemption. pod: may be NULL. n > 0. Returns how many candidates are
 * left. */
static size_t allow(struct gang_core *core, const struct gang_event *ev, struct pod *pod,
                    uint32_t *kept, size_t n)
{
    if (ev->victims && n > 1 && victims_in_gangs_or_queues(core, ev, kept, n)) {
        kept[0] = choose_candidate(core, ev, kept, n);
        n = 1;
    }
    kube_preemption_add(core, ev->pod->uid, ev->victims && n == 1 ? &ev->victims[kept[0]] : NULL);
    if (pod) {
        nominated_by_scheduler(pod);
        nominated_room_update(core, pod);
    }
    return n;
}

/*
 * Keeps no candidate for a member, because the preemption would evict pods for this member alone.
 * Keeps none for a pod that its queue stops, because room on a node does not help it. The
 * nomination that follows is kube-scheduler's, even if muster has nominated the pod to the same
 * node before.
 */
void answer_preempt(struct gang_core *core, const struct gang_event *ev)
{
    struct gang_effect *e = fx_add(core, GANG_REPLY_PREEMPT);
    uint32_t *kept = fx_alloc(core, (ev->n_names + 1) * sizeof *kept);
    struct pod *pod = pod_by_uid(core, ev->pod->uid);
    bool may =
        !ev->pod->group.api_group && !pod_unlinked(ev->pod) && !(pod && queue_stops_pod(core, pod));
    size_t n = may && core->synced && !core->stopping ? keep(core, ev, kept) : 0;
    e->preempt.id = ev->id;
    e->preempt.kept = kept;
    e->preempt.n_kept = n ? allow(core, ev, pod, kept, n) : 0;
}
