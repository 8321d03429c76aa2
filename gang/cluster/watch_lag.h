/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_lag.h - whether the cluster cache may be out of date.
 */
#ifndef MUSTER_GANG_CLUSTER_WATCH_LAG_H
#define MUSTER_GANG_CLUSTER_WATCH_LAG_H

#include "gang/cluster/lookup.h"

/* A watch fell behind or caught up. */
void take_watch(struct gang_core *core, enum gang_watch of, bool behind);
/* Why the cluster cache may be out of date, as text; NULL: it is current. */
const char *watch_lag_doubt(const struct gang_core *core);

#endif
