/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate_parity.h - compares muster's predicates with the nodes that kube-scheduler offers.
 *
 * If a filter call lists every feasible node, the list is kube-scheduler's result for each node and
 * that pod. muster compares it with the result of its own predicates for the pods charged there.
 * The comparison decides only whether the express lane stays open: a difference means that the
 * predicates deviate from kube-scheduler's, or that it uses data that muster lacks.
 *
 * A tenant may create an odd pod that makes a difference. So the first difference closes the lane
 * only for its namespace. Differences of the same rule in CLOSING_NAMESPACES namespaces close it
 * for all pods that the rule concerns; if the rule is missing or concerns all pods, for everyone.
 *
 * muster and kube-scheduler see changes at different times, so a difference must be confirmed: the
 * same node, rule and signature again, CONFIRM_AFTER later, with no change of the node for that
 * long. Nodes with an open result are skipped: a member may be assumed there, or a pod nominated.
 * Nothing is compared while muster's cache lags, or kube-scheduler's may.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PREDICATE_PARITY_H
#define MUSTER_GANG_LIFECYCLE_PREDICATE_PARITY_H

#include "gang/cluster/lookup.h"

/* Compares the nodes offered in a filter call with the predicates. Call it before the reply. */
void parity_check(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                  const char *nominated);
/* The difference that closes the express lane for the pod, as text; NULL: none. */
const char *parity_doubt(const struct gang_core *core, const struct pod *pod);
/* Since when the lane is closed for the pod's namespace, or for all; 0: neither is. */
usec_t parity_doubt_since(const struct gang_core *core, const struct pod *pod);
void parity_done(struct gang_core *core);

#endif
