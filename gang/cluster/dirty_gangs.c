/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/dirty_gangs.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/signatures.h"

void gang_plan_again(struct gang *gang)
{
    gang->marks.retry = true;
}

void gang_requeued(struct gang *gang)
{
    gang->marks.requeued = true;
}

bool gang_was_requeued(struct gang *gang)
{
    bool was = gang->marks.requeued;
    gang->marks.requeued = false;
    return was;
}

void gang_plan_begins(struct gang *gang)
{
    gang->marks.retry = false;
}

void gang_has_known_shortage(struct gang *gang, const struct signature *signature, uint64_t version,
                             int want)
{
    gang->marks.full = signature;
    gang->marks.full_version = version;
    gang->marks.full_want = want;
}

void gang_stopped_by_queue(struct gang *gang)
{
    gang->marks.queue_full = true;
}

void gang_report(struct gang_core *core, struct gang *gang)
{
    gang->marks.stale = true;
    gang->marks.full = NULL;
    gang->marks.queue_full = false;
    mark_order_changed(core, gang);
    if (list_empty(&gang->marks.in_touched))
        list_push(&core->touched, &gang->marks.in_touched);
}

void gang_touch(struct gang_core *core, struct gang *gang)
{
    queue_want_changed(core, gang->queue);
    gang_report(core, gang);
}

void gang_recount(struct gang *gang)
{
    gang->marks.members++;
}

void pod_recount(struct pod *pod)
{
    if (pod->signature)
        signature_sort(pod);
    if (pod->gang)
        gang_recount(pod->gang);
}

void gang_reconciled(struct gang *gang)
{
    gang->marks.stale = false;
}

struct gang *touched_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->touched);
    return first ? CONTAINER_OF(first, struct gang, marks.in_touched) : NULL;
}

void touched_later(struct gang_core *core, struct gang *gang)
{
    list_push(&core->touched_later, &gang->marks.in_touched);
}

void touched_return(struct gang_core *core)
{
    struct list *first;
    while ((first = list_pop(&core->touched_later)) != NULL)
        list_push(&core->touched, first);
}

void mark_order_changed(struct gang_core *core, struct gang *gang)
{
    if (list_empty(&gang->marks.in_order_changed))
        list_push(&core->order_changed, &gang->marks.in_order_changed);
}

struct gang *order_changed_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->order_changed);
    return first ? CONTAINER_OF(first, struct gang, marks.in_order_changed) : NULL;
}

void trigger_begin(struct gang_core *core, struct gang *gang)
{
    if (gang->marks.step == core->steps)
        return;
    gang->marks.step = core->steps;
    gang->marks.began = gang->state;
    gang->marks.triggered = 0;
}

void triggered(struct gang_core *core, struct gang *gang, enum gang_trigger what)
{
    trigger_begin(core, gang);
    gang->marks.triggered |= 1u << what;
    core->stats.cells[gang->state][what]++;
}
