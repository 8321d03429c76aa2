/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nominations.h - who is nominated where, by kube-scheduler or by us.
 *
 * A nomination is a write to the pod: it wakes a pod that sleeps in kube-scheduler's queue, which
 * tries it on that node alone.
 */
#ifndef MUSTER_GANG_CLUSTER_NOMINATIONS_H
#define MUSTER_GANG_CLUSTER_NOMINATIONS_H

#include "gang/cluster/lookup.h"

/* The pod's nomination, or whether it still needs one, changed. */
void nomination_update(struct gang_core *core, struct pod *pod);
/* Writes the nomination: wakes the pod and steers it. NULL clears. */
void nominate(struct gang_core *core, struct pod *pod, const struct node *node);
/* What its status names, as far as is known; NULL: nothing. */
void nominated_to(struct pod *pod, const char *node);
/* Its node is gone. */
void nomination_end(struct pod *pod);
/* Takes back the nominations of members that have no place. */
void nominations_clear(struct gang_core *core, struct gang *gang);

#endif
