/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starvation.h - which gangs starve, and who gets the earmark.
 *
 * Smaller gangs and pods may go ahead of a gang that does not fit. When a gang has waited for
 * config.starvation, it starves. The first starved gang in the order gets the earmark: for each
 * needed member, room on the node that lacks the least for it (earmark_queue.h). Gangs behind it,
 * and pods of the same or a lower priority, may use only what is not earmarked. Each failed plan
 * computes the earmark again, so capacity that has become free counts at once. With strict order,
 * the first waiting gang gets the earmark without starving.
 *
 * An earmark is not a reservation. As soon as the gang fits, it is planned like any other gang, on
 * any nodes.
 */
#ifndef MUSTER_GANG_PLAN_STARVATION_H
#define MUSTER_GANG_PLAN_STARVATION_H

#include "gang/cluster/lookup.h"

/* The gang waits from now on, unless it does already. */
void starvation_begin(struct gang_core *core, struct gang *gang);
/* Its timer TIMER_STARVE has fired. */
void starvation_reached(struct gang *gang);
/* The gang waits no longer. */
void starvation_end(struct gang_core *core, struct gang *gang);
/* Planning the gang failed. Gives it the earmark, unless a gang ahead of it has the earmark. */
void earmark_for_starved(struct gang_core *core, struct gang *gang);

#endif
