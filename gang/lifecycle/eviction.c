/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/eviction.h"

#include "base/must.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/job_limits.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/lifecycle/suspension.h"
#include "gang/messages/preemption_text.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/victims.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

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
        eviction_request(core, pod, /* for_room= */ false, "because the commit of its gang failed");
    }
    if (n)
        emit_evicted(core, gang, n);
}

size_t evict_gang(struct gang_core *core, struct gang *gang, bool for_room, const char *why)
{
    size_t n = 0;
    bool suspends = gang_suspends(gang);
    triggered(core, gang, TRIGGER_MEMBER_LOST);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        n += pod_runs(pod);
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!pod_runs(pod))
            continue;
        if (suspends)
            eviction_by_suspension(core, pod, for_room);
        else if (n == 1)
            eviction_request(core, pod, for_room, why);
        else
            eviction_with_gang(core, pod, for_room, why);
    }
    if (suspends)
        suspend_request(core, gang, why);
    plan_drop(core, gang, REASON_SLOT_MOVED); /* slots of extras */
    gang_scheduled_once(gang, false);
    gang_touch(core, gang);
    return n;
}

void evicted_count(struct gang_core *core, enum gang_preemption_reason why, bool whole_gang,
                   size_t n_pods)
{
    core->stats.preempted_gangs[why] += whole_gang;
    core->stats.preempted_pods[why] += n_pods;
}

/* ---- broken gangs ---- */

void member_preempted(struct gang_core *core, struct gang *gang, const struct pod *pod)
{
    if (!core->config.preemption || !pod->node)
        return;
    cleanup_free char *what = xasprintf("kube-scheduler preempted member %s", pod->facts->name);
    gang_broken_by(gang, what);
}

void member_was_marked(struct gang_core *core, struct gang *gang)
{
    if (core->config.preemption)
        gang_broken_by(gang, "muster was restarted while it evicted the gang");
}

/* Whether all members that run may be evicted, and no Job fails because of this. */
static bool may_be_evicted_whole(const struct gang_core *core, const struct gang *gang)
{
    bool may = !gang_is_firm(gang);
    struct map losses = MAP_INIT;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod_runs(pod))
            may = may && pod_may_be_evicted(core, pod) &&
                  (gang_suspends(gang) || !job_loses(core, &losses, pod));
    map_done(&losses);
    return may;
}

bool evict_broken(struct gang_core *core, struct gang *gang)
{
    const struct tally *t = &gang->root->t;
    if (!gang->broken_by || !core->synced || t->binding)
        return false; /* muster has not seen all members, or a commit is not over: decide later */
    cleanup_free char *what = gang_broken_take(gang);
    if (t->bound == 0 || t->succeeded > 0 || unit_lacks(gang->root, STAGE_BOUND) <= 0 ||
        !may_be_evicted_whole(core, gang))
        return false;
    cleanup_free char *why =
        xasprintf("because %s, and fewer members are left than the gang needs", what);
    emit_broken(core, gang, why);
    evicted_count(core, GANG_PREEMPTION_BROKEN, /* whole_gang= */ true,
                  evict_gang(core, gang, /* for_room= */ false, why));
    return true;
}
