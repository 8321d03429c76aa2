/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/costly_gangs.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/timers.h"

void costly_gangs_init(struct gang_core *core)
{
    core->due.costly.kind = TIMER_COSTLY;
    fair_queue_init(&core->costly, /* turn= */ 1);
}

void costly_gangs_done(struct gang_core *core)
{
    fair_queue_done(&core->costly);
}

static void pause_begin(struct gang_core *core)
{
    if (core->costly.n && !core->due.costly.node.pos)
        timer_set(core, &core->due.costly, core->now + COSTLY_PAUSE);
}

void costly_gang_begin(struct gang_core *core, struct gang *gang)
{
    if (gang->costly.waits)
        return;
    gang->costly.waits = true;
    fair_queue_push(&core->costly, gang->head->ref.ns, &gang->costly.item);
    pause_begin(core);
}

void costly_gang_end(struct gang_core *core, struct gang *gang)
{
    if (!gang->costly.waits)
        return;
    gang->costly.waits = false;
    fair_queue_remove(&core->costly, &gang->costly.item);
}

/* A gang that has slots, or room from evicted pods, keeps or uses what it has. */
bool costly_gang_waits(const struct gang *gang)
{
    bool idle = gang->state == GANG_ASSEMBLING || gang->state == GANG_WAITING ||
                gang->state == GANG_BACKED_OFF || gang->state == GANG_RECOVERING;
    return gang->costly.waits && idle && !gang->n_slots && !has_preempted_room(gang);
}

void costly_gangs_timer_fired(struct gang_core *core)
{
    struct fair_queue_item *item = fair_queue_first(&core->costly);
    if (!item)
        return;
    struct gang *gang = CONTAINER_OF(item, struct gang, costly.item);
    fair_queue_serve(&core->costly, item);
    gang->costly.waits = false;
    gang_plan_again(gang);
    gang_touch(core, gang);
    pause_begin(core);
}
