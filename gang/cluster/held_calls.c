/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/held_calls.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/must.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/hold_quota.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"

static const char *call_key(uint64_t id, char key[static 20])
{
    snprintf(key, 20, "%016" PRIx64, id);
    return key;
}

void reply_id(struct gang_core *core, uint64_t id, const char *error)
{
    struct gang_effect *e = fx_add(core, GANG_REPLY_BIND);
    e->bind_reply.id = id;
    e->bind_reply.error = fx_str(core, error);
}

void reply_bind(struct gang_core *core, struct pod *pod, const char *error)
{
    char key[20];
    uint64_t id = pod->call;
    MUST(id); /* each call is answered once */
    /* Success: the pod is bound to the node, or has finished there. */
    MUST(error[0] || pod->charge == CHARGE_ASSIGNED || pod_is_finished(pod));
    hold_end(core, pod);
    pod->call = 0;
    map_remove(&core->calls, call_key(id, key));
    pod_timer_stop(core, pod, TIMER_CALL);
    reply_id(core, id, error);
    /* On an error, kube-scheduler forgets the assumed pod and clears its nomination. It retries
     * the pod after its backoff. */
    if (error[0]) {
        on_its_way(pod, false);
        queue_joined(core, pod);
    }
    if (pod->gang)
        gang_touch(core, pod->gang);
}

void hold_begin(struct gang_core *core, struct pod *pod)
{
    MUST(pod->call && pod->slot && !pod->held);
    pod->held = true;
    pod_recount(pod);
    pod->held_node = pod->slot->node->id;
    on_its_way(pod, true);
    hold_quota_taken(core, pod->gang);
    if (pod->gang->n_held == 1)
        timer_set(core, &pod->gang->timers[TIMER_HOLD], core->now + core->config.hold);
}

void hold_in_trial(struct pod *pod, bool held)
{
    pod->held = held;
    pod_recount(pod);
}

void on_its_way(struct pod *pod, bool is)
{
    pod->sent = is;
}

void hold_end(struct gang_core *core, struct pod *pod)
{
    if (!pod->held)
        return;
    pod->held = false;
    pod_recount(pod);
    hold_quota_left(core, pod->gang);
    if (pod->gang->n_held == 0)
        timer_stop(core, &pod->gang->timers[TIMER_HOLD]);
}

void call_open(struct gang_core *core, struct pod *pod, uint64_t id)
{
    char key[20];
    MUST(id && !pod->call); /* a newer call starts after the older is answered */
    pod->call = id;
    pod->call_since = core->now;
    wide_anti_affinity_begin(core, pod); /* its filter result may have ended already */
    map_set(&core->calls, call_key(id, key), pod);
}

struct pod *call_find(const struct gang_core *core, uint64_t id)
{
    char key[20];
    return map_get(&core->calls, call_key(id, key));
}
