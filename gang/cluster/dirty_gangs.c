/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/dirty_gangs.h"

#include "gang/cluster/objects.h"

void gang_plan_again(struct gang *gang)
{
    gang->marks.retry = true;
}

void gang_plan_begins(struct gang *gang)
{
    gang->marks.retry = false;
}

void gang_is_full(struct gang *gang, const struct shape *shape, uint64_t version, int want)
{
    gang->marks.full = shape;
    gang->marks.full_version = version;
    gang->marks.full_want = want;
}

void gang_touch(struct gang_core *core, struct gang *gang)
{
    gang->marks.stale = true;
    gang->marks.full = NULL;
    order_note(core, gang);
    if (list_empty(&gang->marks.in_touched))
        list_push(&core->touched, &gang->marks.in_touched);
}

void gang_reviewed(struct gang *gang)
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

void order_note(struct gang_core *core, struct gang *gang)
{
    if (list_empty(&gang->marks.in_noted))
        list_push(&core->noted, &gang->marks.in_noted);
}

struct gang *noted_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->noted);
    return first ? CONTAINER_OF(first, struct gang, marks.in_noted) : NULL;
}

void happening_begin(struct gang_core *core, struct gang *gang)
{
    if (gang->marks.step == core->steps)
        return;
    gang->marks.step = core->steps;
    gang->marks.began = gang->state;
    gang->marks.happened = 0;
}

void happened(struct gang_core *core, struct gang *gang, enum gang_happening what)
{
    happening_begin(core, gang);
    gang->marks.happened |= 1u << what;
    core->stats.cells[gang->state][what]++;
}
