/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.h - from a held bind call to its Binding.
 *
 * A held call, from its beginning to its end:
 *   1. answer_bind() parks it: the member is at bind, its slot is filled, no reply yet.
 *   2. It leaves in exactly one way, always through reply_bind():
 *      commit   the needed set is at bind: all Bindings are sent, at once or with those of other
 *               gangs (commit_batch.c); the calls are answered when the last result is in, see
 *               bound(). With the express lane the first call is enough, and the members that have
 *               not called are bound with it, see express_lane.c
 *      limit    hold_timer_fired(): all holds of the gang are answered together when the oldest
 *               is config.hold old; the slots stay, the members come again
 *      undone   plan_drop(), slot_release(): the place is gone
 *      gone     pod deleted, peer closed the connection (call_closed), superseded by a newer call
 *      stop     stop_all()
 *   3. A call whose Binding was sent is also answered within config.hold (TIMER_CALL), even if
 *      the result is not known yet: the pod is settled by reading it, the scheduler asks again.
 */
#ifndef MUSTER_GANG_LIFECYCLE_COMMIT_H
#define MUSTER_GANG_LIFECYCLE_COMMIT_H

#include "gang/cluster/lookup.h"

/* Commits when the needed set is at bind; to be asked whenever that may have become true. */
void commit_if_quorum(struct gang_core *core, struct gang *gang);
/* Sends the Bindings of all held members. */
void bind_held(struct gang_core *core, struct gang *gang);
/* The pod is charged there, and its Binding sent. */
void begin_binding(struct gang_core *core, struct pod *pod, struct node *node);
/* The same Binding again. */
void send_binding(struct gang_core *core, struct pod *pod);
/* A failed commit is undone: the pod is asked to leave. */
void evict(struct gang_core *core, struct pod *pod);
/* The oldest held call of the gang must be answered. */
void hold_timer_fired(struct gang_core *core, struct gang *gang);
/* The peer of a held call went away. */
void call_closed(struct gang_core *core, uint64_t id);
/* Answers every open call. */
void stop_all(struct gang_core *core);

#endif
