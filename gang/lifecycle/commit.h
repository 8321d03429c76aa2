/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.h - from a held bind call to its Binding.
 *
 * Life cycle of a held call:
 *   1. answer_bind() holds it: the member is at bind, its slot is filled, no reply yet.
 *   2. It ends in exactly one way, always through reply_bind():
 *      commit   the needed set is at bind: all Bindings are sent, at once or with those of other
 *               gangs (commit_batch.c). The calls are answered when the last result is in, see
 *               bound(). With the express lane the first call is enough: members that have not
 *               called are bound with it, see express_lane.c.
 *      limit    hold_timer_fired(): all holds of the gang are answered together when the oldest
 *               is config.hold old; the slots stay, and kube-scheduler retries the members
 *      undone   plan_drop(), slot_release(): the slot is gone
 *      gone     pod deleted, peer closed the connection (call_closed), superseded by a newer call
 *      stop     stop_all()
 *   3. A call whose Binding was sent is also answered within config.hold (TIMER_CALL), even if the
 *      result is not known yet: muster then reads the pod, and kube-scheduler retries.
 */
#ifndef MUSTER_GANG_LIFECYCLE_COMMIT_H
#define MUSTER_GANG_LIFECYCLE_COMMIT_H

#include "gang/cluster/lookup.h"

/* Commits if the needed set is at bind. Call it whenever that may have become true. */
void commit_if_quorum(struct gang_core *core, struct gang *gang);
/* Sends the Bindings of all held members. */
void bind_held(struct gang_core *core, struct gang *gang);
/* Charges the pod to the node and sends its Binding. */
void begin_binding(struct gang_core *core, struct pod *pod, struct node *node);
/* Sends the Binding of a pod that is charged, for the first time or again. */
void send_binding(struct gang_core *core, struct pod *pod);
/* Answers the held calls of the gang: the oldest one has reached config.hold. */
void hold_timer_fired(struct gang_core *core, struct gang *gang);
/* The peer of a held call closed the connection. */
void call_closed(struct gang_core *core, uint64_t id);
/* Answers every open call. */
void stop_all(struct gang_core *core);

#endif
