/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preempt.c - the verb preempt: on which nodes a preemption may proceed.
 */
#include "gang/verb/verbs.h"

#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"

/* Whether a preemption on the node would free room for the pod: not if the room would go to a gang,
 * and not if a member may be assumed there, which kube-scheduler could choose as a victim. */
static bool frees_room(const struct gang_core *core, const struct node *node,
                       const struct gang_pod_facts *facts)
{
    const struct reach lower = {.displace = DISPLACE_LOWER, .priority = facts->priority};
    bool respects_earmark = core->earmark_gang && facts->priority <= core->earmark_gang->priority;
    if (node && respects_earmark && node->earmarked.n)
        return false;
    if (node)
        list_for_each (slot, &node->slots, struct slot, in_node)
            if (!slot_yields(slot, &lower) || (slot->pod && slot->pod->sent))
                return false;
    return true;
}

/*
 * A member gets no candidate: its preemption would evict pods for one member without regard to the
 * others. Other pods get all candidates whose freed room they may use. A nomination that follows is
 * kube-scheduler's own, even if muster has nominated the pod to the same node.
 */
void answer_preempt(struct gang_core *core, const struct gang_event *ev)
{
    struct gang_effect *e = fx_add(core, GANG_REPLY_PREEMPT);
    uint32_t *kept = fx_alloc(core, (ev->n_names + 1) * sizeof *kept);
    size_t n = 0;
    bool member = ev->pod->group.api_group || pod_unlinked(ev->pod);
    for (size_t i = 0; i < ev->n_names && !member && core->synced && !core->stopping; i++)
        if (frees_room(core, node_by_name(core, ev->names[i]), ev->pod))
            kept[n++] = (uint32_t)i;
    struct pod *pod = n ? pod_by_uid(core, ev->pod->uid) : NULL;
    if (pod) {
        nominated_by_scheduler(pod);
        nominated_room_update(core, pod);
    }
    e->preempt.id = ev->id;
    e->preempt.kept = kept;
    e->preempt.n_kept = n;
}
