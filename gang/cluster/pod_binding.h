/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_binding.h - the Binding of a pod: when it was sent, for which commit, and its result.
 *
 * Owns pod.binding and sends nothing itself: commit.c sends Bindings, and binding_results.c takes
 * their results. The node of the last refused Binding stays noted until the pod is freed.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_BINDING_H
#define MUSTER_GANG_CLUSTER_POD_BINDING_H

#include "gang/cluster/lookup.h"

/* A new Binding is about to be sent. commit: the number of its gang's commit; 0: none. */
void binding_begins(const struct gang_core *core, struct pod *pod, int commit);
/* The Binding is sent, for the first time or again. */
void binding_sent(const struct gang_core *core, struct pod *pod);
/* The result is unclear. Returns how often it was unclear before. */
int binding_tried(struct pod *pod);
/* The Binding to this node was refused. */
void binding_refused(struct pod *pod, const struct node *node);
/* The Binding counts for no commit, because the pod belongs to another gang now. */
void binding_of_no_commit(struct pod *pod);

#endif
