/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h - the life of a gang, from its first member to Done.
 *
 *   1. A gang exists as long as its PodGroups do, see podgroups.c.
 *   2. Each change of its facts, members or Bindings touches it; reconcile() then derives the state
 *      from the facts. Only planning (plan_pass.c, plan_gang.c), commit.c and the timers here set a
 *      state by decision.
 *   3. An attempt begins when enough members exist. It ends when the gang is Scheduled, or by
 *      timeout: Planned and Waiting gangs then back off. For a Recovering gang the timeout releases
 *      its plan and pins for a while, so that a member that never comes does not hold its
 *      reservation.
 */
#ifndef MUSTER_GANG_LIFECYCLE_RECONCILE_H
#define MUSTER_GANG_LIFECYCLE_RECONCILE_H

#include "gang/cluster/lookup.h"

/* Starts the gang's attempt and its timeout, unless one is running. */
void begin_attempt(struct gang_core *core, struct gang *gang);
/* The attempt failed: releases everything; the next attempt begins after a pause with jitter. */
void back_off(struct gang_core *core, struct gang *gang);
/* Derives the states of all stale gangs from the facts; true: there were any. */
bool reconcile_touched(struct gang_core *core);
void gang_timer(struct gang_core *core, struct gang *gang, enum timer_kind kind);

#endif
