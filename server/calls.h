/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - kube-scheduler's calls on their way through muster.
 *
 * A call is read on a thread of the listener. That thread takes a turn for it where it can
 * (loop_serve), and else posts it to the core thread. It is entered in the table, becomes an event
 * of the core and is answered from an effect. It belongs to its HTTP request, and rests with it
 * until the next call, on a thread of the listener, after call_send().
 *
 * A held bind is a suspended connection, and the library does not look at those: the table watches
 * their sockets itself, so that a bind whose caller has gone never counts for a quorum.
 */
#ifndef MUSTER_SERVER_CALLS_H
#define MUSTER_SERVER_CALLS_H

#include "gang/effect.h"
#include "gang/event.h"
#include "server/extender.h"
#include "server/http.h"
#include "server/loop.h"
#include "server/node_stream.h"

struct call {
    struct loop_mail mail; /* first */
    struct http_request *request;
    enum extender_verb verb;
    struct extender_args args;
    struct loop *loop;
    struct node_stream stream; /* of the request, while it arrives */
    struct metrics *metrics;
    const struct workload_rules *rules;
    size_t bytes;
    /* owned by whoever has the turn */
    uint64_t id;
    usec_t taken; /* when the core got it */
    bool watched;
    bool deferred;     /* its connection is suspended: sending means resuming it */
    struct call *next; /* in the list of answered ones */
};

/* Context of the verbs' routes. */
struct calls_context {
    struct loop *loop;
    struct metrics *metrics;
    const struct workload_rules *rules; /* see extender_decode_pod() */
};
extern const struct http_route calls_routes[];
extern const size_t calls_n_routes;
/* To be the listener's piece(): whole nodes are not kept, but for those that are echoed. */
void calls_piece(void *context, struct http_request *r, const char *data, size_t n);
void calls_refused(void *context, const struct http_route *route, int status);

/* ---- by whoever has the turn ---- */

struct calls;

struct calls *calls_new(struct err *err);
/* Must be empty. */
struct calls *calls_free(struct calls *calls);
/* Readable when the peer of a held call is gone. */
int calls_fd(const struct calls *calls);

/* The pod of a call that is not posted: the core's own facts where it knows that very version, else
 * read from the request. False: it cannot be read, and the call was answered. */
bool call_prepare(struct call *call, const struct gang_core *core);
/* Behind the step that had the call: unless it was answered it is deferred now. */
void call_settle(struct calls *calls, struct call *call);

/* Enters a call, gives it an id and fills the event for it (which borrows from the call). */
void calls_enter(struct calls *calls, struct call *call, usec_t now, struct gang_event *ev);
/* Up to max events for held calls whose peer has gone; each is reported once. */
size_t calls_closed(struct calls *calls, struct gang_event *events, size_t max);
size_t calls_count(const struct calls *calls);

/* The call that an effect answers; 0: it is no reply. */
uint64_t call_reply_id(const struct gang_effect *effect);
/* Renders the reply in the effect and takes the call out of the table; NULL when there is no such
 * call. It is sent by call_send(), after which it is gone. */
struct call *calls_answer(struct calls *calls, const struct gang_effect *effect, usec_t now);
void call_send(struct call *call);
/* Takes a call out of the table: this one, or (id 0) any; NULL when there is none. */
struct call *calls_take(struct calls *calls, uint64_t id);
/* Answers and sends a call that is not (any more) in the table, without asking the core. */
void call_refuse(struct call *call, const char *why);

#endif
