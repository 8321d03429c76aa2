/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_queries.h - requests to the ops listener that need the core: metrics and the API. The core
 * thread answers them between steps.
 *
 * Queries wait in queues of their own. A turn answers one query, or one part of an explanation. It
 * takes a few milliseconds at most, because lists come in pages; a check may take up to 50 ms.
 * While kube-scheduler sends calls, a pause follows that is QUERY_PAUSE times as long as the turn
 * took. So a call waits for at most one turn, and few calls wait at all.
 *
 * A thread of the listener creates and fills a query (ops_routes.h). After the post, only the core
 * thread uses it; a check goes to the thread of check_reader.h before. The HTTP request owns the
 * query and frees it.
 */
#ifndef MUSTER_SERVER_LOOP_OPS_QUERIES_H
#define MUSTER_SERVER_LOOP_OPS_QUERIES_H

#include <stdatomic.h>

#include "k8s/manifest/manifest_gangs.h"
#include "server/http/http.h"
#include "server/loop/loop_mail.h"
#include "server/views/history.h"
#include "server/views/metrics.h"

enum ops_query_kind {
    QUERY_METRICS,
    QUERY_GANGS,
    QUERY_GANG,
    QUERY_NODES,
    QUERY_QUEUES,
    QUERY_EVENTS,
    QUERY_CHECK,
};

struct ops_query {
    struct loop_mail mail; /* first */
    enum ops_query_kind kind;
    struct ops_query *next; /* in its queue */
    struct http_request *request;
    char *ns, *name, *api_group; /* of a gang; owned; NULL: any */
    char *after;                 /* the parameter "continue"; owned; NULL: from the beginning */
    size_t limit;                /* maximum number of items */
    enum gang_explain part;      /* what its next turn writes; GANG_EXPLAIN_END: it begins */
    struct manifest_gangs *manifests; /* of a check; owned; NULL: they are not read yet */
    atomic_int *unanswered;           /* counts the checks, see check_reader.c; NULL: no check */
};
/* On the listener's thread. The request frees the query. */
struct ops_query *ops_query_new(struct http_request *r, enum ops_query_kind kind);
/* Answers {"error": why}. For the thread that has the request. */
void ops_query_fail(struct http_request *r, int status, const char *why);

/* Reads the manifests of a check, on the thread of check_reader.h. The rules are for which pods
 * muster creates PodGroups; NULL: for none. False: they cannot be read, and the query was answered
 * and must not be used afterwards. */
bool ops_query_read(struct ops_query *q, const struct workload_rules *rules);

/* ---- on the core thread ---- */

/* The sources of the answers. */
struct ops_query_context {
    struct gang_core *core;
    struct cluster *cluster;
    const struct history *history;
    struct metrics *metrics;
    struct http *verbs, *ops;
};
/* The length of a pause, as a multiple of the time of the answer before it. */
#define QUERY_PAUSE 9

/* Waiting queries, the oldest first. The queues for /metrics and for the API take turns. */
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
/* Does a turn, unless there is a pause. Adds the CPU time to view->metrics. busy:
 * kube-scheduler sends calls. */
void ops_query_turn(struct ops_query_queue *line, const struct ops_query_context *view, bool busy);
void ops_query_refuse_all(struct ops_query_queue *line, const char *why);
/* Answers {"error": why}. The query must not be used afterwards. */
void ops_query_refuse(struct ops_query *query, const char *why);

#endif
