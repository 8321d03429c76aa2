/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/partial_commit.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"
#include "gang/podgroup/earmark.h"

/* How long an unfinished commit comes first. A longer time would reward tenants whose commits never
 * finish. */
#define FIRST_LIMIT (300 * USEC_PER_SEC)
/* How long after a start Bindings from before it may still take effect. */
#define RESTART_WINDOW (90 * USEC_PER_SEC)

void partial_commit_begin(struct gang_core *core, struct gang *gang, usec_t since)
{
    if (gang->partial_since)
        return; /* completes an earlier commit */
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
 * Bindings of a commit carry a mark, and the pod's condition has the time of each. Anyone who may
 * write annotations can forge the mark, so only pods that were bound within FIRST_LIMIT of a start
 * of muster count, and the mark gains no more than the first place until then.
 */
void partial_commit_find(struct gang_core *core, struct gang *gang)
{
    usec_t age = FIRST_LIMIT;
    if (gang->partial_since || core->now - core->synced_at > RESTART_WINDOW)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->committed && !pod->binding.commit && pod->facts->bound_at &&
            pod->charge == CHARGE_ASSIGNED && core->newest - pod->facts->bound_at < age)
            age = core->newest - pod->facts->bound_at;
    if (age < FIRST_LIMIT)
        partial_commit_begin(core, gang, core->now - age);
}
