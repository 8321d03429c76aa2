/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_lag.h - whether the cluster cache may be out of date.
 *
 * step.c notes which watches are behind. Meanwhile, the express lane is closed, and no predicate is
 * compared with kube-scheduler's.
 */
#ifndef MUSTER_GANG_CLUSTER_WATCH_LAG_H
#define MUSTER_GANG_CLUSTER_WATCH_LAG_H

#include "gang/cluster/lookup.h"

/* The watch fell behind (true) or caught up. */
void take_watch(struct gang_core *core, enum gang_watch of, bool behind);
/* The watch that is behind, as text; NULL: none, so the cluster cache is up to date. */
const char *watch_lag_doubt(const struct gang_core *core);

#endif
