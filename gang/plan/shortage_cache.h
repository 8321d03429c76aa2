/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage_cache.h - reuses the shortage that one gang found for other gangs with equal members.
 *
 * It serves gangs whose members have one signature, of which none is placed, and which no rule
 * between pods concerns. A shortage is valid for all such gangs until something changes on the
 * nodes, so waiting gangs cost one node scan for each signature. It is stored in signature->fill.
 */
#ifndef MUSTER_GANG_PLAN_SHORTAGE_CACHE_H
#define MUSTER_GANG_PLAN_SHORTAGE_CACHE_H

#include "gang/plan/placement_try.h"

/* The cache shows that there is no room for `want` members; sets *ret. */
bool shortage_cache_has(const struct gang_core *core, const struct placement_try *p, int want,
                        struct shortage *ret);
/* Stores the shortage. Call it after all slots of the try were removed. */
void shortage_cache_put(struct gang_core *core, const struct placement_try *p,
                        const struct shortage *s, int want);
/* The gang failed: notes the cached shortage that explains it, if there is one. */
void shortage_cache_note(const struct gang_core *core, const struct placement_try *p, int want);
/* The shortage that the gang failed for last is still valid, as far as the cache shows. */
bool shortage_still_holds(const struct gang_core *core, const struct gang *gang);

#endif
