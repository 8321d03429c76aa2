/* SPDX-License-Identifier: Apache-2.0 */
/*
 * express_lane.h - commits a gang when its first member is at bind (config.express_lane).
 *
 * kube-scheduler schedules members one by one, each in a cycle of its own, though the plan has a
 * place for all of them. If muster's predicates cover everything that can rule out a node for a
 * member, the plan is as good as kube-scheduler's result: when the first member is at bind, muster
 * sends the Bindings of all, and kube-scheduler sees the others as any assigned pod. In case of
 * doubt the gang takes the normal way, member by member.
 *
 * Predicate parity (predicate_parity.c) guards this: the first confirmed difference closes the lane
 * for its namespace, and differences in several namespaces close it for all, until muster restarts.
 *
 * At that moment kube-scheduler may have assumed an ordinary pod whose bind call has not come
 * yet. Its bind call is checked against the ledger, and against host ports and anti-affinity of
 * members that were bound unasked. If it conflicts, it is refused, and kube-scheduler schedules it
 * again.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EXPRESS_LANE_H
#define MUSTER_GANG_LIFECYCLE_EXPRESS_LANE_H

#include "gang/cluster/lookup.h"

/* Why the gang may not commit with its first member at bind, as text; NULL: it may. */
const char *express_doubt(const struct gang_core *core, const struct gang *gang);
/* The gang may use the lane once all its members exist and one is at bind. */
bool goes_express(const struct gang_core *core, const struct gang *gang);
/* Why predicate parity closes the lane for the gang; NULL: it does not. */
const char *gang_parity_doubt(const struct gang_core *core, const struct gang *gang);
/* The pod conflicts, by host port or anti-affinity, with a pod that kube-scheduler may not have
 * seen on the node. */
bool express_collides(const struct gang_core *core, const struct node *node, const struct pod *pod);

#endif
