/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_routes.h - the verbs' paths: filter, prioritize, preempt, bind, on the listener's threads.
 *
 * A request is made small while it arrives (node_stream.h), becomes a call (call.h) when it is
 * whole, and is then the loop's: the thread takes a turn for it where it can (loop_serve), and else
 * posts it.
 */
#ifndef MUSTER_SERVER_ROUTES_VERB_ROUTES_H
#define MUSTER_SERVER_ROUTES_VERB_ROUTES_H

#include "server/http/http.h"
#include "server/loop/loop.h"
#include "workload/workload.h"

/* Context of the routes; const while the listener runs. */
struct verb_context {
    struct loop *loop;
    struct metrics *metrics;
    const struct workload_rules *rules; /* see extender_decode_pod() */
};
extern const struct http_route verb_routes[];
extern const size_t verb_n_routes;
/* To be the listener's piece(): whole nodes are not kept, but for those that are echoed. */
void verb_piece(void *context, struct http_request *r, const char *data, size_t n);
/* To be the listener's refused(): counts what was answered without a call. */
void verb_refused(void *context, const struct http_route *route, int status);

#endif
