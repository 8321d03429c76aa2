/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_text.h - the texts that explain to users why a queue takes no more.
 *
 * Each names the queue, and the queue above it whose limit counts, the resource, the limit and how
 * much of it is used.
 */
#ifndef MUSTER_GANG_MESSAGES_QUEUE_TEXT_H
#define MUSTER_GANG_MESSAGES_QUEUE_TEXT_H

#include "gang/cluster/lookup.h"

/* Texts, allocated. */
char *reason_queue_short(const struct gang_core *core, const struct gang *gang,
                         const struct queue_short *s);
/* For REASON_QUEUE_MISSING, _INVALID, _CLOSED and _FORBIDDEN. */
char *reason_queue(const struct gang *gang, enum gang_reason_code code);
char *reason_queue_behind(const struct gang *gang);
/* For a pod that schedules singly; `queue` NULL: the queue that it names does not exist. */
char *reason_queue_pod(const struct gang_core *core, const struct pod *pod,
                       enum gang_reason_code code, const struct queue *queue,
                       const struct queue_short *s);

/* For a member that keeps its gate: the queue has room for this member alone, but not for it and
 * the members like it that already wait without a gate. */
char *reason_queue_turn(const struct pod *pod, const struct queue *queue);

#endif
