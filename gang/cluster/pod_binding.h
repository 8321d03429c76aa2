/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_binding.h - the Binding of a pod: when it was sent, for which commit, what became of it.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_BINDING_H
#define MUSTER_GANG_CLUSTER_POD_BINDING_H

#include "gang/cluster/lookup.h"

/* commit: the number of its gang's; 0: it is of none. */
void binding_begins(const struct gang_core *core, struct pod *pod, int commit);
/* For the first time or again. */
void binding_sent(const struct gang_core *core, struct pod *pod);
/* Its result is open still; returns how often it was before. */
int binding_tried(struct pod *pod);
/* The API server refused it on that node. */
void binding_refused(struct pod *pod, const struct node *node);
/* The pod belongs to another gang now. */
void binding_of_no_commit(struct pod *pod);
/* The pod is asked to leave, after a failed commit; or it was not let go. */
void binding_undone(struct pod *pod, bool is);

#endif
