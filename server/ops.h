/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - the ops listener's paths: health, version, settings (answered on the listener's thread,
 * from what the core has published) and metrics and the API (posted to the core thread as a query,
 * answered there between two steps).
 *
 * Queries wait in a line of their own: in each turn as many are answered as QUERY_TURN allows, one
 * at least, and none costs more than a few milliseconds (pages). So kube-scheduler's calls never
 * wait for more than one turn, however many ask.
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
    struct query *next;    /* in the line of those that wait */
    struct http_request *request;
    char *ns, *name, *api_group; /* of a gang; NULL: not asked for */
    char *after;                 /* ?continue */
    size_t limit;                /* of items */
};

/* What answers queries, on the core thread. */
struct ops_view {
    struct gang_core *core;
    struct cluster *cluster;
    const struct history *history;
    struct metrics *metrics;
    struct http *verbs, *ops;
};
/* The most queries that wait at once; further ones are answered 503. Probes do not wait. */
#define OPS_QUERIES 256
/* When a turn has spent so much CPU on queries, the others wait for the next one. */
#define QUERY_TURN USEC_PER_MSEC

/* Queries that wait, the oldest first. */
struct query_line {
    struct query *first, *last;
};
void query_wait(struct query_line *line, struct query *query);
/* Answers those that this turn has time for; what it cost goes to view->metrics. */
void query_turn(struct query_line *line, const struct ops_view *view);
void query_refuse_all(struct query_line *line, const char *why);
/* Answers and lets go: the query is gone afterwards. */
void query_refuse(struct query *query, const char *why);

#endif
