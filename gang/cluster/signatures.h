/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signatures.h - finds, creates and compares scheduling signatures.
 *
 * Pods with the same signature are interchangeable in plans: they request the same, and the same
 * rules hold for them. A signature lives as long as it has users: pods, slots and others that call
 * signature_ref(). Any room may call these functions.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURES_H
#define MUSTER_GANG_CLUSTER_SIGNATURES_H

#include "gang/bounds.h"
#include "gang/cluster/lookup.h"

/* Returns the signature for the facts and adds a user. signature_unref() removes the user. */
struct signature *signature_of(struct gang_core *core, const struct gang_pod_facts *facts);
struct signature *signature_ref(struct signature *signature);
void signature_unref(struct gang_core *core, struct signature *signature);
/* Puts the pod into a list of its signature. Call it when pod_counts() may have changed. */
void signature_sort(struct pod *pod);
void signature_unlist(struct pod *pod);
/* Whether the pod requests more resources than a member may. Its signature then leaves out those
 * that no node has. */
static inline bool signature_is_partial(const struct gang_pod_facts *facts)
{
    return facts->requests.n > BOUND_RESOURCES;
}
/* Which rule about nodes or volumes excludes the node for pods of this signature, as a constant
 * text; NULL: none. Does not check what is in use on the node. */
const char *signature_refusal(struct signature *signature, const struct node *node);

/* Whether both have the same needs, so that a slot for one has room for the other. */
bool signature_needs_equal(const struct signature *a, const struct signature *b);
/* Whether both are equal, except for where their volumes can be used. */
bool signature_alike(const struct signature *a, const struct signature *b);
/* signature_refusal() returns this pointer if only volumes exclude the node. */
extern const char signature_volume_refusal[];

#endif
