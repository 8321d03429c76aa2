/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dry_try.h - whether gangs of a dry run would be placed, why not, and what would help.
 *
 * The gangs are planned in the order of a planning pass, in one trial: a gang finds the room taken
 * that those before it would get. For a gang without a place, variants of its PodGroup are tried in
 * the same way: with a smaller minimum, and in other queues.
 *
 * All tries share one limit of work. For use by dry_run.c only, which adds and removes the gangs.
 */
#ifndef MUSTER_GANG_STEP_DRY_TRY_H
#define MUSTER_GANG_STEP_DRY_TRY_H

#include "gang/cluster/lookup.h"
#include "gang/gang.h"

/* Calls fn for each gang, in the order of a planning pass. Leaves the gangs without slots. */
void dry_try(struct gang_core *core, struct gang *const *gangs, size_t n, gang_dry_run_fn *fn,
             void *arg);

#endif
