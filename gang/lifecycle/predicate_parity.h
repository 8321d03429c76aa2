/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate_parity.h - whether kube-scheduler offers the nodes that the rules here say.
 *
 * With a whole list, the names in a filter call are kube-scheduler's own word on every node for
 * that pod. Each is compared with what the rules say of the pod and the node, by what is charged
 * there. Nothing is decided by it but whether the express lane stays open: a difference means that
 * the rules here are not kube-scheduler's, or that it knows something that is not in the facts.
 *
 * Whoever may create pods may find an odd one that makes a difference. So the first one closes the
 * lane for its namespace; the same rule's in CLOSING_NAMESPACES of them for all pods that the rule
 * concerns. A missing rule, or one that concerns all pods, closes it for all then.
 *
 * The two see changes at different times, so a difference counts when it stands a second look: the
 * same node and rule, for a pod of the same signature, LOOK_AGAIN after the first, while nothing
 * about the node changed for that long. Nodes are left out where the answer is open: a member may
 * have been assumed there, or a pod nominated. Nothing is compared while the picture here is old,
 * or kube-scheduler's may be.
 */
#ifndef MUSTER_GANG_LIFECYCLE_PREDICATE_PARITY_H
#define MUSTER_GANG_LIFECYCLE_PREDICATE_PARITY_H

#include "gang/cluster/lookup.h"

/* Compares the nodes offered in a filter call with what the rules say; before it is answered. */
void parity_check(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                  const char *nominated);
/* Why the rules here may not be kube-scheduler's for the pod, in words; NULL: nothing is known. */
const char *parity_doubt(const struct gang_core *core, const struct pod *pod);
/* Since when; 0: nothing is. */
usec_t parity_doubt_since(const struct gang_core *core, const struct pod *pod);
void parity_done(struct gang_core *core);

#endif
