/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_queries.h - requests to the ops listener that need the core: metrics and the API. The core
 * thread answers them between two steps.
 *
 * Queries have queues of their own. Each turn answers one query, which takes a few milliseconds at
 * most (pages). While kube-scheduler sends calls, a pause of QUERY_PAUSE times that duration
 * follows. So a call waits for one query at most, and few calls do, however many queries there
 * are.
 *
 * A thread of the listener creates and fills a query (ops_routes.h). Once it is posted, only the
 * core thread uses it. Its HTTP request owns it, and frees it at its end.
 */
#ifndef MUSTER_SERVER_LOOP_OPS_QUERIES_H
#define MUSTER_SERVER_LOOP_OPS_QUERIES_H

#include "server/http/http.h"
#include "server/loop/loop_mail.h"
#include "server/views/history.h"
#include "server/views/metrics.h"

enum ops_query_kind { QUERY_METRICS, QUERY_GANGS, QUERY_GANG, QUERY_NODES, QUERY_EVENTS };

struct ops_query {
    struct loop_mail mail; /* first */
    enum ops_query_kind kind;
    struct ops_query *next; /* in its queue */
    struct http_request *request;
    char *ns, *name, *api_group; /* of a gang; owned; NULL: not asked for */
    char *after;                 /* ?continue; owned */
    size_t limit;                /* of items */
};
/* It is freed with its request. On the listener's thread. */
struct ops_query *ops_query_new(struct http_request *r, enum ops_query_kind kind);
/* Answers {"error": why}; called by the owner of the request. */
void ops_query_fail(struct http_request *r, int status, const char *why);

/* ---- on the core thread ---- */

/* What answers queries. */
struct ops_query_context {
    struct gang_core *core;
    struct cluster *cluster;
    const struct history *history;
    struct metrics *metrics;
    struct http *verbs, *ops;
};
/* How many times as long as the answer before it a pause takes. */
#define QUERY_PAUSE 9

/* Queries that wait, the oldest first: for /metrics, and for the API. They take turns. */
struct ops_query_queue {
    struct ops_query_fifo {
        struct ops_query *first, *last;
    } scrapes, others;
    bool scrape_was_last;
    usec_t pause_until;
};
void ops_query_wait(struct ops_query_queue *line, struct ops_query *query);
/* When ops_query_turn() has something to do; USEC_NEVER: no query waits. */
usec_t ops_query_next(const struct ops_query_queue *line);
/* Answers one; what it cost goes to view->metrics. `busy`: kube-scheduler sends calls. */
void ops_query_turn(struct ops_query_queue *line, const struct ops_query_context *view, bool busy);
void ops_query_refuse_all(struct ops_query_queue *line, const char *why);
/* Answers {"error": why}; the query is gone afterwards. */
void ops_query_refuse(struct ops_query *query, const char *why);

#endif
