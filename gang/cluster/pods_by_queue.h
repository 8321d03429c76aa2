/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods_by_queue.h - the pods that name each queue, whether it exists or not. When a queue comes or
 * goes, only they are looked at, and not all pods of the cluster.
 *
 * Owns pod.in_queue_name and core->pods_by_queue.
 */
#ifndef MUSTER_GANG_CLUSTER_PODS_BY_QUEUE_H
#define MUSTER_GANG_CLUSTER_PODS_BY_QUEUE_H

#include "gang/cluster/lookup.h"

/* The pod has new facts. was: the queue that it named before; NULL: it is new. */
void queue_name_update(struct gang_core *core, struct pod *pod, const struct gang_ref *was);
/* Before the pod is freed. */
void queue_name_end(struct gang_core *core, struct pod *pod);
/* The pods that name the queue, by in_queue_name; NULL: none. Members of gangs are among them. */
struct list *pods_that_name(const struct gang_core *core, const struct gang_ref *queue);

#endif
