/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_table.h - the calls that the core has, by the ids that its effects name.
 *
 * A held bind is a suspended connection, which libmicrohttpd does not watch. The table watches
 * these sockets itself, so a bind whose caller has gone never counts for a quorum.
 *
 * Life cycle: call_table_new(), call_table_enter() for each call, call_table_settle() after the
 * step of a call that was not posted, call_table_answer() or call_table_take() for each,
 * call_table_free(). The loop owns the table; only the thread that has the turn uses it. Calls
 * stay owned by their requests (extender_call.h).
 */
#ifndef MUSTER_SERVER_LOOP_CALL_TABLE_H
#define MUSTER_SERVER_LOOP_CALL_TABLE_H

#include "server/loop/extender_call.h"

struct call_table;

struct call_table *call_table_new(struct err *err);
/* Must be empty. */
struct call_table *call_table_free(struct call_table *calls);
/* Readable when the peer of a held call is gone. */
int call_table_fd(const struct call_table *calls);

/* Enters a call, gives it an id and fills the event for it (which borrows from the call). */
void call_table_enter(struct call_table *calls, struct extender_call *call, usec_t now,
                      struct gang_event *ev);
/* After the step that had the call: defers the call unless it was answered. */
void call_table_settle(struct call_table *calls, struct extender_call *call);
/* Up to max events for held calls whose peer has gone; each is reported once. */
size_t call_table_closed(struct call_table *calls, struct gang_event *events, size_t max);
size_t call_table_count(const struct call_table *calls);

/* Takes the call that the effect answers out of the table and renders its reply, see
 * extender_call_answer(); NULL when there is no such call. */
struct extender_call *call_table_answer(struct call_table *calls, const struct gang_effect *effect,
                                        usec_t now);
/* Takes a call out of the table: this one, or (id 0) any; NULL when there is none. */
struct extender_call *call_table_take(struct call_table *calls, uint64_t id);

#endif
