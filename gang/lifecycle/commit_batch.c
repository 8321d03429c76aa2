/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/commit_batch.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"

#define LINGER       (150 * USEC_PER_MSEC)
#define WAIT_PER_POD USEC_PER_MSEC
#define WAIT_MAX     (5 * USEC_PER_SEC)

static usec_t wait_max(const struct gang_core *core)
{
    usec_t wait = core->n_refused < WAIT_MAX / WAIT_PER_POD ? (usec_t)core->n_refused * WAIT_PER_POD
                                                            : WAIT_MAX;
    return wait < core->config.hold / 4 ? wait : core->config.hold / 4;
}

static usec_t batch_due(const struct gang_core *core)
{
    usec_t due = core->last_hold + LINGER;
    return due < core->batch_end ? due : core->batch_end;
}

static bool ends_by(const struct gang *gang, enum timer_kind kind, usec_t at)
{
    const struct timer *t = &gang->timers[kind];
    return t->node.pos && t->node.at <= at;
}

bool commit_waits(struct gang_core *core, const struct gang *gang)
{
    bool open = core->due.batch.node.pos;
    bool many = core->config.commit_batch_threshold &&
                core->n_refused >= core->config.commit_batch_threshold;
    if (!(open || many) || core->batch_step == core->steps || gang->state != GANG_PLANNED ||
        map_count(&core->calls) >= core->config.max_holds / 2)
        return false;
    usec_t end = open ? core->batch_end : core->now + wait_max(core);
    /* Leave time for the Bindings before the hold ends. */
    if (ends_by(gang, TIMER_HOLD, end + core->config.hold / 4) ||
        ends_by(gang, TIMER_ATTEMPT, end + LINGER))
        return false;
    core->batch_end = end;
    if (!open)
        timer_set(core, &core->due.batch, batch_due(core));
    return true;
}

void commit_for_room(struct gang_core *core)
{
    if (!core->due.batch.node.pos || map_count(&core->calls) < core->config.max_holds / 2)
        return;
    core->batch_end = core->now;
    timer_set(core, &core->due.batch, core->now);
}

/* Touches the gangs that wait. reconcile() then commits them in this step, if they are still
 * complete. */
void batch_timer_fired(struct gang_core *core)
{
    usec_t due = batch_due(core);
    if (due > core->now) {
        timer_set(core, &core->due.batch, due);
        return;
    }
    core->batch_step = core->steps;
    list_for_each (gang, &core->open, struct gang, in_open) {
        if (gang->state != GANG_PLANNED || !gang->n_held)
            continue;
        triggered(core, gang, TRIGGER_LOOK_AGAIN);
        gang_touch(core, gang);
    }
}
