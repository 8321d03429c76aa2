/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_report.h - the queues in the output of a simulation. Stateless; one thread.
 */
#ifndef MUSTER_SIMULATOR_QUEUE_REPORT_H
#define MUSTER_SIMULATOR_QUEUE_REPORT_H

#include "simulator/built_in_cluster.h"
#include "simulator/share_history.h"

/* Prints a table of the queues as a tree; nothing without queues. */
void queue_report_text(const struct gang_core *core, const struct share_history *shares);
/* An array of all queues, with the statuses that muster wrote. The caller owns it. */
json_t *queue_report_json(const struct gang_core *core, const struct share_history *shares,
                          const struct cluster *cluster);

#endif
