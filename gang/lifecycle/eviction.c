/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/eviction.h"

#include "base/must.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/messages/status_and_events.h"

void evict_failed_commit(struct gang_core *core, struct gang *gang)
{
    int n = 0;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        bool its = pod->binding.commit && pod->binding.commit == gang->commits &&
                   pod->charge == CHARGE_ASSIGNED;
        if (!its || pod->eviction.requested || !pod->facts->controlled || !pod_counts(pod))
            continue;
        n++;
        MUST(core->config.evict_on_failed_commit && pod->binding.commit); /* muster has bound it */
        eviction_request(core, pod, /* for_room= */ false);
    }
    if (n)
        emit_evicted(core, gang, n);
}
