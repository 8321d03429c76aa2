/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_usage_check.h - whether the sums of queue_usage.h are right, for the tests of the
 * invariants. The time is linear in the number of queues.
 */
#ifndef MUSTER_GANG_CLUSTER_QUEUE_USAGE_CHECK_H
#define MUSTER_GANG_CLUSTER_QUEUE_USAGE_CHECK_H

#include "base/err.h"
#include "gang/cluster/queue.h"

/* Counts all pods and slots again. Returns 0, or -1 with what differs in *err. */
int queue_usage_check(const struct gang_core *core, struct err *err);

#endif
