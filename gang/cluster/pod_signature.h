/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_signature.h - pods that are alike for placement.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_SIGNATURE_H
#define MUSTER_GANG_CLUSTER_POD_SIGNATURE_H

#include "gang/bounds.h"
#include "gang/cluster/objects.h"

/* A shape with one more user; give it back with shape_unref(). */
struct shape *shape_of(struct gang_core *core, const struct gang_pod_facts *facts);
struct shape *shape_ref(struct shape *shape);
void shape_unref(struct gang_core *core, struct shape *shape);
/* The pod asks for more resources than a gang's may: those that no node has are left out. */
static inline bool shape_is_partial(const struct gang_pod_facts *facts)
{
    return facts->requests.n > BOUND_RESOURCES;
}
/* NULL, or why no pod of this shape may run on the node, whatever is in use there. */
const char *shape_refusal(struct shape *shape, const struct node *node);

/* Places that one may have keep the other fits: the same needs, in the same order. */
bool shape_needs_equal(const struct shape *a, const struct shape *b);
/* All is equal but where their volumes may be used. */
bool shape_like(const struct shape *a, const struct shape *b);
/* Also the reason that shape_refusal() gives when volumes are in the way, and nothing else is. */
extern const char shape_volume_refusal[];

#endif
