/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.h - from the scheduler's bind call to an assigned pod.
 *
 * A held call, from its beginning to its end:
 *   1. answer_bind() parks it: the member is at bind, its slot is filled, no reply yet.
 *   2. It leaves in exactly one way, always through reply_bind():
 *      commit   the needed set is at bind: all Bindings are sent, at once or with those of other
 *               gangs (batch.c); the calls are answered when the last result is in, see
 *               bound(). With the express lane the first call is enough, and the members that have
 *               not called are bound with it, see express.c
 *      limit    hold_timer_fired(): all holds of the gang are answered together when the oldest
 *               is config.hold old; the slots stay, the members come again
 *      undone   plan_drop(), slot_release(): the place is gone
 *      gone     pod deleted, peer closed the connection (call_closed), superseded by a newer call
 *      stop     stop_all()
 *   3. A call whose Binding was sent is also answered within config.hold (TIMER_CALL), even if
 *      the result is not known yet: the pod is settled by reading it, the scheduler asks again.
 *
 * A Binding once sent is a charge until it is refused for good. An unclear result is settled by
 * reading the pod, and sending the same Binding again if the pod is still unbound: a Binding
 * carries the UID and can succeed only once. It is not sent again where others took the room
 * meanwhile, to a pod that is being deleted (the API server answers 409 for ever), or later than
 * RESEND_LIMIT: then it is over when the pod still reads as unbound after BINDING_OVER.
 */
#ifndef MUSTER_GANG_LIFE_BIND_H
#define MUSTER_GANG_LIFE_BIND_H

#include "gang/cluster/objects.h"

void answer_bind(struct gang_core *core, const struct gang_event *ev);
void refuse_bind(struct gang_core *core, uint64_t id, enum gang_reason_code why);
/* Sends the Bindings of all held members. */
void bind_held(struct gang_core *core, struct gang *gang);
void call_closed(struct gang_core *core, uint64_t id);
void binding_done(struct gang_core *core, const struct gang_event *ev);
void pod_read(struct gang_core *core, const struct gang_event *ev);
void pod_timer_fired(struct gang_core *core, struct pod *pod, enum timer_kind kind);
void hold_timer_fired(struct gang_core *core, struct gang *gang);
/* Commits when the needed set is at bind; to be asked whenever that may have become true. */
void commit_if_quorum(struct gang_core *core, struct gang *gang);
void evict(struct gang_core *core, struct pod *pod);
void stop_all(struct gang_core *core);

#endif
