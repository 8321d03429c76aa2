/* SPDX-License-Identifier: Apache-2.0 */
/*
 * min_resources_check.h - checks spec.minResources: what must be free before a gang is planned.
 *
 * The free amounts are sums over all nodes that are not cordoned, even if the members may not use
 * some of these nodes. For a gang of several PodGroups, they must cover the sum of minResources.
 */
#ifndef MUSTER_GANG_PLAN_MIN_RESOURCES_CHECK_H
#define MUSTER_GANG_PLAN_MIN_RESOURCES_CHECK_H

#include "gang/cluster/lookup.h"

/* An entry of minResources that is not free. */
struct min_short {
    const struct group *group;     /* NULL: all entries are free */
    const struct gang_amount *min; /* as the PodGroup has it */
    int64_t all;                   /* the sum for the whole gang */
    int64_t room;                  /* the free amount */
    bool more; /* `all` exceeds what the members need, so their shortage does not explain it */
};
/* The first entry in the gang's PodGroups that is not free. After a member was planned or bound,
 * all entries count as free. */
struct min_short min_resources_short(struct gang_core *core, const struct gang *gang);
/* Whether an entry exceeds what the gang's members need. */
bool min_resources_exceed_members(struct gang_core *core, const struct gang *gang);

#endif
