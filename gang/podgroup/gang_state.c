/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/gang_state.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reservations.h"
#include "gang/podgroup/earmark.h"

void gang_state_queue(struct gang_core *core, struct gang *gang)
{
    list_remove(&gang->in_open);
    if (!passes_singly(gang))
        list_push(&core->open, &gang->in_open);
}

void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state)
{
    gang_touch(core, gang);
    if (gang->state == state)
        return;
    trigger_begin(core, gang);
    earmark_order_changed(core, gang);
    queue_touch(core, gang->queue);
    bool passed = passes_singly(gang);
    gang->state = state;
    gang->since = core->now;
    gang_state_queue(core, gang);
    if (passed != passes_singly(gang))
        list_for_each (pod, &gang->members, struct pod, in_gang)
            nominated_room_update(core, pod);
}

void gang_scheduled_once(struct gang *gang, bool was)
{
    gang->ever_scheduled = was;
}

void gang_broken_by(struct gang *gang, const char *what)
{
    if (!what)
        return;
    free(gang->broken_by);
    gang->broken_by = xstrdup(what);
}

char *gang_broken_take(struct gang *gang)
{
    return STEAL(gang->broken_by);
}

void gang_timed_out(struct gang *gang, bool did)
{
    gang->timed_out = did;
}

void gang_capped(struct gang *gang, bool is)
{
    gang->capped = is;
}

enum gang_state gang_without_plan(const struct gang *gang)
{
    return gang->expecting ? GANG_ASSEMBLING : GANG_WAITING;
}

void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why)
{
    if (!gang->n_slots)
        return;
    core->stats.plans_dropped++;
    slots_release(core, gang, why);
    gang_touch(core, gang);
    if (gang->state == GANG_PLANNED)
        gang_enter(core, gang, gang_without_plan(gang));
}
