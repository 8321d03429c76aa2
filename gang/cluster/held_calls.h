/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_calls.h - open bind calls. An open call is held first, or its Binding is sent at once. Each
 * call is answered exactly once.
 *
 * Owns core->calls, and which pods are held. bind.c opens calls, commit.c and binding_results.c
 * answer them, and reservations.c answers a held call whose slot is released.
 */
#ifndef MUSTER_GANG_CLUSTER_HELD_CALLS_H
#define MUSTER_GANG_CLUSTER_HELD_CALLS_H

#include "gang/cluster/lookup.h"

/* The bind call `id` is open from now on. The pod must not have another open call. */
void call_open(struct gang_core *core, struct pod *pod, uint64_t id);
/* The pod of the open call; NULL: there is no such call. */
struct pod *call_find(const struct gang_core *core, uint64_t id);
/* Holds the pod's open call at the node of its slot, for at most config.hold. Takes a hold of the
 * quota (hold_quota.h). */
void hold_begin(struct gang_core *core, struct pod *pod);
/* Sets pod->held to test a condition, without a hold. */
void hold_in_trial(struct pod *pod, bool held);
/* Sets pod->sent: the pod is on its way, or no longer. */
void on_its_way(struct pod *pod, bool is);
/* The pod's call is no longer held: it was answered, or its Binding is sent. */
void hold_end(struct gang_core *core, struct pod *pod);
/* Answers the pod's open call. error: the sentence of a refusal; "": success. */
void reply_bind(struct gang_core *core, struct pod *pod, const char *error);
/* Answers a call that was not opened. */
void reply_id(struct gang_core *core, uint64_t id, const char *error);

#endif
