/* SPDX-License-Identifier: Apache-2.0 */
/*
 * created_podgroup.h - the PodGroup objects that muster creates. Pure: no I/O, no state, any
 * thread.
 *
 * The annotation muster.dev/created-spec contains the spec's followed fields (minimum, parts,
 * minResources) as muster last wrote them. If a field differs from the annotation, another writer
 * has edited it, and muster does not write it again. A PodGroup without the annotation is not
 * muster's: muster writes only its status.
 */
#ifndef MUSTER_K8S_GROUPER_CREATED_PODGROUP_H
#define MUSTER_K8S_GROUPER_CREATED_PODGROUP_H

#include "k8s/dialect/dialect.h"

#define CREATED_SPEC_ANNOTATION "muster.dev/created-spec"

/* Pods without an owner that share a PodGroup all own it, up to this number. */
#define CREATED_PODGROUP_MAX_OWNERS 64

/* The object to create. The caller owns it. */
json_t *created_podgroup_object(const struct dialect *dialect, const char *version, const char *ns,
                                const struct workload_group *group);
bool created_podgroup_is_ours(const json_t *object);
/*
 * Returns the merge patch that updates `object` to `group`. It does not change fields that another
 * writer has edited, nor queue and priority, which muster writes only once. Of the annotations of
 * the workload, only WORKLOAD_PREEMPTION follows. If pods share the
 * PodGroup, the patch only adds the pod to its owners. The patch applies only to this version of
 * the object. The caller owns it. NULL: there is nothing to change, or the PodGroup is not
 * muster's.
 */
json_t *created_podgroup_patch(const json_t *object, const struct dialect *dialect,
                               const struct workload_group *group);
/*
 * Each pod that shares a PodGroup by name states its minimum. If this pod's minimum differs from
 * the minimum that muster last wrote, returns a sentence about it, which the caller frees. NULL:
 * they agree, or the PodGroup is not muster's.
 */
char *created_podgroup_dispute(const json_t *object, const struct dialect *dialect,
                               const struct workload_group *group);
/* Returns the merge patch that links the pod with this UID to its PodGroup. role NULL: none. The
 * caller owns it. */
json_t *created_podgroup_link(const struct dialect *dialect, const char *uid, const char *group,
                              const char *role);

#endif
