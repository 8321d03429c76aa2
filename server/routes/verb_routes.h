/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_routes.h - the paths of the verbs filter, prioritize, preempt and bind. On the listener's
 * threads.
 *
 * A complete request becomes a call (extender_call.h). The thread takes a turn for the call
 * (loop_serve()), or posts it if the turn is not free.
 */
#ifndef MUSTER_SERVER_ROUTES_VERB_ROUTES_H
#define MUSTER_SERVER_ROUTES_VERB_ROUTES_H

#include "server/http/http.h"
#include "server/loop/loop.h"
#include "workload/workload.h"

/* The argument of the handlers. It does not change while the listener runs. */
struct verb_context {
    struct loop *loop;
    struct metrics *metrics;
    const struct workload_rules *rules; /* see extender_decode_pod() */
};
extern const struct http_route verb_routes[];
extern const size_t verb_n_routes;
/* For http_options.refused: counts requests that are answered without a call. */
void verb_refused(void *context, const struct http_route *route, int status);

#endif
