/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake_writes.h - tracks the writes that wake pods in kube-scheduler's queue.
 *
 * A wake write may get lost. muster repeats it until the watch shows it or filter is called for the
 * pod. The pause doubles each time.
 */
#ifndef MUSTER_GANG_CLUSTER_WAKE_WRITES_H
#define MUSTER_GANG_CLUSTER_WAKE_WRITES_H

#include "gang/cluster/lookup.h"

/* A wake write was sent. The pod may sleep until the write arrives. */
void wake_write_sent(struct gang_core *core, struct pod *pod);
/* Filter was called for the pod, so it is awake. */
void wake_write_over(struct gang_core *core, struct pod *pod);
/* The watch shows the pod's nomination, or that it is bound, so it is awake. */
void wake_write_seen(struct gang_core *core, struct pod *pod);

#endif
