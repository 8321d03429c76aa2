/* SPDX-License-Identifier: Apache-2.0 */
/*
 * human_readable.h - formats ages as kubectl does. No state; any thread.
 */
#ifndef MUSTER_CMD_HUMAN_READABLE_H
#define MUSTER_CMD_HUMAN_READABLE_H

#include "base/buf.h"

/* The time since a moment such as "2026-11-21T00:37:46Z": "45s", "12m", "3h" or "5d". */
void format_age(struct buf *out, const char *moment);
/* The time until the moment, in the same form. */
void format_until(struct buf *out, const char *moment);

#endif
