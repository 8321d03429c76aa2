/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_queues.h - metrics of each queue.
 *
 * Tenants name the queues and their resources, so the number of series is limited: at most `most`
 * queues, the topmost levels first, with METRIC_QUEUE_RESOURCES resources each, and about 1 MiB
 * in total. Amounts of "cpu" are in cores; all other amounts are in the unit of the resource.
 */
#ifndef MUSTER_SERVER_VIEWS_METRICS_QUEUES_H
#define MUSTER_SERVER_VIEWS_METRICS_QUEUES_H

#include "base/buf.h"
#include "base/usec.h"

struct gang_core;

#define METRIC_QUEUE_RESOURCES 8

/* Writes nothing without queue objects. On the core thread. `now` is on the clock of the core. */
void metrics_queues(const struct gang_core *core, size_t most, usec_t now, struct buf *out);

#endif
