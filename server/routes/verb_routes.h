/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_routes.h - the verbs' paths: filter, prioritize, preempt, bind, on the listener's threads.
 *
 * A request becomes a call (extender_call.h) when it is whole, and is then the loop's: the thread
 * takes a turn for it where it can (loop_serve), and else posts it.
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
/* To be the listener's refused(): counts what was answered without a call. */
void verb_refused(void *context, const struct http_route *route, int status);

#endif
