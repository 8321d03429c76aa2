/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the table of the calls that the core has, by the ids that its effects name.
 *
 * A held bind is a suspended connection, and the library does not look at those: the table watches
 * their sockets itself, so that a bind whose caller has gone never counts for a quorum.
 *
 * Life cycle: calls_new(), calls_enter() for each call, calls_settle() behind the step of one that
 * is not posted, calls_answer() or calls_take() for each, calls_free(). The loop owns it; by
 * whoever has the turn. The calls stay their requests' (call.h).
 */
#ifndef MUSTER_SERVER_LOOP_CALLS_H
#define MUSTER_SERVER_LOOP_CALLS_H

#include "server/loop/call.h"

struct calls;

struct calls *calls_new(struct err *err);
/* Must be empty. */
struct calls *calls_free(struct calls *calls);
/* Readable when the peer of a held call is gone. */
int calls_fd(const struct calls *calls);

/* Enters a call, gives it an id and fills the event for it (which borrows from the call). */
void calls_enter(struct calls *calls, struct call *call, usec_t now, struct gang_event *ev);
/* Behind the step that had the call: unless it was answered it is deferred now. */
void calls_settle(struct calls *calls, struct call *call);
/* Up to max events for held calls whose peer has gone; each is reported once. */
size_t calls_closed(struct calls *calls, struct gang_event *events, size_t max);
size_t calls_count(const struct calls *calls);

/* Takes the call that the effect answers out of the table and renders its reply, see call_answer();
 * NULL when there is no such call. */
struct call *calls_answer(struct calls *calls, const struct gang_effect *effect, usec_t now);
/* Takes a call out of the table: this one, or (id 0) any; NULL when there is none. */
struct call *calls_take(struct calls *calls, uint64_t id);

#endif
