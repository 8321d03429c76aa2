/* SPDX-License-Identifier: Apache-2.0 */
/*
 * min_resources_check.h - a PodGroup's minResources: what must be free before its gang is planned.
 *
 * Free is summed over the schedulable nodes, whether or not the members may use them.
 */
#ifndef MUSTER_GANG_PLAN_MIN_RESOURCES_CHECK_H
#define MUSTER_GANG_PLAN_MIN_RESOURCES_CHECK_H

#include "gang/cluster/lookup.h"

/* The first minResources that are not free; group NULL: all are. */
struct min_short {
    const struct group *group;
    const struct gang_amount *min;
    int64_t room;
    bool more; /* exceeds what the members need, so their shortage does not cover it */
};
/* The first minResources of the gang's PodGroups that are not free. They apply only before any
 * member is planned or bound. */
struct min_short min_resources_short(struct gang_core *core, const struct gang *gang);
/* Some minResources exceed what the gang's members need. */
bool min_resources_exceed_members(struct gang_core *core, const struct gang *gang);

#endif
