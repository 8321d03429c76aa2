/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - a listener that takes whole requests and answers them, now or later.
 *
 * http*.c are the only files that know libmicrohttpd. What they add to it: routes (404, 405 with
 * Allow), a limit on the body with and without Content-Length (413), a bound on the sum of all
 * bodies and replies that are kept (503), absolute deadlines for headers, body and reading of the
 * reply (the library only knows inactivity), room for one more connection, and an orderly end.
 *
 * Above connection_limit each new connection takes the place of the one that has idled longest, or
 * else of the one that has been longest about its headers, its body or its reply. So clients that
 * keep connections for nothing keep nobody else out, whatever the core is doing.
 *
 * Life of a request
 *   1. The route and the limits are checked when the headers are there. A refusal is sent when the
 *      body has come, as the library wants it; at once where Content-Length is too large.
 *   2. The route's handler is called with the whole body, on a thread of the listener. It writes
 *      the reply into r->reply and either calls http_answer() and returns, or
 *   3. http_defer() (true: the connection is suspended), hands the request to another thread and
 *      returns without touching it again. That thread calls http_answer(), then http_resume(), and
 *      touches it no more.
 *   4. When the reply is sent or the peer is gone, free_user(user) is called, on a thread of the
 *      listener, and the request ends.
 *
 * Life of a listener: http_open(); http_refuse_deferring(), after which http_deferred() can only
 * fall, by http_resume(); when it is 0, http_close(). The library aborts the process when it is
 * stopped with a suspended connection: http_close() asserts. Until then new connections are
 * accepted and refused with a reply: MHD_quiesce_daemon(), which would keep them out, may abort the
 * process beside a thread with epoll (seen with 0.9.75).
 */
#ifndef MUSTER_SERVER_HTTP_HTTP_H
#define MUSTER_SERVER_HTTP_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/usec.h"

/* Connections beyond the limit, on their way in while another is cut for them. */
#define HTTP_SPARE_CONNECTIONS 64

#define HTTP_JSON "application/json" /* a content type */

struct http;
struct http_request;

struct http_route {
    const char *path;   /* exact; with '/' at its end, everything below */
    const char *method; /* "POST", or "GET", which serves HEAD as well */
    void (*handle)(void *arg, struct http_request *r);
    int tag; /* for the handler */
};

struct http_options {
    const char *listen; /* ADDR:PORT; port 0 takes a free one */
    unsigned threads;
    unsigned connection_limit;
    size_t body_limit;
    size_t memory;          /* of all bodies and replies that are kept at the same time */
    usec_t request_timeout; /* for headers, for a body, and for reading a reply, each */
    const struct http_route *routes;
    size_t n_routes;
    void *arg; /* for handlers and refused */
    /* A request to a known route was answered with this error status without its handler; may be
     * NULL. Any thread of the listener. */
    void (*refused)(void *arg, const struct http_route *route, int status);
};

/* What a handler sees. Belongs to the thread that has the request. */
struct http_request {
    const struct http_route *route;
    const char *path;
    struct buf body;  /* whole */
    struct buf reply; /* written by the thread that answers */
    bool in_place;    /* http_reply_in_place() was called */
    size_t bytes;     /* of the body; also when its buffer is the reply's */
    usec_t started;   /* when the headers were there */
    int64_t spent;    /* nanoseconds: on the pieces of the body, before it was whole */
    int64_t whole;    /* nanoseconds: when it was */
    void *user;       /* the handler's own */
    void (*free_user)(void *user);
    struct http_internal *inner;
};

struct http *http_open(const struct http_options *options, struct err *err);
/* Where it listens, with the real port. */
const char *http_address(const struct http *h);

/* The value of a query parameter ("" when it has none), or NULL. On the handler's thread. */
const char *http_query(const struct http_request *r, const char *key);
/* "127.0.0.1:41000"; where the request is the caller's. */
#define HTTP_PEER 64
const char *http_peer(const struct http_request *r, char out[HTTP_PEER]);
/* The reply was made out of the body's bytes: r->body is r->reply from here on. */
void http_reply_in_place(struct http_request *r);
/* Queues r->reply. Once per request. */
void http_answer(struct http_request *r, int status, const char *content_type);
/* false: the listener is ending, answer now. */
bool http_defer(struct http_request *r);
/* After http_answer(), on whatever thread has the request; it is gone then. */
void http_resume(struct http_request *r);
/* Requests of its listener that are deferred now. */
size_t http_waiting(const struct http_request *r);
/* Bodies and unread replies fill the listener's memory: a large reply is not to be added. */
bool http_is_full(const struct http_request *r);
/* The connection's socket, valid between http_defer() and http_resume(). */
int http_socket(const struct http_request *r);

/* Cuts connections whose deadline has passed. To be called every second or so, any thread. */
void http_sweep(struct http *h, usec_t now);

struct http_stats {
    size_t connections;
    uint64_t cut; /* by a deadline or to make room, since the start */
};
void http_stats(struct http *h, struct http_stats *ret);

void http_refuse_deferring(struct http *h);
size_t http_deferred(const struct http *h);
/* Waits until queued replies are sent, at most until `deadline`; frees. Returns NULL. */
struct http *http_close(struct http *h, usec_t deadline);

#endif
