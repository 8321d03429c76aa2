/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disruption.h - PodDisruptionBudgets in the built-in cluster: the disruption controller, and what
 * the eviction subresource checks.
 *
 * The controller writes the status of each budget. It counts pods that run and are not being
 * deleted as healthy. As in a real cluster, a percentage and maxUnavailable refer to the scale of
 * the controllers of the pods. So such a budget allows no eviction if a Job controls one of its
 * pods, because Jobs have no scale, or if none of its pods has a controller. The scale of all other
 * controllers is the number of their pods.
 *
 * The objects are in the store. A sync is a task in the store's clock. One thread.
 */
#ifndef MUSTER_SIMULATOR_DISRUPTION_H
#define MUSTER_SIMULATOR_DISRUPTION_H

#include "simulator/api_server.h"

struct disruption {
    struct store *store; /* borrowed */
    bool sync_due;
};

/* Call it when the watch shows a change of a pod or a budget: a sync follows. */
void disruption_changed(struct disruption *d);
/* Writes the statuses at once. */
void disruption_sync(struct disruption *d);
/* Whether the budgets allow the eviction of the pod now. If so, counts it, and the caller must
 * delete the pod. */
bool disruption_take(struct store *s, const struct object *pod);

#endif
