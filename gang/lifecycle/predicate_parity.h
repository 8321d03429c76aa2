/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate_parity.h - compares muster's predicates with the nodes that kube-scheduler offers.
 *
 * If the list of a filter call is complete, it shows for each node whether kube-scheduler allows
 * the pod there. muster compares this with the result of its own predicates. A difference means
 * that the predicates do not match kube-scheduler's rules, or that kube-scheduler uses data that
 * muster does not have. The comparison decides only whether the express lane stays open.
 *
 * A tenant may create an odd pod that causes a difference. So the first difference closes the lane
 * only for its namespace. Differences of one rule in CLOSING_NAMESPACES namespaces close it for all
 * pods to which the rule applies. They close it for all pods if the rule applies to all pods, or if
 * muster has no rule for the cause.
 *
 * muster and kube-scheduler see changes at different times. So a difference must be confirmed:
 * muster must see it again for the same node, rule and signature after CONFIRM_AFTER, and the node
 * must not have changed meanwhile. Nodes on which kube-scheduler may count further pods are
 * skipped, such as assumed or nominated pods. Nothing is compared while muster's cluster cache
 * lags, or kube-scheduler's may lag.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PREDICATE_PARITY_H
#define MUSTER_GANG_LIFECYCLE_PREDICATE_PARITY_H

#include "gang/cluster/lookup.h"

/* Compares the nodes offered in a filter call with the predicates. Call it before the call is
 * answered. nominated: the node to which the pod is nominated in the call; NULL: none. */
void parity_check(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                  const char *nominated);
/* The difference that closes the express lane for the pod, as text; NULL: none. */
const char *parity_doubt(const struct gang_core *core, const struct pod *pod);
/* Since when the lane is closed for the pod's namespace, or else for all; 0: it is open for both.
 */
usec_t parity_doubt_since(const struct gang_core *core, const struct pod *pod);
void parity_done(struct gang_core *core);

#endif
