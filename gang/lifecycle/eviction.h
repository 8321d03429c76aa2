/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eviction.h - undoes a failed commit (onFailedCommit: evict), through the Eviction API.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EVICTION_H
#define MUSTER_GANG_LIFECYCLE_EVICTION_H

#include "gang/cluster/core.h"

/* Evicts the members that the gang's last commit has bound, if they have a controller, which
 * creates them again. */
void evict_failed_commit(struct gang_core *core, struct gang *gang);

#endif
