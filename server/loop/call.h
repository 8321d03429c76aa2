/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one call of kube-scheduler: from the bytes of its request to an event of the core, and
 * from the core's effect to its reply.
 *
 * A call is read on a thread of the listener (verb_routes.h). That thread takes a turn for it where
 * it can, and else posts it to the core thread. It is entered in the table (calls.h), becomes an
 * event of the core and is answered from an effect. It belongs to its HTTP request and ends with
 * it, on a thread of the listener, after call_send().
 */
#ifndef MUSTER_SERVER_LOOP_CALL_H
#define MUSTER_SERVER_LOOP_CALL_H

#include "gang/effect.h"
#include "gang/event.h"
#include "gang/gang.h"
#include "server/extender/extender.h"
#include "server/http/http.h"
#include "server/loop/loop_mail.h"
#include "server/views/metrics.h"

struct call {
    struct loop_mail mail; /* first */
    struct http_request *request;
    enum extender_verb verb;
    struct extender_args args;
    struct metrics *metrics;
    const struct workload_rules *rules; /* see extender_decode_pod() */
    /* owned by whoever has the turn */
    uint64_t id;
    usec_t taken; /* when the core got it */
    bool watched;
    bool deferred;     /* its connection is suspended: sending means resuming it */
    struct call *next; /* in the list of answered ones */
};

/* ---- by the thread that has it ---- */

/* Reads the request, without the pod. False: it cannot be read, and the call was answered. */
bool call_parse(struct call *call);
/* Reads the pod. False as above. */
bool call_decode(struct call *call);
/* Answers and sends a call that is not (any more) in the table, without asking the core. */
void call_refuse(struct call *call, const char *why);

/* ---- by whoever has the turn ---- */

/* The pod of a call that is not posted: the core's own facts where it knows that very version, else
 * read from the request. False: it cannot be read, and the call was answered. */
bool call_prepare(struct call *call, const struct gang_core *core);
/* Fills the event for a call (which borrows from it). */
void call_to_event(struct call *call, struct gang_event *ev);
/* The call that an effect answers; 0: it is no reply. */
uint64_t call_reply_id(const struct gang_effect *effect);
/* Renders the reply in the effect. It is sent by call_send(), after which the call is gone. */
void call_answer(struct call *call, const struct gang_effect *effect, usec_t now);
void call_send(struct call *call);

#endif
