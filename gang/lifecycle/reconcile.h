/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h - the life of a gang, from its first member to Done.
 *
 *   1. A gang exists as long as its PodGroups, see podgroups.h.
 *   2. Each change of a gang's facts, members or Bindings touches the gang. reconcile() then
 *      derives the state from the facts. Only planning (plan_pass.c, plan_gang.c), commits
 *      (commit.c) and the timers in this file set a state directly.
 *   3. An attempt begins when enough members exist. It ends when the gang is Scheduled, or when it
 *      times out. A Planned or Waiting gang then backs off. A Recovering gang keeps its state, but
 *      releases its plan and pins for a pause, so that other gangs can use the room.
 */
#ifndef MUSTER_GANG_LIFECYCLE_RECONCILE_H
#define MUSTER_GANG_LIFECYCLE_RECONCILE_H

#include "gang/cluster/lookup.h"

/* Starts an attempt of the gang and its timeout, unless one is running. */
void begin_attempt(struct gang_core *core, struct gang *gang);
/* The attempt failed. Releases the plan and the pins, and starts the backoff. */
void back_off(struct gang_core *core, struct gang *gang);
/* Reconciles all gangs that have changed since they were last reconciled. True: there were any. */
bool reconcile_touched(struct gang_core *core);
/* A timer of the gang has fired. */
void gang_timer(struct gang_core *core, struct gang *gang, enum timer_kind kind);
/* For a gang that is only tried: brings its counts, priority and queue up to date and returns why
 * no cluster state would let it be planned, as an allocated text; NULL: no reason. */
char *gang_dry_refusal(struct gang_core *core, struct gang *gang, enum gang_reason_code *code);

#endif
