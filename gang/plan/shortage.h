/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage.h - why a gang could not be placed.
 */
#ifndef MUSTER_GANG_PLAN_SHORTAGE_H
#define MUSTER_GANG_PLAN_SHORTAGE_H

#include "gang/plan/placing.h"

/* Why the culprit has no place: what most of the nodes that pass its rules lack. *s stays where
 * another try came nearer. */
void find_shortage(struct gang_core *core, const struct placing *p, struct shortage *s);
/* The one that it is told by. */
enum gang_reason_code shortage_code(const struct shortage *s);

#endif
