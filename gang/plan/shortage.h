/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage.h - finds out why a gang could not be placed: what the nodes lack for its first member
 * without a slot, the culprit.
 *
 * placement.c calls it after each try that failed, before the slots of this try are taken back. The
 * result becomes the reason of the gang. Changes nothing else.
 */
#ifndef MUSTER_GANG_PLAN_SHORTAGE_H
#define MUSTER_GANG_PLAN_SHORTAGE_H

#include "gang/plan/placement_try.h"

/* Sets *s to the shortage of this try: what most of the nodes lack that pass the culprit's rules.
 * Leaves *s as it is if it is of a try that placed at least as many members. */
void shortage_find(struct gang_core *core, const struct placement_try *p, struct shortage *s);
/* The reason code of the shortage. */
enum gang_reason_code shortage_code(const struct shortage *s);

#endif
