/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/timers.h"

#include "gang/cluster/lookup.h"

void timer_set(struct gang_core *core, struct timer *t, usec_t at)
{
    heap_set(&core->timers, &t->node, at);
}

void timer_stop(struct gang_core *core, struct timer *t)
{
    heap_remove(&core->timers, &t->node);
}
