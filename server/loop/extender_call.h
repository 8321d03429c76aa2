/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extender_call.h - a call of kube-scheduler: turns the request into an event of the core, and the
 * core's effect into the reply.
 *
 * A thread of the listener reads the call (verb_routes.h). It takes a turn for the call if the turn
 * is free; otherwise it posts the call to the core thread. The call is entered in the table
 * (call_table.h) and becomes an event. An effect of the core answers it. The HTTP request owns the
 * call and frees it on a thread of the listener, after extender_call_send().
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
    usec_t taken; /* when the call was entered in the table */
    bool watched;
    bool deferred;              /* the connection is suspended, and sending resumes it */
    struct extender_call *next; /* in the loop's list of answered calls */
};

/* ---- for the thread that has the call ---- */

/* Parses the request, except the pod. False: it cannot be read, and the call was answered. */
bool extender_call_parse(struct extender_call *call);
/* Decodes the pod. False: it cannot be read, and the call was answered. */
bool extender_call_decode(struct extender_call *call);
/* Answers and sends a call that is not in the table, without the core. */
void extender_call_refuse(struct extender_call *call, const char *why);

/* ---- for the thread that has the turn ---- */

/* Finds the pod of a call that was not posted: the core's own facts if the core knows exactly this
 * version, otherwise decoded from the request. False: unreadable, and the call was answered. */
bool extender_call_prepare(struct extender_call *call, const struct gang_core *core);
/* Fills the event for a call. The event borrows from the call. */
void extender_call_to_event(struct extender_call *call, struct gang_event *ev);
/* The id of the call that the effect answers; 0: the effect is not a reply. */
uint64_t extender_call_reply_id(const struct gang_effect *effect);
/* Renders the effect as the reply, and queues it. extender_call_send() sends it; the call must not
 * be used afterwards. */
void extender_call_answer(struct extender_call *call, const struct gang_effect *effect, usec_t now);
void extender_call_send(struct extender_call *call);

#endif
