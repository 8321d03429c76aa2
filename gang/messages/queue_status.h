/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_status.h - what the status of a queue's object shows, and when it is written.
 *
 * The step emits statuses at its end. A digest of the last status of each queue keeps it from
 * writing the same status again. queue_view.c and top_queues.c show the same figures.
 */
#ifndef MUSTER_GANG_MESSAGES_QUEUE_STATUS_H
#define MUSTER_GANG_MESSAGES_QUEUE_STATUS_H

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue.h"

/* The status now. Its amounts and names of children are the caller's: queue_status_done(). */
struct gang_queue_status queue_status(const struct gang_core *core, const struct queue *queue);
/* The same at a lower cost: without the names of the children, and with amounts in any order. */
struct gang_queue_status queue_status_quick(const struct gang_core *core,
                                            const struct queue *queue);
/* A queue that only its children name is not shown: they name a queue that does not exist. */
bool queue_is_shown(const struct queue *queue);
enum gang_queue_state queue_state(const struct queue *queue);
void queue_status_done(struct gang_queue_status *status);
/* Emits the statuses that changed: at most once a second, and a bounded number in each step. */
void emit_queue_statuses(struct gang_core *core);

#endif
