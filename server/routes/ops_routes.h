/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_routes.h - the paths of the ops listener. The listener's thread answers requests for health,
 * version and settings, from values that the loop has published. It posts requests for metrics and
 * the API to the core thread as queries (ops_queries.h).
 */
#ifndef MUSTER_SERVER_ROUTES_OPS_ROUTES_H
#define MUSTER_SERVER_ROUTES_OPS_ROUTES_H

#include "server/http/http.h"
#include "server/loop/check_reader.h"
#include "server/loop/loop.h"

/* The maximum number of waiting queries. Further queries get status 503. Probes do not wait. */
#define OPS_QUERIES 256
/* The largest body: the manifests of a check. */
#define OPS_BODY_LIMIT ((size_t)256 << 10)
/* Additional places that only /metrics can use. */
#define OPS_SCRAPES 16

/* The argument of the handlers. It does not change while the listener runs. */
struct ops_context {
    struct loop *loop;
    char *configz; /* JSON */
    struct check_reader *checks;
};
extern const struct http_route ops_routes[];
extern const size_t ops_n_routes;

#endif
