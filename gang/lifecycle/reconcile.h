/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h - a gang from its first member to Done.
 *
 *   1. It exists as long as its PodGroups do, see podgroups.c.
 *   2. Whatever happens to its facts, members or bindings touches it; reconcile() then derives the
 *      state from what is true. Only planning (plan.c), commit (commit.c) and the timers here make
 *      a state from a decision.
 *   3. An attempt begins when enough members exist and ends when the gang is Placed, or by
 *      timeout: Planned and Waiting gangs then back off. Of a Recovering gang a plan and pins have
 *      a timeout: what it reserves for a member that never comes is given back for a while.
 */
#ifndef MUSTER_GANG_LIFECYCLE_RECONCILE_H
#define MUSTER_GANG_LIFECYCLE_RECONCILE_H

#include "gang/cluster/lookup.h"

/* The time of the gang's attempt runs from now, unless it does already. */
void begin_attempt(struct gang_core *core, struct gang *gang);
/* The attempt failed: all is released, and the gang waits with jitter before the next. */
void back_off(struct gang_core *core, struct gang *gang);
/* Brings the states of all stale gangs in line with the facts; true when there were any. */
bool reconcile_touched(struct gang_core *core);
void gang_timer(struct gang_core *core, struct gang *gang, enum timer_kind kind);

#endif
