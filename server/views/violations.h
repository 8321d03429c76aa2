/* SPDX-License-Identifier: Apache-2.0 */
/*
 * violations.h - says in the log what the core has found wrong with itself.
 *
 * The core counts where a gang is not what it should be (gang/step/gang_invariants.h) and keeps the
 * first of each kind in words. Each kind is said once: one mistake may show in every step. How
 * often it showed is in the metrics.
 *
 * No state of its own: `said` is the caller's and begins with 0, a bit for each kind. On the thread
 * that has the turn.
 */
#ifndef MUSTER_SERVER_VIEWS_VIOLATIONS_H
#define MUSTER_SERVER_VIEWS_VIOLATIONS_H

#include "gang/gang.h"

void violations_log(const struct gang_core *core, uint32_t *said);

#endif
