/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_quota.h - how many bind calls gangs may hold: all namespaces share config.max_holds places.
 *
 * With its first held member, a gang books the places that its quorum takes, and returns them when
 * no member is held any more. So a gang that has started can complete, and two gangs that do not
 * fit together run one after the other instead of both waiting for the limit.
 *
 * A namespace with places may book more only while an eighth of all places stays free, and not
 * while a namespace with fewer places was refused lately. A namespace without places may book up to
 * seven eighths of all places, but more than an eighth only if no smaller request was refused
 * lately. So a greedy namespace leaves room for those without places, and freed places go to them
 * first. A refused gang tries again, because kube-scheduler retries its members after a pause.
 *
 * A gang that needs more than its namespace may book takes the rest one by one, as its members come
 * to bind, while no namespace with fewer places is refused.
 */
#ifndef MUSTER_GANG_CLUSTER_HOLD_QUOTA_H
#define MUSTER_GANG_CLUSTER_HOLD_QUOTA_H

#include "gang/cluster/lookup.h"

/* Whether one more member of the gang may be held. The gang has a booked place for it, or books
 * what it needs; `lacks` members are not at bind. */
bool hold_quota_book(struct gang_core *core, struct gang *gang, int lacks);
/* Count gang->n_held up and down. */
void hold_quota_taken(struct gang_core *core, struct gang *gang);
void hold_quota_left(struct gang_core *core, struct gang *gang);
void hold_quota_done(struct gang_core *core);
int hold_quota_check(const struct gang_core *core, struct err *err);

#endif
