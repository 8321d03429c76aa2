/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - HTTP requests to one API server, all from one thread.
 *
 *   1. client_new() takes over the kubeconfig.
 *   2. client_send() starts a request; its callbacks come from client_run().
 *   3. client_run() in a loop: moves bytes, calls back, fires timers, sleeps until something is
 *      to do (or `fd` is readable).
 *   4. client_free() drops every request that is still under way without calling back.
 *
 * Short requests share an HTTP/2 connection where the server speaks it (TLS only): what is sent
 * until client_run() leaves together. Otherwise each uses one HTTP/1.1 connection, as lists and
 * watches (`alone`) always do: they must not stand in the way of a binding. A request is sent again
 * by itself only when the server says that it has not looked at it, and, when it is answered 401,
 * once more when token or client certificate may be had anew. When a certificate in a file has
 * changed, new requests go over new connections. `done` is called exactly once, unless the call is
 * cancelled. Inside `data` nothing may be sent or cancelled: return false to end the request.
 */
#ifndef MUSTER_K8S_CLIENT_CLIENT_H
#define MUSTER_K8S_CLIENT_CLIENT_H

#include "base/heap.h"
#include "k8s/client/api_metrics.h"
#include "k8s/client/kubeconfig.h"

struct client;
struct client_call;

struct client_reply {
    long status;       /* 0: there was none */
    const char *error; /* NULL: the reply is whole; else what went wrong below HTTP */
    /* Never NULL; NUL-terminated. An error's body is always JSON, and all JSON is repaired
     * (base/json_repair.h). */
    const char *body;
    size_t len;
    bool too_large; /* the body exceeded max_body */
};
static inline bool client_ok(const struct client_reply *r)
{
    return !r->error && r->status >= 200 && r->status < 300;
}
/* Whether asking again may help. */
static inline bool client_reply_is_temporary(const struct client_reply *r)
{
    return r->error || r->status == 0 || r->status == 401 || r->status == 408 || r->status == 429 ||
           r->status >= 500;
}
/* Fills *err with what the API server (or the network) said, and returns -1. */
int client_reply_error(const struct client_reply *r, struct err *err);
/* Whether a right is missing. Quotas and admission webhooks answer 403 too. */
bool client_reply_unauthorized(const struct client_reply *r);
/* The reason of the API server's Status ("AlreadyExists") is that. */
bool client_reply_is(const struct client_reply *r, const char *reason);

typedef void client_done_fn(void *arg, const struct client_reply *reply);
/* A piece of a 200 reply. */
typedef bool client_data_fn(void *arg, const char *data, size_t len);

struct client_request {
    const char *verb, *resource; /* metric labels; constants */
    const char *method;          /* "GET", "POST", "PATCH"; constant */
    const char *path;            /* with query; copied */
    const char *content_type;    /* of the body; constant */
    const char *accept;          /* NULL: JSON; constant */
    const char *body;            /* NULL: none; copied */
    bool alone;                  /* long: on a connection of its own */
    usec_t timeout;              /* 0: none */
    size_t max_body;             /* 0: 1 MiB; of replies that are not streamed */
    client_data_fn *data;        /* NULL: the body is collected for `done` */
    client_done_fn *done;
    void *arg;
};

/* Appends text so that it is one segment of a path or one value of a query, whatever it holds. */
void client_escape(struct buf *b, const char *text);

/* Takes kc. metrics is borrowed and must outlive the client. */
struct client *client_new(struct kubeconfig *kc, const char *user_agent,
                          struct api_metrics *metrics, struct err *err);
struct client *client_free(struct client *c);

struct client_call *client_send(struct client *c, const struct client_request *request);
/* The status of a reply that is still coming, of a call that is `alone`; 0: none has come yet. */
long client_status(const struct client_call *call);
/* The call is gone and will not call back. */
void client_cancel(struct client *c, struct client_call *call);

/* Sleeps at most `limit`; wakes early for traffic, timers and a readable fd. */
void client_run(struct client *c, usec_t limit, int fd);

struct client_timer {
    struct heap_node node;
    void (*fire)(void *arg);
    void *arg;
};
void client_timer_set(struct client *c, struct client_timer *t, usec_t at);
void client_timer_clear(struct client *c, struct client_timer *t);

/* How long to wait before attempt `n` (from 0): doubles from `first` up to `most`, and half of it
 * is random, so that many clients do not come back together. */
usec_t client_backoff(struct client *c, int n, usec_t first, usec_t most);
uint32_t client_random(struct client *c);

#endif
