/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.h - from a held bind call to its Binding.
 *
 * Life cycle of a held call:
 *   1. answer_bind() holds the call. The member is at bind.
 *   2. The call ends in exactly one of these ways, always through reply_bind():
 *      commit   All needed members are at bind. muster sends all Bindings, at once or together
 *               with those of other gangs (commit_batch.h). It answers the calls when the last
 *               result is in, see bound(). In the express lane, the first call is enough: muster
 *               then also binds members that are not at bind (express_lane.h).
 *      limit    The oldest held call of the gang is config.hold old. hold_timer_fired() answers
 *               all held calls of the gang. The slots stay, and kube-scheduler retries the
 *               members.
 *      no slot  plan_drop() or slot_release() has released the slot.
 *      gone     The pod is deleted, the peer has closed the connection (call_closed()), or
 *               kube-scheduler has called again for the pod.
 *      stop     muster stops (stop_all()).
 *   3. A call whose Binding was sent is answered within config.hold too (TIMER_CALL). If there is
 *      no result yet, the answer is an error, and kube-scheduler retries the pod.
 */
#ifndef MUSTER_GANG_LIFECYCLE_COMMIT_H
#define MUSTER_GANG_LIFECYCLE_COMMIT_H

#include "gang/cluster/lookup.h"

/* Commits the gang if all needed members are at bind. Call it whenever this may have become true.
 */
void commit_if_quorum(struct gang_core *core, struct gang *gang);
/* Sends the Bindings of all held members. */
void bind_held(struct gang_core *core, struct gang *gang);
/* Charges the pod to the node and sends its Binding. */
void begin_binding(struct gang_core *core, struct pod *pod, struct node *node);
/* Sends the Binding of a charged pod, for the first time or again. */
void send_binding(struct gang_core *core, struct pod *pod);
/* Answers all held calls of the gang, because the oldest one has reached config.hold. */
void hold_timer_fired(struct gang_core *core, struct gang *gang);
/* Ends a held call whose peer has closed the connection. */
void call_closed(struct gang_core *core, uint64_t id);
/* Answers every open call, because muster stops. */
void stop_all(struct gang_core *core);

#endif
