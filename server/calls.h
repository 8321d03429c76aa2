/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - kube-scheduler's calls on their way through muster.
 *
 * A call is parsed on a thread of the listener (calls_handle), posted to the core thread, entered
 * in the table there, becomes an event of the core and is answered from an effect. It belongs to
 * its HTTP request and is freed with it, on a thread of the listener, after call_send().
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

struct call {
    struct loop_mail mail; /* first */
    struct http_request *request;
    enum extender_verb verb;
    struct extender_args args;
    struct metrics *metrics;
    size_t bytes;
    /* owned by the core thread */
    uint64_t id;
    usec_t taken; /* when the core got it */
    bool watched;
    struct call *next; /* in the list of answered ones */
};

/* Context of the verbs' routes. */
struct calls_context {
    struct loop *loop;
    struct metrics *metrics;
    const struct workload_rules *rules; /* see extender_parse() */
};
extern const struct http_route calls_routes[];
extern const size_t calls_n_routes;
void calls_refused(void *context, const struct http_route *route, int status);

/* ---- on the core thread ---- */

struct calls;

struct calls *calls_new(struct err *err);
/* Must be empty. */
struct calls *calls_free(struct calls *calls);
/* Readable when the peer of a held call is gone. */
int calls_fd(const struct calls *calls);

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
