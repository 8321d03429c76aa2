/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_quota.h - who may have a bind call held: config.max_holds places, which all namespaces
 * share.
 *
 * A gang books the places that its quorum takes with its first held member, and gives them back
 * when none is held any more. So a gang that has begun can complete, and two that do not fit beside
 * each other go one after the other instead of both waiting for the limit.
 *
 * A namespace that has places books more only while an eighth stays free, and not while another
 * that has fewer was refused lately. One that has none does not book more than that leaves, and not
 * while another was refused that asked for less. So whoever books all he can leaves room for those
 * that have none, and what becomes free is theirs first. A gang that is refused comes again:
 * kube-scheduler tries its members after a pause.
 *
 * A gang that needs more than a namespace may book takes the rest one by one, as its members come
 * to bind, while nobody who has fewer is refused.
 */
#ifndef MUSTER_GANG_CLUSTER_HOLD_QUOTA_H
#define MUSTER_GANG_CLUSTER_HOLD_QUOTA_H

#include "gang/cluster/lookup.h"

/* Whether one more member of the gang may be held: it has a place for it, or books what it
 * needs: `lacks` members are not at bind. */
bool hold_quota_book(struct gang_core *core, struct gang *gang, int lacks);
/* Counts gang->n_held, up and down. */
void hold_quota_taken(struct gang_core *core, struct gang *gang);
void hold_quota_left(struct gang_core *core, struct gang *gang);
void hold_quota_done(struct gang_core *core);
int hold_quota_check(const struct gang_core *core, struct err *err);

#endif
