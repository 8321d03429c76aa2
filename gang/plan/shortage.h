/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage.h - why a gang could not be placed: how many nodes lack what for its first member
 * without a place (the culprit).
 */
#ifndef MUSTER_GANG_PLAN_SHORTAGE_H
#define MUSTER_GANG_PLAN_SHORTAGE_H

#include "gang/plan/placement_try.h"

/* Finds what most of the nodes that pass the culprit's rules lack. *s stays if it is from a try
 * that placed as many members or more. */
void shortage_find(struct gang_core *core, const struct placement_try *p, struct shortage *s);
/* The reason code of the shortage. */
enum gang_reason_code shortage_code(const struct shortage *s);

#endif
