/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - gangs that are due are planned, and what comes of it is announced.
 */
#ifndef MUSTER_GANG_LIFE_ATTEMPT_H
#define MUSTER_GANG_LIFE_ATTEMPT_H

#include "gang/cluster/objects.h"

/* Tries every gang that may have become feasible, in order. */
void plan_pass(struct gang_core *core);

#endif
