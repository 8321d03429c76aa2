/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage_cache.h - what one gang found out about room, for those that are alike.
 *
 * A gang of one signature, of which nothing is placed, and that no rule between pods concerns: what
 * one found out goes for all of them, as long as nothing changes on the nodes. So a waiting list
 * costs one look at the nodes for each signature, not for each gang.
 */
#ifndef MUSTER_GANG_PLAN_SHORTAGE_CACHE_H
#define MUSTER_GANG_PLAN_SHORTAGE_CACHE_H

#include "gang/plan/placement_try.h"

/* It is known that there is no room for so many; fills *ret. */
bool shortage_cache_has(const struct gang_core *core, const struct placement_try *p, int want,
                        struct shortage *ret);
/* After all was taken back. */
void shortage_cache_put(struct gang_core *core, const struct placement_try *p,
                        const struct shortage *s, int want);
/* The gang failed, and the signature's fill says all about why. */
void shortage_cache_note(const struct gang_core *core, const struct placement_try *p, int want);
/* What the gang heard when it failed last is still true, as far as is known without a try. */
bool shortage_still_holds(const struct gang_core *core, const struct gang *gang);

#endif
