/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - the ops listener's paths: health, version, settings (answered on the listener's thread,
 * from what the core has published) and metrics and the API (posted to the core thread as a query,
 * answered there between two steps).
 *
 * Queries wait in lines of their own: each turn answers one, which costs no more than a few
 * milliseconds (pages). While kube-scheduler asks, a pause of QUERY_PAUSE times as long follows. So
 * its calls never wait for more than one query, and few of them do, however many queries there are.
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
/* Beyond these, places for /metrics alone. */
#define OPS_SCRAPES 16
#define QUERY_PAUSE 9

/* Queries that wait, the oldest first: for /metrics, and for the API. They take turns. */
struct query_line {
    struct query_queue {
        struct query *first, *last;
    } scrapes, others;
    bool scrape_was_last;
    usec_t pause_until;
};
void query_wait(struct query_line *line, struct query *query);
/* When query_turn() has something to do; USEC_NEVER: nobody waits. */
usec_t query_next(const struct query_line *line);
/* Answers one; what it cost goes to view->metrics. `busy`: calls of kube-scheduler come. */
void query_turn(struct query_line *line, const struct ops_view *view, bool busy);
void query_refuse_all(struct query_line *line, const char *why);
/* Answers and lets go: the query is gone afterwards. */
void query_refuse(struct query *query, const char *why);

#endif
