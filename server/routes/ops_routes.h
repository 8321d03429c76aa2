/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_routes.h - the ops listener's paths. Health, version and settings are answered on the
 * listener's thread, from what the loop has published. Metrics and the API are posted to the core
 * thread as a query (ops_queries.h).
 */
#ifndef MUSTER_SERVER_ROUTES_OPS_ROUTES_H
#define MUSTER_SERVER_ROUTES_OPS_ROUTES_H

#include "server/http/http.h"
#include "server/loop/loop.h"

/* The most queries that wait at once; further ones are answered 503. Probes do not wait. */
#define OPS_QUERIES 256
/* Beyond these, places for /metrics alone. */
#define OPS_SCRAPES 16

/* Context of the routes; const while the listener runs. */
struct ops_context {
    struct loop *loop;
    char *configz; /* JSON */
};
extern const struct http_route ops_routes[];
extern const size_t ops_n_routes;

#endif
