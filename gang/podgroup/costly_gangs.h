/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly_gangs.h - gangs whose last plan was stopped because it took too much work (PLAN_WORK_MAX).
 *
 * Planning such a gang again takes as much work, whatever has changed in the cluster. So muster
 * plans only one of these gangs every COSTLY_PAUSE, and alternates between their namespaces. Gangs
 * for which others wait go first. A gang leaves the queue when muster plans it again, when it has a
 * plan, and when it is freed.
 */
#ifndef MUSTER_GANG_PODGROUP_COSTLY_GANGS_H
#define MUSTER_GANG_PODGROUP_COSTLY_GANGS_H

#include "gang/cluster/lookup.h"

#define COSTLY_PAUSE (20 * USEC_PER_SEC)

void costly_gangs_init(struct gang_core *core);
void costly_gangs_done(struct gang_core *core);
/* The gang's plan was stopped, and the code says why the gang has none. A gang that waits
 * already keeps its position. */
void costly_gang_begin(struct gang_core *core, struct gang *gang, enum gang_reason_code code);
/* PodGroups of `from` moved to the gang. If `from` waits, the gang does too. */
void costly_gang_inherits(struct gang_core *core, struct gang *gang, const struct gang *from);
void costly_gang_end(struct gang_core *core, struct gang *gang);
/* Whether the gang is not planned now, because other costly gangs go first. */
bool costly_gang_waits(const struct gang *gang);
/* Whether something other than its last plan has given it a reason since. */
bool costly_gang_needs_reason(const struct gang *gang);
void costly_gangs_timer_fired(struct gang_core *core);

#endif
