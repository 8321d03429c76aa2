/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signatures.h - pods that are alike for placement.
 */
#ifndef MUSTER_GANG_CLUSTER_SIGNATURES_H
#define MUSTER_GANG_CLUSTER_SIGNATURES_H

#include "gang/bounds.h"
#include "gang/cluster/lookup.h"

/* A signature with one more user; give it back with signature_unref(). */
struct signature *signature_of(struct gang_core *core, const struct gang_pod_facts *facts);
struct signature *signature_ref(struct signature *signature);
void signature_unref(struct gang_core *core, struct signature *signature);
/* The pod asks for more resources than a gang's may: those that no node has are left out. */
static inline bool signature_is_partial(const struct gang_pod_facts *facts)
{
    return facts->requests.n > BOUND_RESOURCES;
}
/* NULL, or why no pod of this signature may run on the node, whatever is in use there. */
const char *signature_refusal(struct signature *signature, const struct node *node);

/* Places that one may have keep the other fits: the same needs, in the same order. */
bool signature_needs_equal(const struct signature *a, const struct signature *b);
/* All is equal but where their volumes may be used. */
bool signature_alike(const struct signature *a, const struct signature *b);
/* Also the reason that signature_refusal() gives when volumes are in the way, and nothing else is.
 */
extern const char signature_volume_refusal[];

#endif
