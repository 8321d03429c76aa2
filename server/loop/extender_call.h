/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extender_call.h - one call of kube-scheduler: from its request bytes to an event of the core,
 * and from the core's effect to its reply.
 *
 * A thread of the listener reads the call (verb_routes.h). The thread takes a turn for it if the
 * turn is free, otherwise it posts the call to the core thread. The call is entered in the table
 * (call_table.h), becomes an event of the core, and is answered from an effect. It belongs to its
 * HTTP request and ends with it, on a thread of the listener, after extender_call_send().
 */
#ifndef MUSTER_SERVER_LOOP_EXTENDER_CALL_H
#define MUSTER_SERVER_LOOP_EXTENDER_CALL_H

#include "gang/effect.h"
#include "gang/event.h"
#include "gang/gang.h"
#include "server/extender/extender_request.h"
#include "server/http/http.h"
#include "server/loop/loop_mail.h"
#include "server/views/metrics.h"

struct extender_call {
    struct loop_mail mail; /* first */
    struct http_request *request;
    enum extender_verb verb;
    struct extender_args args;
    struct metrics *metrics;
    const struct workload_rules *rules; /* see extender_decode_pod() */
    /* owned by the thread that has the turn */
    uint64_t id;
    usec_t taken; /* when the core got it */
    bool watched;
    bool deferred;              /* its connection is suspended: sending means resuming it */
    struct extender_call *next; /* in the list of answered ones */
};

/* ---- by the thread that has it ---- */

/* Reads the request, without the pod. False: it cannot be read, and the call was answered. */
bool extender_call_parse(struct extender_call *call);
/* Reads the pod. False as above. */
bool extender_call_decode(struct extender_call *call);
/* Answers and sends a call that is not (any more) in the table, without asking the core. */
void extender_call_refuse(struct extender_call *call, const char *why);

/* ---- by the thread that has the turn ---- */

/* The pod of a call that is not posted: the core's own facts where it knows that very version, else
 * read from the request. False: it cannot be read, and the call was answered. */
bool extender_call_prepare(struct extender_call *call, const struct gang_core *core);
/* Fills the event for a call (which borrows from it). */
void extender_call_to_event(struct extender_call *call, struct gang_event *ev);
/* The id of the call that the effect answers; 0: the effect is not a reply. */
uint64_t extender_call_reply_id(const struct gang_effect *effect);
/* Renders the reply in the effect. It is sent by extender_call_send(), after which the call is
 * gone. */
void extender_call_answer(struct extender_call *call, const struct gang_effect *effect, usec_t now);
void extender_call_send(struct extender_call *call);

#endif
