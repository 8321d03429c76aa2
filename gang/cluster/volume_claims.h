/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_claims.h - where the volumes of pods may be used.
 *
 * What a claim says is part of the signature of the pods that name it (signatures.c), so a pod
 * whose volume is being prepared for a node (PreBind ran, the watch shows it) has a signature of
 * its own from then on: nobody swaps places with it and no plan moves it elsewhere. When all its
 * claims are bound, their volumes say where it can run, and it is pinned (verb/bind.c) no longer.
 */
#ifndef MUSTER_GANG_CLUSTER_VOLUME_CLAIMS_H
#define MUSTER_GANG_CLUSTER_VOLUME_CLAIMS_H

#include "gang/cluster/lookup.h"

/* The pod's claims become its own to follow; before it has a signature. */
void claims_join(struct gang_core *core, struct pod *pod);
void claims_leave(struct gang_core *core, struct pod *pod);
/* Makes one that is only known by name, if need be. */
struct claim *claim_get(struct gang_core *core, const char *ns, const char *name);
/* Forgets it if it says nothing and no pod names it. */
void claim_sweep(struct gang_core *core, struct claim *claim);
/* Takes the facts; NULL: it is gone. */
void claim_says(struct claim *claim, struct gang_claim_facts *facts);
/* It has claims, and all are bound to volumes: nothing is prepared on one node for it. */
bool claims_bound(const struct pod *pod);
/* kube-scheduler has prepared them for that node, the only one where it may run now. */
void claims_pin(struct pod *pod, const struct node *node);
void claims_unpin(struct pod *pod);
/* The node that the member cannot leave any more; NULL: it may go anywhere. */
struct node *pinned_node(const struct gang_core *core, const struct pod *pod);
void claims_done(struct gang_core *core);
/* NULL: any node will do, or it is not known. */
const struct gang_claim_facts *claim_limits(const struct gang_core *core, const char *ns,
                                            const char *name);

#endif
