/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_calls.h - bind calls that are open: a call is held, then its Binding is under way; it is
 * answered once.
 */
#ifndef MUSTER_GANG_CLUSTER_HELD_CALLS_H
#define MUSTER_GANG_CLUSTER_HELD_CALLS_H

#include "gang/cluster/lookup.h"

void call_open(struct gang_core *core, struct pod *pod, uint64_t id);
/* NULL: it is not open. */
struct pod *call_find(const struct gang_core *core, uint64_t id);
/* Its open call waits for the quorum, at the node of its slot. */
void hold_begin(struct pod *pod);
/* For a question only: as if it did. */
void hold_in_trial(struct pod *pod, bool held);
/* Filter named its slot to kube-scheduler. */
void on_its_way(struct pod *pod, bool is);
/* The pod's call is no hold any more (answered, or its Binding is sent). */
void hold_end(struct gang_core *core, struct pod *pod);
/* Answers the pod's call. error "" is success; a refusal always has its sentence. */
void reply_bind(struct gang_core *core, struct pod *pod, const char *error);
/* The same of a call that was never open. */
void reply_id(struct gang_core *core, uint64_t id, const char *error);

#endif
