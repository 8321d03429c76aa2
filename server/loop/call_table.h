/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_table.h - the table of unanswered calls of kube-scheduler, by the id that effects use.
 *
 * The connection of a held bind call is suspended, and libmicrohttpd does not watch it. The table
 * watches these sockets, so that a bind call never counts for a quorum after its caller has
 * disconnected.
 *
 * Life cycle: call_table_new(); for each call call_table_enter(), call_table_settle() after its
 * step if the call was not posted, and call_table_answer() or call_table_take(); call_table_free().
 * The loop owns the table. Only the thread that has the turn uses it. The requests own the calls
 * (extender_call.h).
 */
#ifndef MUSTER_SERVER_LOOP_CALL_TABLE_H
#define MUSTER_SERVER_LOOP_CALL_TABLE_H

#include "server/loop/extender_call.h"

struct call_table;

struct call_table *call_table_new(struct err *err);
/* The table must be empty. NULL is allowed. Returns NULL. */
struct call_table *call_table_free(struct call_table *calls);
/* Readable when the caller of a held call has disconnected. */
int call_table_fd(const struct call_table *calls);

/* Enters a call, gives it an id, and fills its event. The event borrows from the call. */
void call_table_enter(struct call_table *calls, struct extender_call *call, usec_t now,
                      struct gang_event *ev);
/* Call it after the step with the call: defers the call, unless it was answered. */
void call_table_settle(struct call_table *calls, struct extender_call *call);
/* Fills up to max events for held calls whose caller has disconnected, and returns their number.
 * Each call is reported once. */
size_t call_table_closed(struct call_table *calls, struct gang_event *events, size_t max);
size_t call_table_count(const struct call_table *calls);

/* Removes the call that the effect answers, and renders its reply, see extender_call_answer().
 * NULL: the table has no such call. */
struct extender_call *call_table_answer(struct call_table *calls, const struct gang_effect *effect,
                                        usec_t now);
/* Removes the call with this id, or any call if id is 0. NULL: the table has no such call. */
struct extender_call *call_table_take(struct call_table *calls, uint64_t id);

#endif
