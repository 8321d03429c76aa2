/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_binding.h - the Binding of a pod: when it was sent, for which commit, and its result.
 */
#ifndef MUSTER_GANG_CLUSTER_POD_BINDING_H
#define MUSTER_GANG_CLUSTER_POD_BINDING_H

#include "gang/cluster/lookup.h"

/* commit: the number of its gang's commit; 0: none. */
void binding_begins(const struct gang_core *core, struct pod *pod, int commit);
/* The Binding is sent, for the first time or again. */
void binding_sent(const struct gang_core *core, struct pod *pod);
/* The result is still unclear; returns the number of earlier tries. */
int binding_tried(struct pod *pod);
/* The API server refused it on that node. */
void binding_refused(struct pod *pod, const struct node *node);
/* The pod now belongs to another gang. */
void binding_of_no_commit(struct pod *pod);
/* Its eviction is requested after a failed commit, or was refused. */
void binding_undone(struct pod *pod, bool is);

#endif
