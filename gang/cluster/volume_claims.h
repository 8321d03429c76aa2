/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_claims.h - where the volumes of pods can be used.
 *
 * The limits of its claims are part of a pod's signature (signatures.c). So a pod whose volume is
 * being prepared for a node (PreBind ran, and the watch shows it) has its own signature from then
 * on: no pod swaps slots with it, and no plan moves it. When all its claims are bound, their
 * volumes decide where it can run, and it is no longer pinned (verb/bind.c).
 */
#ifndef MUSTER_GANG_CLUSTER_VOLUME_CLAIMS_H
#define MUSTER_GANG_CLUSTER_VOLUME_CLAIMS_H

#include "gang/cluster/lookup.h"

/* Links the pod to its claims; call before it has a signature. */
void claims_join(struct gang_core *core, struct pod *pod);
void claims_leave(struct gang_core *core, struct pod *pod);
/* Returns the claim; makes one with only a name if needed. */
struct claim *claim_get(struct gang_core *core, const char *ns, const char *name);
/* Frees the claim if it has no facts and no pod names it. */
void claim_sweep(struct gang_core *core, struct claim *claim);
/* Takes the facts; NULL: the claim is gone. */
void claim_set_facts(struct claim *claim, struct gang_claim_facts *facts);
/* Whether the pod has claims and all are bound to volumes: nothing is prepared on one node for
 * it. */
bool claims_bound(const struct pod *pod);
/* kube-scheduler prepared the pod's claims for the node, so it can run only there. */
void claims_pin(struct pod *pod, const struct node *node);
void claims_unpin(struct pod *pod);
/* The node to which the member is pinned; NULL: none. */
struct node *pinned_node(const struct gang_core *core, const struct pod *pod);
void claims_done(struct gang_core *core);
/* The claim's limits; NULL: any node suits it, or it is unknown. */
const struct gang_claim_facts *claim_limits(const struct gang_core *core, const char *ns,
                                            const char *name);

#endif
