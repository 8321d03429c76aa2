/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.h - PodGroups that muster makes, as objects. Pure: no I/O, no state, any thread.
 *
 * What muster has written last of the spec stands in the annotation muster.dev/made. A field that
 * differs from it now was edited by somebody: it is his, and is never written again. A PodGroup
 * without the annotation is not ours at all.
 */
#ifndef MUSTER_K8S_GROUPER_MADE_H
#define MUSTER_K8S_GROUPER_MADE_H

#include "k8s/dialect/dialect.h"

#define MADE_ANNOTATION "muster.dev/made"

/* Pods that share a PodGroup and have no other owner own it together, up to so many. */
#define MADE_MAX_OWNERS 64

/* The object to create. The caller owns it. */
json_t *made_object(const struct dialect *dialect, const char *version, const char *ns,
                    const struct workload_group *group);
bool made_by_us(const json_t *object);
/*
 * The merge patch that makes `object` what `group` says, without what others have edited and what
 * is not followed (queue, priority); NULL: it is that already, or not ours. A pod among the owners
 * is added to those it has. The patch applies to this version of the object only. The caller owns
 * it.
 */
json_t *made_patch(const json_t *object, const struct dialect *dialect,
                   const struct workload_group *group);
/*
 * Pods that share a PodGroup by name each say its minimum: a sentence where this one says another
 * than those for which it was made; NULL: they agree, or it is not ours. The caller frees it.
 */
char *made_dispute(const json_t *object, const struct dialect *dialect,
                   const struct workload_group *group);
/* The merge patch that links the pod of this UID to its PodGroup, in the dialect's keys. */
json_t *made_link(const struct dialect *dialect, const char *uid, const char *group,
                  const char *role);

#endif
