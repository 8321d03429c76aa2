/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/steering.h"

#include "gang/cluster/nominations.h"
#include "gang/cluster/timers.h"
#include "gang/lifecycle/express_lane.h"

/* With fewer nodes, steering saves less than its writes cost: it is worth them with 333 nodes, but
 * not with 200 (decision 051). */
#define STEER_NODES 300
/* A member without a filter call for this time has to wait in kube-scheduler's queue. */
#define STEER_DELAY (20 * USEC_PER_MSEC)
/* The rate of writes that the API server can take. Members that are filtered meanwhile need no
 * write. */
#define STEERS_AT_ONCE 32
#define STEER_PAUSE    (20 * USEC_PER_MSEC)

static bool is_worth_steering(const struct gang_core *core)
{
    enum gang_steering how = core->config.steering;
    if (how != GANG_STEER_AUTO)
        return how == GANG_STEER_ALWAYS;
    return map_count(&core->nodes) >= STEER_NODES;
}

void steer(struct gang_core *core, struct pod *pod)
{
    if (!may_be_nominated(pod))
        return; /* in the list, it would use up the limit of all writes */
    /* Before a restart, muster may have nominated the pod to another node, where kube-scheduler
     * would keep room for it. */
    bool nominated_elsewhere =
        pod->nominated && !pod->sent && !str_eq(pod->nominated, pod->slot->node->name);
    if (pod->queue.rejected || nominated_elsewhere) {
        nominate(core, pod, pod->slot->node);
        return;
    }
    if (pod->sent || !list_empty(&pod->steering.in_unasked) || !is_worth_steering(core))
        return;
    pod->steering.at = core->now + (core->config.steering == GANG_STEER_AUTO ? STEER_DELAY : 0);
    list_push(&core->steering.unasked, &pod->steering.in_unasked);
}

/* When the pod may be steered: after its delay, and within the limit of all writes. */
static usec_t steer_due(const struct gang_core *core, const struct pod *pod)
{
    bool waits = !core->steering.left && pod->steering.at < core->steering.next;
    return waits ? core->steering.next : pod->steering.at;
}

/* Whether the gang takes the express lane, in which one member at bind is enough. *last is the gang
 * that was checked last, and *express its result: members of a gang are adjacent in the list. */
static bool needs_no_steering(const struct gang_core *core, const struct gang *gang,
                              const struct gang **last, bool *express)
{
    if (gang != *last)
        *express = core->config.steering == GANG_STEER_AUTO && goes_express(core, gang);
    *last = gang;
    return *express;
}

void steer_unasked(struct gang_core *core)
{
    const struct gang *last = NULL;
    bool express = false;
    list_for_each_safe (pod, &core->steering.unasked, struct pod, steering.in_unasked) {
        usec_t due = steer_due(core, pod);
        if (due > core->now) {
            timer_set(core, &core->due.steer, due);
            break;
        }
        list_remove(&pod->steering.in_unasked);
        if (!pod->slot || pod->sent || needs_no_steering(core, pod->gang, &last, &express))
            continue;
        if (core->steering.next <= core->now) {
            core->steering.next = core->now + STEER_PAUSE;
            core->steering.left = STEERS_AT_ONCE;
        }
        core->steering.left--;
        nominate(core, pod, pod->slot->node);
    }
}
