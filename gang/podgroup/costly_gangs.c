/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/costly_gangs.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/timers.h"
#include "gang/podgroup/gang_order.h"

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

void costly_gang_begin(struct gang_core *core, struct gang *gang, enum gang_reason_code code)
{
    gang->costly.code = code;
    if (gang->costly.waits)
        return;
    gang->costly.waits = true;
    fair_queue_push(&core->costly, gang->head->ref.ns, &gang->costly.item);
    pause_begin(core);
}

void costly_gang_inherits(struct gang_core *core, struct gang *gang, const struct gang *from)
{
    if (from->costly.waits)
        costly_gang_begin(core, gang, from->costly.code);
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

bool costly_gang_needs_reason(const struct gang *gang)
{
    return gang->reason.code != gang->costly.code && gang->state != GANG_BACKED_OFF &&
           !gang->expecting;
}

/* A gang that has the earmark, or has begun a commit, keeps room from others until it is planned.
 */
static struct gang *next_gang(const struct gang_core *core)
{
    const struct fair_queue *q = &core->costly;
    for (struct fair_queue_item *i = fair_queue_first(q); i; i = fair_queue_next(q, i)) {
        struct gang *gang = CONTAINER_OF(i, struct gang, costly.item);
        if (gang == core->earmark_gang || gang_began_commit(gang))
            return gang;
    }
    struct fair_queue_item *first = fair_queue_first(q);
    return first ? CONTAINER_OF(first, struct gang, costly.item) : NULL;
}

void costly_gangs_timer_fired(struct gang_core *core)
{
    struct gang *gang = next_gang(core);
    if (!gang)
        return;
    fair_queue_serve(&core->costly, &gang->costly.item);
    gang->costly.waits = false;
    gang_plan_again(gang);
    gang_touch(core, gang);
    pause_begin(core);
}
