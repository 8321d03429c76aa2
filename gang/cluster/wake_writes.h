/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake_writes.h - writes that wake a pod in kube-scheduler's queue, and when they are repeated.
 *
 * A wake write may be lost until the watch shows it or filter is called for the pod. muster repeats
 * it after a pause that doubles each time.
 */
#ifndef MUSTER_GANG_CLUSTER_WAKE_WRITES_H
#define MUSTER_GANG_CLUSTER_WAKE_WRITES_H

#include "gang/cluster/lookup.h"

/* A wake write was sent: the pod sleeps until it arrives. */
void wake_write_sent(struct gang_core *core, struct pod *pod);
/* The pod is awake: filter was called for it. */
void wake_write_over(struct gang_core *core, struct pod *pod);
/* The pod is awake: the watch shows its nomination, or it is bound. */
void wake_write_seen(struct gang_core *core, struct pod *pod);

#endif
