/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_calls.h - open bind calls. A call may be held, then its Binding is under way; it is answered
 * exactly once.
 */
#ifndef MUSTER_GANG_CLUSTER_HELD_CALLS_H
#define MUSTER_GANG_CLUSTER_HELD_CALLS_H

#include "gang/cluster/lookup.h"

void call_open(struct gang_core *core, struct pod *pod, uint64_t id);
/* NULL: no such open call. */
struct pod *call_find(const struct gang_core *core, uint64_t id);
/* The pod's open call now waits for the quorum, at the node of its slot. */
void hold_begin(struct pod *pod);
/* To test a condition: sets pod->held without opening or ending a hold. */
void hold_in_trial(struct pod *pod, bool held);
/* Sets pod->sent: filter returned the slot's node, so the pod is on its way to bind there; or it is
 * no longer. */
void on_its_way(struct pod *pod, bool is);
/* The pod's call is no longer held: it is answered, or its Binding is sent. */
void hold_end(struct gang_core *core, struct pod *pod);
/* Answers the pod's call. error "" is success; a refusal always has a sentence. */
void reply_bind(struct gang_core *core, struct pod *pod, const char *error);
/* The same for a call that was never opened. */
void reply_id(struct gang_core *core, uint64_t id, const char *error);

#endif
