/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_internal.h - shared by the files of the client. A file calls only files further down:
 *
 *   client.c           calls and the loop
 *   client_http2.c     requests that share an HTTP/2 connection
 *   client_transfer.c  transfers of libcurl
 *   client_timer.c     timers
 *   client_reply.c     parsing of replies
 *
 * The client owns a call from client_send() until `done` has returned. A call is either a transfer
 * of libcurl (`easy`) or a stream of an HTTP/2 connection (`over_http2`). Such a stream waits for a
 * connection, or `via` is its connection. A call whose stream has ended is in the list `ended`
 * until client_run() calls `done`, because `done` must not be called inside nghttp2.
 */
#ifndef MUSTER_K8S_CLIENT_CLIENT_INTERNAL_H
#define MUSTER_K8S_CLIENT_CLIENT_INTERNAL_H

#include <curl/curl.h>

#include "base/list.h"
#include "k8s/client/client.h"
#include "k8s/client/http2_session.h"

/* How many handles are kept for later. Making a handle costs as much as sending a request. */
#define MAX_SPARE 64

struct pool;
struct connection;

/* An entry of the epoll set: a socket of libcurl, or an HTTP/2 connection. The descriptor of the
 * caller has no such entry. */
struct interest {
    struct pool *pool;
    curl_socket_t fd;
    struct connection *connection; /* NULL: a socket of libcurl */
};

/* A set of transfers and their connections. */
struct pool {
    CURLM *multi;
    int epoll;
    usec_t due; /* when libcurl wants to be called; USEC_NEVER: never */
};

/* HTTP/2 connections have their own pool, so that libcurl does not use them for transfers. */
enum { POOL_TRANSFERS, POOL_CONNECTIONS, POOL_MAX };

struct client {
    struct pool pools[POOL_MAX];
    int epoll;
    int extra_fd; /* the caller's descriptor in the epoll set; -1: none yet */
    struct kubeconfig *kc;
    struct api_metrics *metrics;
    char *user_agent;
    char *base; /* the server's URL, to which paths are appended */
    struct curl_slist *connect_to;
    struct list calls;
    /* Handles of short calls that have ended. They keep the options that all calls share. */
    CURL *spare[MAX_SPARE];
    size_t n_spare;
    struct heap timers;
    uint64_t random;
    usec_t api_ahead; /* the API server's clock minus usec_now(); 0: unknown */

    bool http2;              /* use HTTP/2 for short calls */
    char *authority;         /* host and port of `base` */
    const char *path;        /* the rest of `base` */
    struct list connections; /* only the last takes new requests; the others finish theirs */
    struct list waiting;     /* calls that wait for a connection */
    struct list ended;       /* calls whose stream has ended */
};

struct client_call {
    struct list link;
    struct client *client;
    char *path, *body;
    const char *verb, *resource, *method, *content_type, *accept;
    client_data_fn *data;
    client_done_fn *done;
    void *arg;
    usec_t timeout, started;
    size_t max_body;
    struct buf reply;
    bool alone, too_large, retried;
    char error[CURL_ERROR_SIZE];

    CURL *easy;
    struct curl_slist *headers;

    bool over_http2;
    struct list queue; /* in client.waiting, client.ended, or the calls of `via` */
    struct connection *via;
    struct http2_stream stream;
    usec_t asked; /* when it was passed to `via` */
    struct client_timer deadline;
    int unseen;  /* how often the API server has not processed it */
    bool failed; /* `error` is set */
};

/* ---- client_timer.c ---- */

/* Calls the timers that are due. */
void client_timers_fire(struct client *c);

/* ---- client_reply.c ---- */

/* Converts a body for `done`: repairs JSON, converts a protobuf Status to JSON, and keeps any other
 * protobuf. */
void client_make_readable(struct buf *body);

/* Parses the header Date; 0: it is not a time. */
usec_t client_parse_date(const char *text);

/* ---- client_transfer.c ---- */

/* -1: libcurl could not be initialized. */
int client_pool_open(struct pool *pool, int epoll);
/* Takes a piece of the reply; false: end the request. */
bool client_take_data(struct client_call *call, long status, const char *data, size_t len);
/* Sends the call over libcurl. */
void client_transfer(struct client_call *call);
/* Sends a call that has ended once more. */
void client_transfer_again(struct client_call *call);
void client_transfer_free(struct client_call *call);
/* The header Date of the reply; 0: none. */
usec_t client_transfer_date(const struct client_call *call);
/* Makes a handle with the options that all calls share, except those of client_set_tls(). */
CURL *client_new_handle(struct client *c);
void client_set_tls(CURL *easy, const struct kubeconfig *kc);

/* ---- client_http2.c ---- */

void client_http2_init(struct client *c);
void client_http2_free(struct client *c);
/* Puts the call into the next batch. */
void client_http2_start(struct client_call *call);
/* Removes the call from its list and its connection. */
void client_http2_drop(struct client_call *call);
/* Makes new requests use a new connection. Existing connections finish their requests. */
void client_http2_leave(struct client *c);
/* Sends the batch, and closes finished connections. */
void client_http2_flush(struct client *c);
/* libcurl has made the connection (CURLE_OK), or has failed. */
void client_http2_connected(struct connection *connection, CURLcode code);
/* The socket is readable or writable. */
void client_http2_event(struct connection *connection);

#endif
