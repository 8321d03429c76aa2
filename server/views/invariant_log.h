/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invariant_log.h - logs the invariant violations that the core finds in itself.
 *
 * The core counts violations (gang/step/gang_invariants.h) and keeps the text of the first of each
 * kind. Each kind is logged once, because one bug may show in every step; the metrics count all.
 *
 * No state of its own: `said` is the caller's and begins with 0, a bit for each kind. On the
 * thread that has the turn.
 */
#ifndef MUSTER_SERVER_VIEWS_INVARIANT_LOG_H
#define MUSTER_SERVER_VIEWS_INVARIANT_LOG_H

#include "gang/gang.h"

void invariant_log(const struct gang_core *core, uint32_t *said);

#endif
