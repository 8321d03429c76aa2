/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - the ops listener's paths: health, version, settings (answered on the listener's thread)
 * and metrics and the API (posted to the core thread as a query, answered there).
 */
#ifndef MUSTER_SERVER_OPS_H
#define MUSTER_SERVER_OPS_H

#include "server/history.h"
#include "server/http.h"
#include "server/loop.h"

/* Context of the routes; const while the listener runs. */
struct ops_context {
    struct loop *loop;
    char *configz; /* JSON */
};
extern const struct http_route ops_routes[];
extern const size_t ops_n_routes;

/* A request that needs the core. Belongs to its HTTP request. */
struct query {
    struct loop_mail mail; /* first */
    struct http_request *request;
    char *ns, *name, *api_group; /* of a gang; NULL: not asked for */
    size_t limit;                /* of events */
};

/* What answers queries, on the core thread. */
struct ops_view {
    const struct gang_core *core;
    struct cluster *cluster;
    const struct history *history;
    struct metrics *metrics;
    struct http *verbs, *ops;
};
/* Answers and lets go: the query is gone afterwards. */
void query_answer(struct query *query, const struct ops_view *view);
void query_refuse(struct query *query, const char *why);

#endif
