/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_table.h - `muster get queues`: the tree of queues as a table.
 */
#ifndef MUSTER_CMD_QUEUE_TABLE_H
#define MUSTER_CMD_QUEUE_TABLE_H

#include <jansson.h>

#include "cmd/table.h"

/* `reply` is that of /api/v1/queues. `wide`: all resources, not only devices. */
void queue_table(const json_t *reply, bool wide, struct table *t);

#endif
