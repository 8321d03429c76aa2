/* SPDX-License-Identifier: Apache-2.0 */
/*
 * express_lane.h - gangs of which the first member at bind is enough (config.express).
 *
 * kube-scheduler places members one after the other, each with a cycle of its own, though the plan
 * has a place for all of them. Where all that can be in the way of a member is in the facts, the
 * plan is as good as its answer: when one member has come through to bind, the Bindings of all are
 * sent, and kube-scheduler learns of the others as of any pod that is assigned. Whatever is in
 * doubt goes the normal way, member by member.
 *
 * The licence is the model check (predicate_parity.c): the first difference that stands a second
 * look closes the lane for its namespace, and differences in several namespaces for all, until
 * muster is started again.
 *
 * What may be on its way at that moment: a pod of no gang that kube-scheduler has let through to a
 * node and that is not at bind yet. Its bind call comes here and is held against the ledger, and
 * against host ports and anti-affinity of those that were bound unasked: it is refused, and placed
 * elsewhere.
 */
#ifndef MUSTER_GANG_LIFECYCLE_EXPRESS_LANE_H
#define MUSTER_GANG_LIFECYCLE_EXPRESS_LANE_H

#include "gang/cluster/lookup.h"

/* Why the gang's first member at bind is not enough, in words; NULL: it is. */
const char *express_doubt(const struct gang_core *core, const struct gang *gang);
/* Nothing speaks against the lane but that members, or their bind calls, are still to come. */
bool goes_express(const struct gang_core *core, const struct gang *gang);
/* What the model check has against the lane for the gang; NULL: nothing. */
const char *gang_parity_doubt(const struct gang_core *core, const struct gang *gang);
/* A Binding that kube-scheduler did not ask for has put somebody there whom the pod collides with
 * otherwise than by room. */
bool express_collides(const struct gang_core *core, const struct node *node, const struct pod *pod);

#endif
