/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_internal.h - shared by http.c (listener, requests) and http_connections.c (connections and
 * their deadlines).
 */
#ifndef MUSTER_SERVER_HTTP_HTTP_INTERNAL_H
#define MUSTER_SERVER_HTTP_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "server/http/http.h"

/* What a connection is busy with, and so which deadline it has. */
enum conn_stage {
    CONN_HEADERS, /* new; the first request's headers are to come */
    CONN_BODY,
    CONN_WORK, /* ours to answer: no deadline */
    CONN_REPLY,
    CONN_IDLE, /* between two requests */
    CONN_CUT,  /* shut down, by a deadline or to make room */
};

struct conn {
    struct list link; /* in one of the lists below, or none */
    usec_t deadline;
    int fd;
    enum conn_stage stage;
};

/* All connections of a listener. Every deadline of a list is as long, so the lists are in order. */
struct conns {
    pthread_mutex_t lock;
    struct list timed; /* HEADERS, BODY, REPLY */
    struct list idle;
    size_t count;
    size_t leaving; /* of these, cut and not yet closed */
    uint64_t cut;
    usec_t request_timeout; /* const */
    size_t limit;           /* const */
};

void conns_init(struct conns *c, usec_t request_timeout, size_t limit);
void conns_done(struct conns *c);
struct conn *conn_open(struct conns *c, int fd);
void conn_close(struct conns *c, struct conn *conn);
void conn_enter(struct conns *c, struct conn *conn, enum conn_stage stage);

/* Seconds that a connection may stay open between two requests: more than the 90 of Go's client,
 * so that it is not closed under a request on its way. */
#define CONN_IDLE_SECONDS 120

struct http {
    struct MHD_Daemon *daemon;
    char *address;
    struct conns conns;

    /* const */
    size_t body_limit, memory;
    const struct http_route *routes;
    size_t n_routes;
    void *arg;
    void (*refused)(void *arg, const struct http_route *route, int status);

    atomic_size_t deferred;
    atomic_bool refuse_deferring;
    atomic_size_t body_bytes, reply_bytes; /* kept in all requests */

    pthread_mutex_t lock;
    pthread_cond_t sent;
    size_t replying; /* under lock: answered and not yet completed */
};

struct http_internal {
    struct http_request request;
    struct http *http;
    struct MHD_Connection *mhd;
    struct conn *conn;
    int status; /* decided before the body came; 0: none */
    bool deferred, answered;
    char *path;
    size_t counted, counted_reply; /* of this one in http.body_bytes and reply_bytes */
};

#endif
