/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queries.h - requests to the ops listener that need the core: metrics and the API. They are
 * answered on the core thread, between two steps.
 *
 * Queries wait in lines of their own: each turn answers one, which costs no more than a few
 * milliseconds (pages). While kube-scheduler asks, a pause of QUERY_PAUSE times as long follows. So
 * its calls never wait for more than one query, and few of them do, however many queries there are.
 *
 * A query is made and filled on the listener's thread (ops_routes.h), and is the core thread's from
 * the post on. It belongs to its HTTP request, and ends with it.
 */
#ifndef MUSTER_SERVER_LOOP_QUERIES_H
#define MUSTER_SERVER_LOOP_QUERIES_H

#include "server/http/http.h"
#include "server/loop/loop_mail.h"
#include "server/views/history.h"
#include "server/views/metrics.h"

enum query_kind { QUERY_METRICS, QUERY_GANGS, QUERY_GANG, QUERY_NODES, QUERY_EVENTS };

struct query {
    struct loop_mail mail; /* first */
    enum query_kind kind;
    struct query *next; /* in the line of those that wait */
    struct http_request *request;
    char *ns, *name, *api_group; /* of a gang; owned; NULL: not asked for */
    char *after;                 /* ?continue; owned */
    size_t limit;                /* of items */
};
/* It is freed with its request. On the listener's thread. */
struct query *query_new(struct http_request *r, enum query_kind kind);
/* Answers {"error": why}; whoever has the request. */
void query_fail(struct http_request *r, int status, const char *why);

/* ---- on the core thread ---- */

/* What answers queries. */
struct query_view {
    struct gang_core *core;
    struct cluster *cluster;
    const struct history *history;
    struct metrics *metrics;
    struct http *verbs, *ops;
};
/* A pause is so many times as long as the answer before it took. */
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
void query_turn(struct query_line *line, const struct query_view *view, bool busy);
void query_refuse_all(struct query_line *line, const char *why);
/* Answers and lets go: the query is gone afterwards. */
void query_refuse(struct query *query, const char *why);

#endif
