/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_internal.h - the structs that http.c (listener and requests) and http_connections.c
 * (connections and their deadlines) share.
 */
#ifndef MUSTER_SERVER_HTTP_HTTP_INTERNAL_H
#define MUSTER_SERVER_HTTP_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "server/http/http.h"

/* The stage of a connection. It determines the deadline. */
enum conn_stage {
    CONN_NEW,     /* no request yet: idle, but the first to be cut if most connections are new */
    CONN_HEADERS, /* the request line has arrived */
    CONN_BODY,
    CONN_WORK, /* muster has to answer: no deadline */
    CONN_REPLY,
    CONN_IDLE, /* between two requests */
    CONN_CUT,  /* shut down at a deadline or to make room */
    CONN_STAGES
};

struct conn {
    struct list link; /* in a list of conns, or in none (WORK, CUT) */
    usec_t deadline;
    int fd;
    enum conn_stage stage;
};

/* All connections of a listener. All deadlines of a list are equally long, so each list is in order
 * of deadlines. */
struct conns {
    pthread_mutex_t lock;
    struct list silent; /* NEW */
    struct list timed;  /* HEADERS, BODY, REPLY */
    struct list idle;
    size_t count, in_stage[CONN_STAGES];
    uint64_t cut;           /* connections that were cut since the start */
    usec_t request_timeout; /* const */
    size_t limit;           /* const */
};

void conns_init(struct conns *c, usec_t request_timeout, size_t limit);
void conns_done(struct conns *c);
struct conn *conn_open(struct conns *c, int fd);
void conn_close(struct conns *c, struct conn *conn);
void conn_enter(struct conns *c, struct conn *conn, enum conn_stage stage);

/* How long a connection may be idle, in seconds. Go's client closes an idle connection after 90 s,
 * even if it has never sent a request on it. muster waits longer, so that it does not close a
 * connection on which a request is arriving. */
#define CONN_IDLE_SECONDS 120

#define REFUSE_DEFERRING (SIZE_MAX - SIZE_MAX / 2) /* the highest bit */

struct http {
    struct MHD_Daemon *daemon;
    char *address;
    struct conns conns;

    /* const */
    size_t body_limit, memory;
    const char *setting;
    const struct http_route *routes;
    size_t n_routes;
    void *arg;
    void (*refused)(void *arg, const struct http_route *route, int status);

    /* The number of deferred requests, and REFUSE_DEFERRING: one word, so that no request is
     * counted once the bit is set. */
    atomic_size_t deferred;
    atomic_size_t body_bytes, reply_bytes; /* in memory, of all requests */

    pthread_mutex_t lock;
    pthread_cond_t sent;
    size_t replying; /* requests that are answered but not completed; under `lock` */
};

struct http_internal {
    struct http_request request;
    struct http *http;
    struct MHD_Connection *mhd;
    struct conn *conn;
    int status; /* of a refusal that is already decided; 0: none */
    bool deferred, answered;
    char *path;
    size_t counted, counted_reply; /* this request's part of http.body_bytes and reply_bytes */
};

#endif
