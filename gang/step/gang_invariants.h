/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_invariants.h - checks that a gang is consistent with its state.
 *
 * For tests, gang_core_check() checks every gang and recomputes the ledger. `serve` checks each
 * gang that a step touched, at the end of the step. This uses existing counts, so it needs no pass
 * over members or slots. A violation is counted and its first text kept; nothing else happens.
 *
 * No life cycle of its own; for gang/ only, one thread.
 */
#ifndef MUSTER_GANG_STEP_GANG_INVARIANTS_H
#define MUSTER_GANG_STEP_GANG_INVARIANTS_H

#include "gang/cluster/lookup.h"

/* After gang_count(). 0: the invariant holds; else -1, and the violation in err. */
int gang_invariant_check(const struct gang_core *core, const struct gang *gang,
                         enum gang_invariant what, struct err *err);
/* Counts violations in core->stats. `counted`: the last gang_count() is current; if not, invariants
 * that depend on it are skipped. */
void gang_invariants_live(struct gang_core *core, const struct gang *gang, bool counted);
void gang_invariants_done(struct gang_core *core);

#endif
