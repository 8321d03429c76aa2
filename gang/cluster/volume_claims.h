/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_claims.h - on which nodes the volumes of pods can be used.
 *
 * These nodes are part of a pod's signature (signatures.c). When kube-scheduler's PreBind plugins
 * have begun to prepare a volume for a node, and the watch shows this, the pod gets another
 * signature. From then on, no plan moves the pod, and no member swaps slots with it.
 *
 * A held member with claims is pinned to its node (verb/bind.c). When all its claims are bound, it
 * is no longer pinned, because the volumes then decide where it can run.
 */
#ifndef MUSTER_GANG_CLUSTER_VOLUME_CLAIMS_H
#define MUSTER_GANG_CLUSTER_VOLUME_CLAIMS_H

#include "gang/cluster/lookup.h"

/* How many of facts->claims decide where the pod can run: all, or none if it is finished. */
size_t claims_in_use(const struct gang_pod_facts *facts);
/* Links the pod to its claims. Call it before the pod gets a signature. */
void claims_join(struct gang_core *core, struct pod *pod);
void claims_leave(struct gang_core *core, struct pod *pod);
/* Returns the claim. If it is unknown, creates it without facts. */
struct claim *claim_get(struct gang_core *core, const char *ns, const char *name);
/* Frees the claim if it has no facts, no change waits, and no pod uses it. */
void claim_sweep(struct gang_core *core, struct claim *claim);
/* Sets the facts, which the claim owns from now on; NULL: the claim is deleted. */
void claim_set_facts(struct claim *claim, struct gang_claim_facts *facts);
/* Whether nothing is left to prepare for the pod: it has claims, all are bound to volumes, and it
 * has no ResourceClaims. */
bool claims_bound(const struct pod *pod);
/* Pins the pod to the node, because kube-scheduler has prepared its claims there. */
void claims_pin(struct pod *pod, const struct node *node);
void claims_unpin(struct pod *pod);
/* The node to which the member is pinned; NULL: none. */
struct node *pinned_node(const struct gang_core *core, const struct pod *pod);
void claims_done(struct gang_core *core);
/* The claim's facts; NULL: any node can use it, or it is unknown. */
const struct gang_claim_facts *claim_limits(const struct gang_core *core, const char *ns,
                                            const char *name);

#endif
