/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_lag.h - how old the picture is.
 */
#ifndef MUSTER_GANG_CLUSTER_WATCH_LAG_H
#define MUSTER_GANG_CLUSTER_WATCH_LAG_H

#include "gang/cluster/lookup.h"

/* A watch fell behind, or has caught up. */
void take_watch(struct gang_core *core, enum gang_watch of, bool behind);
/* Why the picture may be old, in words; NULL: it is not. */
const char *picture_doubt(const struct gang_core *core);

#endif
