/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/partial_commit.h"

#include "gang/cluster/api_clock.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"
#include "gang/podgroup/earmark.h"

/* How long a gang with an unfinished commit goes first. With a longer time, tenants could gain from
 * commits that never finish. */
#define FIRST_LIMIT (300 * USEC_PER_SEC)
/* How long after a start of muster a Binding from before it may still take effect. */
#define RESTART_WINDOW (90 * USEC_PER_SEC)

void partial_commit_begin(struct gang_core *core, struct gang *gang, usec_t since)
{
    if (gang->partial_since)
        return; /* the gang continues an earlier commit */
    gang->partial_since = since > 0 ? since : 1;
    gang->partial_first = core->now < since + FIRST_LIMIT;
    if (gang->partial_first)
        timer_set(core, &gang->timers[TIMER_PARTIAL_COMMIT], since + FIRST_LIMIT);
    earmark_order_changed(core, gang);
    gang_touch(core, gang);
}

void partial_commit_end(struct gang_core *core, struct gang *gang)
{
    if (!gang->partial_since)
        return;
    gang->partial_since = 0;
    gang->partial_first = false;
    timer_stop(core, &gang->timers[TIMER_PARTIAL_COMMIT]);
    mark_order_changed(core, gang);
}

void partial_commit_first_over(struct gang_core *core, struct gang *gang)
{
    gang->partial_first = false;
    earmark_order_changed(core, gang);
}

/*
 * The Bindings of a commit carry a mark (GANG_COMMIT_MARK), and the pod's condition has the time of
 * its Binding. A user who may write annotations can forge the mark. So a mark counts only after a
 * start of muster, and only if the pod was bound within FIRST_LIMIT before. A forged mark gains the
 * first position in the order for this time.
 */
void partial_commit_find(struct gang_core *core, struct gang *gang)
{
    usec_t age = FIRST_LIMIT;
    if (gang->partial_since || core->now - core->synced_at > RESTART_WINDOW)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->committed && !pod->binding.commit && pod->facts->bound_at &&
            pod->charge == CHARGE_ASSIGNED && api_time(core) - pod->facts->bound_at < age)
            age = api_time(core) - pod->facts->bound_at;
    age = age > 0 ? age : 0; /* a node's clock may be ahead */
    if (age < FIRST_LIMIT)
        partial_commit_begin(core, gang, core->now - age);
}
