/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signatures.h - finds, makes and compares scheduling signatures.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURES_H
#define MUSTER_GANG_CLUSTER_SIGNATURES_H

#include "gang/bounds.h"
#include "gang/cluster/lookup.h"

/* Returns the pod's signature and adds a user; return it with signature_unref(). */
struct signature *signature_of(struct gang_core *core, const struct gang_pod_facts *facts);
struct signature *signature_ref(struct signature *signature);
void signature_unref(struct gang_core *core, struct signature *signature);
/* The pod requests more resources than a gang's pod may: those that no node has are left out. */
static inline bool signature_is_partial(const struct gang_pod_facts *facts)
{
    return facts->requests.n > BOUND_RESOURCES;
}
/* Why no pod of this signature may run on the node, whatever is in use there; NULL: it may. */
const char *signature_refusal(struct signature *signature, const struct node *node);

/* Whether both have the same needs, in the same order: a slot for one has room for the other. */
bool signature_needs_equal(const struct signature *a, const struct signature *b);
/* Whether they differ at most in where their volumes can be used. */
bool signature_alike(const struct signature *a, const struct signature *b);
/* signature_refusal() returns this text if only volumes exclude the node. */
extern const char signature_volume_refusal[];

#endif
