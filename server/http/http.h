/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - an HTTP listener that reads complete requests and answers them at once or later.
 *
 * Only http*.c use libmicrohttpd. They add to the library:
 *   - routes: 404 for an unknown path, 405 with Allow for a wrong method
 *   - a limit for each body, with or without Content-Length (413)
 *   - a limit for all bodies and unread replies together (503)
 *   - absolute deadlines for the headers, the body and the reply; the library only has a timeout
 *     for inactivity
 *   - room for new connections at the connection limit, and an orderly end
 *
 * A connection without a request is idle. At connection_limit, each new connection replaces the
 * connection that has been idle longest. If none is idle, it replaces the connection that has taken
 * longest to send its headers or body or to read its reply. Clients that keep connections open
 * therefore cannot lock out others. If most of the connections that can be replaced have never sent
 * a request, the oldest of these is replaced instead.
 *
 * Life of a request
 *   1. The route and the limits are checked when the headers have arrived. If Content-Length is too
 *      large, the refusal is sent at once. Other refusals are sent after the body has arrived,
 *      because the library requires this.
 *   2. The route's handler is called with the complete body on a thread of the listener. It writes
 *      the reply into r->reply. Then it either calls http_answer() and returns, or continues with
 *      step 3.
 *   3. The handler calls http_defer(). If this returns true, the connection is suspended. The
 *      handler passes the request to another thread, and returns without touching it again. The
 *      other thread calls http_answer() and then http_resume(), and does not touch it again.
 *   4. When the reply is sent or the client has disconnected, free_user(user) is called on a thread
 *      of the listener, and the request ends.
 *
 * Life of a listener: http_open(), http_refuse_deferring(), and http_close() when http_deferred()
 * is 0. After http_refuse_deferring(), the number of deferred requests can only fall. The library
 * aborts if it is stopped with a suspended connection, and http_close() asserts that there is none.
 * Until http_close(), new connections are accepted. MHD_quiesce_daemon() would stop this, but it
 * can abort the process if another thread uses epoll (version 0.9.75).
 */
#ifndef MUSTER_SERVER_HTTP_HTTP_H
#define MUSTER_SERVER_HTTP_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/usec.h"

/* New connections above the limit, while muster cuts others for them. */
#define HTTP_SPARE_CONNECTIONS 64

#define HTTP_JSON "application/json" /* a content type */

struct http;
struct http_request;

struct http_route {
    const char *path;   /* the exact path; with '/' at its end, every path below it */
    const char *method; /* "POST", or "GET", which also allows HEAD */
    void (*handle)(void *arg, struct http_request *r);
    int tag; /* data for the handler */
};

struct http_options {
    const char *listen; /* ADDR:PORT; port 0: a free port */
    unsigned threads;
    unsigned connection_limit;
    size_t body_limit;      /* bytes */
    size_t memory;          /* bytes, for all bodies and unread replies together */
    const char *setting;    /* that the user can raise to raise both; NULL: they are fixed */
    usec_t request_timeout; /* for the headers behind the request line, for the body, and for
                               reading the reply */
    const struct http_route *routes;
    size_t n_routes;
    void *arg; /* for handlers and `refused` */
    /* Called if a request to a known route is answered with an error status without calling its
     * handler. May be NULL. On a thread of the listener. */
    void (*refused)(void *arg, const struct http_route *route, int status);
};

/* A request, as a handler sees it. The thread that has the request owns it. */
struct http_request {
    const struct http_route *route;
    const char *path;
    struct buf body;  /* complete */
    struct buf reply; /* written by the thread that answers */
    bool in_place;    /* http_reply_in_place() was called */
    size_t bytes;     /* the size of the body, even if its buffer has become the reply */
    usec_t started;   /* when the headers had arrived */
    int64_t spent;    /* nanoseconds spent on the parts of the body while it arrived */
    int64_t whole;    /* when the body was complete, in nanoseconds (nsec_now()) */
    void *user;       /* data of the handler */
    void (*free_user)(void *user);
    struct http_internal *inner;
};

struct http *http_open(const struct http_options *options, struct err *err);
/* The address on which it listens, with the actual port. Lives as long as the listener. */
const char *http_address(const struct http *h);

/* The value of a query parameter, "" if it has no value; NULL: missing. On the handler's thread. */
const char *http_query(const struct http_request *r, const char *key);
/* Writes the client's address, such as "127.0.0.1:41000", into out and returns it. For the thread
 * that has the request. */
#define HTTP_PEER 64
const char *http_peer(const struct http_request *r, char out[HTTP_PEER]);
/* Call it if the reply was built in the buffer of the body. This buffer becomes r->reply. */
void http_reply_in_place(struct http_request *r);
/* Queues r->reply. Call it once for each request. */
void http_answer(struct http_request *r, int status, const char *content_type);
/* False: the listener is ending, so answer now. */
bool http_defer(struct http_request *r);
/* Call it after http_answer(), on the thread that has the request. The request must not be used
 * afterwards. */
void http_resume(struct http_request *r);
/* The number of deferred requests of the same listener. */
size_t http_waiting(const struct http_request *r);
/* Bodies and unread replies exceed the listener's memory, so no large reply should be added. */
bool http_is_full(const struct http_request *r);
/* The connection's socket. The thread that has the request may use it until http_resume(), or until
 * the handler returns if the request is not deferred. */
int http_socket(const struct http_request *r);

/* Cuts connections whose deadline has passed. Call it about every second, on any thread. */
void http_sweep(struct http *h, usec_t now);

struct http_stats {
    size_t connections;
    uint64_t cut; /* cut since the start, at a deadline or to make room */
};
void http_stats(struct http *h, struct http_stats *ret);

void http_refuse_deferring(struct http *h);
size_t http_deferred(const struct http *h);
/* Waits until queued replies are sent, at most until `deadline`, and frees the listener. NULL is
 * allowed. Returns NULL. */
struct http *http_close(struct http *h, usec_t deadline);

#endif
