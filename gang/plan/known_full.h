/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_full.h - what one gang found out about room, for those that are alike.
 *
 * A gang of one shape, of which nothing is placed, and that no rule between pods concerns: what one
 * found out goes for all of them, as long as nothing changes on the nodes. So a waiting list costs
 * one look at the nodes for each shape, not for each gang.
 */
#ifndef MUSTER_GANG_PLAN_KNOWN_FULL_H
#define MUSTER_GANG_PLAN_KNOWN_FULL_H

#include "gang/plan/placing.h"

/* It is known that there is no room for so many; fills *ret. */
bool is_known_full(const struct gang_core *core, const struct placing *p, int want,
                   struct shortage *ret);
/* After all was taken back. */
void remember_full(struct gang_core *core, const struct placing *p, const struct shortage *s,
                   int want);
/* The gang failed, and the shape's fill says all about why. */
void note_full(const struct gang_core *core, const struct placing *p, int want);
/* What the gang heard when it failed last is still true, as far as is known without a try. */
bool is_full_still(const struct gang_core *core, const struct gang *gang);

#endif
