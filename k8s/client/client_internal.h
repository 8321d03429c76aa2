/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_internal.h - what the files of the client share: client.c (calls and the loop) over
 * client_http2.c (requests that share a connection) over client_transfer.c (transfers of libcurl);
 * below all of them client_timer.c and client_reply.c (what replies say).
 *
 * A call is owned by the client from client_send() until `done` has returned. It goes over one of
 * two ways: a transfer of libcurl (`easy`), or a stream of an HTTP/2 connection (`over_http2`: it
 * waits for a connection, or `via` is it). A call whose stream has ended is in `ended` until
 * client_run() calls back: never inside nghttp2.
 */
#ifndef MUSTER_K8S_CLIENT_CLIENT_INTERNAL_H
#define MUSTER_K8S_CLIENT_CLIENT_INTERNAL_H

#include <curl/curl.h>

#include "base/list.h"
#include "k8s/client/client.h"
#include "k8s/client/http2_session.h"

/* Handles that are kept: making one costs as much as sending a request. */
#define MAX_SPARE 64

struct pool;
struct connection;

/* What is in the epoll set: a socket of libcurl's, or an HTTP/2 connection. The caller's descriptor
 * has none. */
struct interest {
    struct pool *pool;
    curl_socket_t fd;
    struct connection *connection; /* NULL: libcurl's */
};

/* A set of transfers and their connections. */
struct pool {
    CURLM *multi;
    int epoll;
    usec_t due; /* when libcurl wants to be called; USEC_NEVER: not */
};

/* libcurl must not look after connections that are ours: they have a pool of their own. */
enum { POOL_TRANSFERS, POOL_CONNECTIONS, POOL_MAX };

struct client {
    struct pool pools[POOL_MAX];
    int epoll;
    int extra_fd; /* of the caller, in the epoll set; -1: none yet */
    struct kubeconfig *kc;
    struct api_metrics *metrics;
    char *user_agent;
    char *base; /* what paths are appended to */
    struct curl_slist *connect_to;
    struct list calls;
    CURL *
        spare[MAX_SPARE]; /* handles of short calls that have ended, with all that stays the same */
    size_t n_spare;
    struct heap timers;
    uint64_t random;

    bool http2;              /* short calls try it */
    char *authority;         /* host and port of `base` */
    const char *path;        /* what `base` has behind that */
    struct list connections; /* the last takes new requests; those before end what they have */
    struct list waiting;     /* calls for a connection */
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
    struct list queue; /* waiting, ended, or of `via` */
    struct connection *via;
    struct http2_stream stream;
    usec_t asked; /* when it went to `via` */
    struct client_timer deadline;
    int unseen; /* how often the server has left it out */
    bool failed;
};

/* ---- client_timer.c ---- */

/* Calls back whose time has come. */
void client_timers_fire(struct client *c);

/* ---- client_reply.c ---- */

/* The body as `done` gets it: JSON that jansson takes; protobuf as it is, but for a Status. */
void client_make_readable(struct buf *body);

/* ---- client_transfer.c ---- */

/* -1: libcurl could not be started. */
int client_pool_open(struct pool *pool, int epoll);
/* A piece of the reply; false: no more of it is wanted. */
bool client_take_data(struct client_call *call, long status, const char *data, size_t len);
/* Sends the call over libcurl. */
void client_transfer(struct client_call *call);
/* Sends one that has ended once more. */
void client_transfer_again(struct client_call *call);
void client_transfer_free(struct client_call *call);
/* With all that is the same for every call, but for client_set_tls(). */
CURL *client_new_handle(struct client *c);
void client_set_tls(CURL *easy, const struct kubeconfig *kc);

/* ---- client_http2.c ---- */

void client_http2_init(struct client *c);
void client_http2_free(struct client *c);
/* Puts the call into the next batch. */
void client_http2_start(struct client_call *call);
/* Takes it out of wherever it is. */
void client_http2_drop(struct client_call *call);
/* New requests go over new connections; those there are end what they have. */
void client_http2_leave(struct client *c);
/* Writes what has come together. */
void client_http2_flush(struct client *c);
/* libcurl has made the connection, or has not. */
void client_http2_connected(struct connection *connection, CURLcode code);
void client_http2_event(struct connection *connection);

#endif
