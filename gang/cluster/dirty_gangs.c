/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/dirty_gangs.h"

#include "gang/cluster/objects.h"

void gang_touch(struct gang_core *core, struct gang *gang)
{
    gang->stale = true;
    gang->full = NULL;
    order_note(core, gang);
    if (list_empty(&gang->in_touched))
        list_push(&core->touched, &gang->in_touched);
}

void order_note(struct gang_core *core, struct gang *gang)
{
    if (list_empty(&gang->in_noted))
        list_push(&core->noted, &gang->in_noted);
}

void happening_begin(struct gang_core *core, struct gang *gang)
{
    if (gang->step == core->steps)
        return;
    gang->step = core->steps;
    gang->began = gang->state;
    gang->happened = 0;
}

void happened(struct gang_core *core, struct gang *gang, enum gang_happening what)
{
    happening_begin(core, gang);
    gang->happened |= 1u << what;
    core->stats.cells[gang->state][what]++;
}
