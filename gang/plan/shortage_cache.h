/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage_cache.h - reuses the shortage of one gang for other gangs with equal members.
 *
 * The cache serves gangs whose members all have one signature and no slot, if no rule about a
 * single node or between pods applies to them. Their shortage is valid until something changes on
 * the nodes. So planning all waiting gangs costs one node scan for each signature. The shortage is
 * stored in signature->fill.
 */
#ifndef MUSTER_GANG_PLAN_SHORTAGE_CACHE_H
#define MUSTER_GANG_PLAN_SHORTAGE_CACHE_H

#include "gang/plan/placement_try.h"

/* Whether the cache shows that there is no room for `want` members. If so, sets *ret. */
bool shortage_cache_has(const struct gang_core *core, const struct placement_try *p, int want,
                        struct shortage *ret);
/* Stores the shortage. Call it after all slots of the try were removed. */
void shortage_cache_put(struct gang_core *core, const struct placement_try *p,
                        const struct shortage *s, int want);
/* Planning the gang failed. Notes in the gang which cached shortage explains this, if any. */
void shortage_cache_note(const struct gang_core *core, const struct placement_try *p, int want);
/* Whether the shortage that was noted in the gang is still valid. */
bool shortage_still_holds(const struct gang_core *core, const struct gang *gang);

#endif
