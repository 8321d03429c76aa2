/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage.h - why a gang could not be placed.
 */
#ifndef MUSTER_GANG_PLAN_SHORTAGE_H
#define MUSTER_GANG_PLAN_SHORTAGE_H

#include "gang/plan/placement_try.h"

/* Why the culprit has no place: what most of the nodes that pass its rules lack. *s stays where
 * another try came nearer. */
void shortage_find(struct gang_core *core, const struct placement_try *p, struct shortage *s);
/* The one that it is told by. */
enum gang_reason_code shortage_code(const struct shortage *s);

#endif
