/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.h - durations as text: "90s", "1m30s", "500ms", "2h", or a plain number of seconds
 * ("10", "0.5"). Stateless; any thread.
 */
#ifndef MUSTER_BASE_DURATION_H
#define MUSTER_BASE_DURATION_H

#include "base/buf.h"
#include "base/err.h"
#include "base/usec.h"

/* Returns 0 and *ret from 0 to 100 years, or ERR_INVALID. */
int duration_parse(const char *text, usec_t *ret, struct err *err);
/* The same, but every number needs a unit, except "0", as in durations of Go. -1: invalid. */
int duration_parse_units(const char *text, usec_t *ret);

/* Appends d, such as "1m30s", "2.5s", "40ms" or "0s". duration_parse() returns the same value. */
void duration_format(struct buf *b, usec_t d);

#endif
