/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invariant_log.h - logs the invariant violations that the core finds in its own state.
 *
 * The core counts violations (gang/step/gang_invariants.h), and keeps the text of the first
 * violation of each check. Each check is logged once, because a bug can repeat in every step. The
 * metrics count all violations.
 *
 * The caller owns `logged`, which has a bit for each check and starts at 0. On the thread that has
 * the turn.
 */
#ifndef MUSTER_SERVER_VIEWS_INVARIANT_LOG_H
#define MUSTER_SERVER_VIEWS_INVARIANT_LOG_H

#include "gang/gang.h"

void invariant_log(const struct gang_core *core, uint32_t *logged);

#endif
