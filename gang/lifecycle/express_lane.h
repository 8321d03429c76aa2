/* SPDX-License-Identifier: Apache-2.0 */
/*
 * express_lane.h - commits a gang when its first member is at bind (config.express_lane).
 *
 * kube-scheduler needs a scheduling cycle for each member, although the plan has a node for all of
 * them. If muster's predicates cover everything that can rule out a node for a member,
 * kube-scheduler would allow the same nodes. So when the first member is at bind, muster sends the
 * Bindings of all members. kube-scheduler then sees the other members as it sees any assigned pod.
 * In case of doubt, every member must come to bind.
 *
 * The predicate parity check (predicate_parity.h) guards this. The first confirmed difference
 * closes the lane for its namespace. Differences in several namespaces close it for all. It stays
 * closed until muster restarts.
 *
 * When muster sends the Bindings, kube-scheduler may have assumed an ordinary pod on a planned
 * node, whose bind call comes later. muster checks this bind call against the ledger, and against
 * host ports and anti-affinity of the bound members (express_collides()). If it conflicts, muster
 * refuses it, and kube-scheduler schedules the pod again.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EXPRESS_LANE_H
#define MUSTER_GANG_LIFECYCLE_EXPRESS_LANE_H

#include "gang/cluster/lookup.h"

/* Why every member must come to bind, as text; NULL: one member at bind is enough. */
const char *express_doubt(const struct gang_core *core, const struct gang *gang);
/* Whether one member at bind will be enough when all needed members exist. */
bool goes_express(const struct gang_core *core, const struct gang *gang);
/* The difference that closes the lane for the gang, as text; NULL: none. */
const char *gang_parity_doubt(const struct gang_core *core, const struct gang *gang);
/* Whether the pod conflicts, by host port or anti-affinity, with a pod on the node that
 * kube-scheduler may not have seen when it filtered this pod. */
bool express_collides(const struct gang_core *core, const struct node *node, const struct pod *pod);

#endif
