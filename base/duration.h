/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.h - lengths of time as people write them: "90s", "1m30s", "500ms", "2h", or a plain
 * number of seconds ("10", "0.5"). Thread-safe: no state.
 */
#ifndef MUSTER_BASE_DURATION_H
#define MUSTER_BASE_DURATION_H

#include "base/buf.h"
#include "base/err.h"
#include "base/usec.h"

/* Not negative, at most 100 years. */
int duration_parse(const char *text, usec_t *ret, struct err *err);

/* "1m30s", "2.5s", "40ms", "0s"; parses back to the same value. */
void duration_format(struct buf *b, usec_t d);

#endif
