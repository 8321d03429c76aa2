/* SPDX-License-Identifier: Apache-2.0 */
/*
 * created_podgroup.h - the PodGroup objects that muster creates. Pure: no I/O, no state, any
 * thread.
 *
 * The annotation muster.dev/created-spec holds the spec's followed fields (minimum, parts,
 * minResources) as muster last wrote them. A field that differs from it was edited by somebody else
 * and is never written again. A PodGroup without the annotation is not muster's: only its status is
 * written.
 */
#ifndef MUSTER_K8S_GROUPER_CREATED_PODGROUP_H
#define MUSTER_K8S_GROUPER_CREATED_PODGROUP_H

#include "k8s/dialect/dialect.h"

#define CREATED_SPEC_ANNOTATION "muster.dev/created-spec"

/* Pods that share a PodGroup and have no other owner own it together, up to so many. */
#define CREATED_PODGROUP_MAX_OWNERS 64

/* The object to create. The caller owns it. */
json_t *created_podgroup_object(const struct dialect *dialect, const char *version, const char *ns,
                                const struct workload_group *group);
bool created_podgroup_is_ours(const json_t *object);
/*
 * The merge patch that makes `object` what `group` says, except fields that others have edited and
 * fields that are written once (queue, priority); NULL: nothing to change, or it is not ours. A pod
 * among the owners is added to those it has. The patch applies to this version of the object only.
 * The caller owns it.
 */
json_t *created_podgroup_patch(const json_t *object, const struct dialect *dialect,
                               const struct workload_group *group);
/*
 * Pods that share a PodGroup by name each say its minimum: a sentence where this pod's differs
 * from the one that muster last wrote; NULL: they agree, or the PodGroup is not ours. The caller
 * frees it.
 */
char *created_podgroup_dispute(const json_t *object, const struct dialect *dialect,
                               const struct workload_group *group);
/* The merge patch that links the pod of this UID to its PodGroup, in the dialect's keys. */
json_t *created_podgroup_link(const struct dialect *dialect, const char *uid, const char *group,
                              const char *role);

#endif
