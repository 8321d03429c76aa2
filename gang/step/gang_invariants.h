/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_invariants.h - checks that a gang is consistent with its state.
 *
 * In tests, gang_core_check() checks all gangs and recomputes the ledger. In production, muster
 * checks each gang that a step touched, at the end of the step. This uses existing counts, so it
 * needs no pass over members or slots. A violation is counted, and the text of the first one is
 * stored. It has no other effect.
 */
#ifndef MUSTER_GANG_STEP_GANG_INVARIANTS_H
#define MUSTER_GANG_STEP_GANG_INVARIANTS_H

#include "gang/cluster/lookup.h"

/* Returns 0 if the invariant holds; else -1, with the violation in err. Call gang_count() before.
 */
int gang_invariant_check(const struct gang_core *core, const struct gang *gang,
                         enum gang_invariant what, struct err *err);
/* Checks all invariants of the gang, and counts violations in core->stats. `counted`: the tallies
 * of gang_count() are up to date. If not, skips the invariants that depend on them. */
void gang_invariants_live(struct gang_core *core, const struct gang *gang, bool counted);
void gang_invariants_done(struct gang_core *core);

#endif
