/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starvation.h - capacity set aside (earmarked) for a gang that has waited too long.
 *
 * Smaller work may pass a gang that does not fit. After config.starvation that ends: the first such
 * gang in the order gets the earmark. For each needed member, room is marked on the node that lacks
 * least, of those that could hold the member if they were empty. Each failed plan computes the
 * earmark anew, so capacity that becomes free counts at once. Later work may use only what is not
 * earmarked; work of a higher priority may use all. With strict order the first waiting gang gets
 * the earmark at once.
 *
 * An earmark is not a reservation: the gang is planned like any other, on any node, as soon as it
 * fits.
 */
#ifndef MUSTER_GANG_PLAN_STARVATION_H
#define MUSTER_GANG_PLAN_STARVATION_H

#include "gang/cluster/lookup.h"

/* The gang could not be planned: it gets the earmark, unless a gang ahead of it has it. */
void earmark_for_starved(struct gang_core *core, struct gang *gang);

#endif
