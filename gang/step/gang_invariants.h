/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_invariants.h - whether a gang is what its state says.
 *
 * gang_core_check() asks it of every gang, and recomputes the ledger besides: that is for tests. In
 * `serve` each gang that a step touched is asked at the end of that step. This goes by what is
 * counted of the gang anyway, so it costs no pass over its members or slots. What does not hold is
 * counted and kept in words; nothing else comes of it.
 *
 * No life cycle of its own; for gang/ only, one thread.
 */
#ifndef MUSTER_GANG_STEP_GANG_INVARIANTS_H
#define MUSTER_GANG_STEP_GANG_INVARIANTS_H

#include "gang/cluster/lookup.h"

/* After gang_count(). 0: it holds; else -1 and what does not in err. */
int gang_invariant_check(const struct gang_core *core, const struct gang *gang,
                         enum gang_invariant what, struct err *err);
/* Counts in core->stats what does not hold. `counted`: gang_count() was called for what is true
 * now; else nothing is said that depends on it. */
void gang_invariants_live(struct gang_core *core, const struct gang *gang, bool counted);
void gang_invariants_done(struct gang_core *core);

#endif
