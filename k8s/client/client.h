/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - HTTP requests to one API server.
 *
 *   1. client_new() takes ownership of the kubeconfig.
 *   2. client_send() starts a request. Its callbacks are called from client_run().
 *   3. Call client_run() in a loop. It moves bytes, calls callbacks and timers, and sleeps until
 *      there is work or `fd` is readable.
 *   4. client_free() drops all requests in flight without calling their callbacks.
 *
 * If the API server supports HTTP/2 over TLS, short requests share one HTTP/2 connection, and all
 * requests since the last client_run() leave together. Otherwise each request uses an HTTP/1.1
 * connection. Lists and watches (`alone`) always do, so that they never delay a Binding.
 *
 * The client sends a request again on its own in two cases only: the API server says that it has
 * not processed the request, or it answers 401 and a new token or client certificate can be read.
 * After a certificate file has changed, new requests use new connections.
 *
 * `done` is called exactly once, unless the call is cancelled. `data` must not send or cancel
 * anything; it returns false to end the request. All functions belong to one thread.
 */
#ifndef MUSTER_K8S_CLIENT_CLIENT_H
#define MUSTER_K8S_CLIENT_CLIENT_H

#include "base/heap.h"
#include "k8s/client/api_metrics.h"
#include "k8s/client/kubeconfig.h"

struct client;
struct client_call;

struct client_reply {
    long status;       /* HTTP status; 0: there was none */
    const char *error; /* what failed below HTTP; NULL: the reply is complete */
    /* NUL-terminated and never NULL. A protobuf Status is converted to JSON, and all JSON is
     * repaired (base/json_repair.h). */
    const char *body;
    size_t len;
    bool too_large; /* the body exceeded max_body */
};
static inline bool client_ok(const struct client_reply *r)
{
    return !r->error && r->status >= 200 && r->status < 300;
}
/* Whether a retry may help. */
static inline bool client_reply_is_temporary(const struct client_reply *r)
{
    return !r->too_large && (r->error || r->status == 0 || r->status == 401 || r->status == 408 ||
                             r->status == 429 || r->status >= 500);
}
/* Fills *err with the message of the API server, or with the network error. Returns -1. */
int client_reply_error(const struct client_reply *r, struct err *err);
/* Whether a right is missing. A 403 can also come from a quota or an admission webhook. */
bool client_reply_unauthorized(const struct client_reply *r);
/* Whether the API server's Status has this reason, such as "AlreadyExists". */
bool client_reply_is(const struct client_reply *r, const char *reason);

typedef void client_done_fn(void *arg, const struct client_reply *reply);
/* Gets a piece of a 200 reply. False: end the request. */
typedef bool client_data_fn(void *arg, const char *data, size_t len);

struct client_request {
    const char *verb, *resource; /* metric labels; constants */
    const char *method;          /* "GET", "POST", "PATCH"; constant */
    const char *path;            /* with query; copied */
    const char *content_type;    /* of the body; constant */
    const char *accept;          /* NULL: JSON; constant */
    const char *body;            /* NULL: none; copied */
    bool alone;                  /* a long request: use a separate connection */
    usec_t timeout;              /* 0: none */
    size_t max_body;             /* bytes of a reply without `data`; 0: 1 MiB */
    client_data_fn *data;        /* NULL: `done` gets the complete body */
    client_done_fn *done;
    void *arg;
};

/* Appends any text, escaped as one segment of a path or one value of a query. */
void client_escape(struct buf *b, const char *text);

/* Takes ownership of kc, even after an error. metrics is borrowed and must outlive the client. */
struct client *client_new(struct kubeconfig *kc, const char *user_agent,
                          struct api_metrics *metrics, struct err *err);
/* Accepts NULL; returns NULL. */
struct client *client_free(struct client *c);

struct client_call *client_send(struct client *c, const struct client_request *request);
/* The HTTP status of an unfinished call with `alone`; 0: none has arrived yet. */
long client_status(const struct client_call *call);
/* Frees the call. Its callbacks are not called any more. */
void client_cancel(struct client *c, struct client_call *call);

/* Sleeps for at most `limit`. Wakes early for traffic, timers and a readable fd. fd -1: none. */
void client_run(struct client *c, usec_t limit, int fd);

struct client_timer {
    struct heap_node node;
    void (*fire)(void *arg);
    void *arg;
};
void client_timer_set(struct client *c, struct client_timer *t, usec_t at);
void client_timer_clear(struct client *c, struct client_timer *t);

/* The pause before retry `n` (from 0). It doubles from `first` up to `most`. Half of it is random,
 * so that many clients do not retry at the same time. */
usec_t client_backoff(struct client *c, int n, usec_t first, usec_t most);
uint32_t client_random(struct client *c);

/* The API server's clock, since 1970. The Date of its replies to calls with `alone` shows it. 0:
 * unknown. */
usec_t client_api_time(const struct client *c);

#endif
