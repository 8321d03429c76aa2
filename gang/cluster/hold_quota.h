/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_quota.h - how many bind calls gangs may hold. All namespaces together have config.max_holds
 * holds.
 *
 * When its first member is held, a gang books holds for its whole quorum. It returns them when no
 * member is held any more. So a gang that has started can complete. If two gangs need more holds
 * than there are, one runs after the other, instead of both waiting until their holds time out.
 *
 * These rules share the holds:
 *   - A namespace that has booked holds may book more while an eighth of all holds stays free,
 *     unless a namespace with fewer holds was refused within the last config.hold.
 *   - A namespace without booked holds may book up to seven eighths of all holds. It may book more
 *     than an eighth only if no smaller request was refused within the last config.hold.
 * So a namespace with many gangs leaves holds for other namespaces, and freed holds go to those
 * first. kube-scheduler retries the members of a refused gang after a pause.
 *
 * A gang that needs more than seven eighths of all holds books the rest one by one, as its members
 * come to bind, unless a namespace with fewer holds was refused.
 */
#ifndef MUSTER_GANG_CLUSTER_HOLD_QUOTA_H
#define MUSTER_GANG_CLUSTER_HOLD_QUOTA_H

#include "gang/cluster/lookup.h"

/* Whether one more member of the gang may be held. Books holds if the gang has none left; `lacks`
 * is how many needed members are not at bind. */
bool hold_quota_book(struct gang_core *core, struct gang *gang, int lacks);
/* A member is held; a member is no longer held. */
void hold_quota_taken(struct gang_core *core, struct gang *gang);
void hold_quota_left(struct gang_core *core, struct gang *gang);
void hold_quota_done(struct gang_core *core);
/* Checks the invariants. Returns 0, or -1 with the first violation in err. */
int hold_quota_check(const struct gang_core *core, struct err *err);

#endif
