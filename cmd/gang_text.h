/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_text.h - the lines about a gang that `explain` and `check` print alike. Stateless.
 */
#ifndef MUSTER_CMD_GANG_TEXT_H
#define MUSTER_CMD_GANG_TEXT_H

#include <jansson.h>

#include "base/buf.h"

/* "3rd in queue training, behind ml/a and ml/b". position 0: only the queue's name; queue NULL:
 * "3rd of the gangs that wait, behind …". `ahead` is a list of gangs. */
void put_queue_place(struct buf *out, int64_t position, const char *queue, const json_t *ahead);
/* The text of a reason without "gang ns/name: " at its start. It points into `text`. */
const char *bare_reason(const json_t *gang, const char *text);
/* Writes `before` and "with 2 more nodes like gpu-0". Writes nothing if the reply does not say how
 * many nodes are missing. */
void put_more_nodes(struct buf *out, const char *before, const json_t *gang);
/* Writes the line about evictions, if there is one: what may be evicted, after `fit`; or why
 * evictions do not make room, after `none`. */
void put_evictions(struct buf *out, const char *fit, const char *none, const json_t *gang);
/* "PodDisruptionBudget ml/guard" */
void put_budget(struct buf *out, const char *budget);

#endif
