/* SPDX-License-Identifier: Apache-2.0 */
/*
 * human_readable.h - ages and amounts as kubectl prints them. One thread.
 */
#ifndef MUSTER_CMD_HUMAN_READABLE_H
#define MUSTER_CMD_HUMAN_READABLE_H

#include "base/buf.h"

/* The age of "2026-11-21T00:37:46Z": "45s", "12m", "3h", "5d". */
void format_age(struct buf *out, const char *moment);
/* The time until then, as "45s". */
void format_until(struct buf *out, const char *moment);
/* An amount of a resource: cpu in cores, memory with a unit such as Gi. */
void format_amount(struct buf *out, const char *resource, int64_t amount);

#endif
