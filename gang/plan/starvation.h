/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starvation.h - capacity kept for a gang that has waited too long.
 *
 * Smaller work may go ahead of a gang that does not fit. After config.starvation that ends: the
 * first such gang in the order becomes the keeper. A place is looked for that each needed member
 * could have some day, on the nodes that have the most room now; what is free there is kept, and
 * what becomes free anywhere is taken into account at once, so the room only grows. Work that comes
 * after the keeper passes where it does not need what is kept; work of a higher priority passes
 * anyhow. With strict order the first waiting gang is the keeper from the first moment.
 *
 * What is kept is no reservation: the keeper is planned like any other gang, anywhere, as soon as
 * it fits.
 */
#ifndef MUSTER_GANG_PLAN_STARVATION_H
#define MUSTER_GANG_PLAN_STARVATION_H

#include "gang/cluster/lookup.h"

/* The gang could not be planned: it becomes the keeper, unless one before it is. */
void earmark_for_starved(struct gang_core *core, struct gang *gang);

#endif
