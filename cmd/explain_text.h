/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_text.h - what muster explain prints about a gang: its problem, and then the facts behind
 * it.
 */
#ifndef MUSTER_CMD_EXPLAIN_TEXT_H
#define MUSTER_CMD_EXPLAIN_TEXT_H

#include <jansson.h>

#include "base/buf.h"

/* Appends the text. `gang`: the reply of /api/v1/gangs/NAMESPACE/NAME (docs/reference/api.md). */
void explain_text(const json_t *gang, struct buf *out);

#endif
