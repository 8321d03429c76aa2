/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/eviction.h"

#include "base/must.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_binding.h"
#include "gang/cluster/timers.h"
#include "gang/messages/status_and_events.h"

/* How long muster waits for an eviction, which a PodDisruptionBudget may delay. */
#define EVICT_LIMIT (300 * USEC_PER_SEC)

static void evict(struct gang_core *core, struct pod *pod)
{
    MUST(core->config.evict_on_failed_commit && pod->binding.commit); /* muster has bound it */
    fx_pod(core, GANG_EVICT, pod, NULL);
    binding_undone(pod, true);
    pod_timer_set(core, pod, TIMER_RETRY, core->now + EVICT_LIMIT);
}

void evict_failed_commit(struct gang_core *core, struct gang *gang)
{
    int n = 0;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        bool its = pod->binding.commit && pod->binding.commit == gang->commits &&
                   pod->charge == CHARGE_ASSIGNED;
        if (!its || pod->binding.undone || !pod->facts->controlled || !pod_counts(pod))
            continue;
        n++;
        evict(core, pod);
    }
    if (n)
        emit_evicted(core, gang, n);
}
