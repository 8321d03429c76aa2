/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client/client_internal.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#define DEFAULT_MAX_BODY ((size_t)1 << 20)

/* ---- life ---- */

static void seed(struct client *c)
{
    if (getrandom(&c->random, sizeof c->random, 0) != sizeof c->random)
        c->random = (uint64_t)usec_wall();
    c->random |= 1;
}

/* tls-server-name: use and verify this name in TLS, but connect to the server's address. */
static void set_base(struct client *c)
{
    const char *server = c->kc->server, *name = c->kc->tls_server_name;
    const char *host = strstr(server, "://") + 3;
    if (!name || !*name) {
        c->base = xstrdup(server);
        return;
    }
    size_t scheme = (size_t)(host - server);
    size_t host_len = strcspn(host, "/");
    const char *port = memrchr(host, ':', host_len);
    if (port && memchr(port, ']', host_len - (size_t)(port - host)))
        port = NULL;
    int port_len = port ? (int)(host_len - (size_t)(port - host)) : 0;
    c->base = xasprintf("%.*s%s%.*s%s", (int)scheme, server, name, port_len, port ? port : "",
                        host + host_len);
    cleanup_free char *to =
        port ? xasprintf("::%.*s", (int)host_len, host) : xasprintf("::%.*s:", (int)host_len, host);
    c->connect_to = curl_slist_append(NULL, to);
}

struct client *client_new(struct kubeconfig *kc, const char *user_agent,
                          struct api_metrics *metrics, struct err *err)
{
    struct client *c = xcalloc(1, sizeof *c);
    c->kc = kc;
    c->metrics = metrics;
    kubeconfig_renew(kc, usec_now());
    c->user_agent = xstrdup(user_agent);
    c->extra_fd = -1;
    list_init(&c->calls);
    seed(c);
    set_base(c);
    client_http2_init(c);
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (c->epoll < 0) {
        err_errno(err, "epoll_create");
        return client_free(c);
    }
    for (size_t i = 0; i < POOL_MAX; i++)
        if (client_pool_open(&c->pools[i], c->epoll) < 0) {
            err_set(err, ERR_INTERNAL, "cannot initialize libcurl");
            return client_free(c);
        }
    return c;
}

static void call_free(struct client_call *call)
{
    list_remove(&call->link);
    if (call->over_http2)
        client_http2_drop(call);
    else
        client_transfer_free(call);
    buf_done(&call->reply);
    free(call->path);
    free(call->body);
    free(call);
}

struct client *client_free(struct client *c)
{
    if (!c)
        return NULL;
    list_for_each_safe (call, &c->calls, struct client_call, link)
        call_free(call);
    while (c->n_spare > 0)
        curl_easy_cleanup(c->spare[--c->n_spare]);
    client_http2_free(c);
    for (size_t i = 0; i < POOL_MAX; i++)
        if (c->pools[i].multi)
            curl_multi_cleanup(c->pools[i].multi);
    if (c->epoll >= 0)
        close(c->epoll);
    curl_slist_free_all(c->connect_to);
    heap_done(&c->timers);
    kubeconfig_free(c->kc);
    free(c->user_agent);
    free(c->base);
    free(c);
    return NULL;
}

/* ---- a call ---- */

struct client_call *client_send(struct client *c, const struct client_request *request)
{
    struct client_call *call = xcalloc(1, sizeof *call);
    call->client = c;
    call->verb = request->verb;
    call->resource = request->resource;
    call->method = request->method;
    call->content_type = request->content_type;
    call->accept = request->accept ? request->accept : "application/json";
    call->path = xstrdup(request->path);
    call->body = xstrdup_null(request->body);
    call->alone = request->alone;
    call->timeout = request->timeout;
    call->max_body = request->max_body ? request->max_body : DEFAULT_MAX_BODY;
    call->data = request->data;
    call->done = request->done;
    call->arg = request->arg;
    call->started = usec_now();
    list_init(&call->queue);
    list_push(&c->calls, &call->link);
    if (c->http2 && !call->alone)
        client_http2_start(call);
    else
        client_transfer(call);
    return call;
}

void client_cancel(struct client *c, struct client_call *call)
{
    api_metrics_request(c->metrics, call->verb, call->resource, 0, usec_now() - call->started);
    call_free(call);
}

/* ---- ends ---- */

/* Changed certificates need new connections, because TLS checks them when a connection is made. */
static void renew(struct client *c)
{
    if (kubeconfig_renew(c->kc, usec_now()))
        client_http2_leave(c);
}

static bool retry_with_what_is_new(struct client_call *call, long status)
{
    struct client *c = call->client;
    if (status != 401 || call->retried || !kubeconfig_expire(c->kc))
        return false;
    renew(c);
    call->retried = true;
    buf_clear(&call->reply);
    if (call->over_http2)
        client_http2_start(call);
    else
        client_transfer_again(call);
    return true;
}

static void finish(struct client_call *call, long status, const char *error)
{
    struct client *c = call->client;
    client_make_readable(&call->reply);
    if (status == 0) /* the cause can be an old certificate, so read the files again */
        kubeconfig_expire(c->kc);
    if (!error && retry_with_what_is_new(call, status))
        return;
    struct client_reply reply = {.status = status,
                                 .error = call->too_large ? "the reply is too large" : error,
                                 .body = buf_str(&call->reply),
                                 .len = call->reply.len,
                                 .too_large = call->too_large};
    api_metrics_request(c->metrics, call->verb, call->resource, reply.status,
                        usec_now() - call->started);
    call->done(call->arg, &reply);
    call_free(call);
}

/* A Date is older than the arrival of its reply, so the largest difference has the least delay. */
static void note_date(struct client *c, usec_t date)
{
    usec_t ahead = date - usec_now();
    if (date && (!c->api_ahead || ahead > c->api_ahead))
        c->api_ahead = ahead;
}

usec_t client_api_time(const struct client *c)
{
    return c->api_ahead ? usec_now() + c->api_ahead : 0;
}

static void finish_transfer(struct client_call *call, CURLcode code)
{
    note_date(call->client, client_transfer_date(call));
    long status = client_status(call);
    const char *error = *call->error ? call->error : curl_easy_strerror(code);
    finish(call, status, code == CURLE_OK ? NULL : error);
}

/* Finishes the calls whose stream has ended. False: there were none. */
static bool finish_streams(struct client *c)
{
    bool any = !list_empty(&c->ended);
    while (!list_empty(&c->ended)) {
        struct client_call *call = CONTAINER_OF(c->ended.next, struct client_call, queue);
        list_remove(&call->queue);
        finish(call, call->stream.status, call->failed ? call->error : NULL);
    }
    return any;
}

static void finish_all(struct client *c)
{
    int left;
    CURLMsg *msg;
    void *of = NULL;
    while ((msg = curl_multi_info_read(c->pools[POOL_TRANSFERS].multi, &left))) {
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &of);
        finish_transfer(of, msg->data.result); /* CURLMSG_DONE is the only message */
    }
    while ((msg = curl_multi_info_read(c->pools[POOL_CONNECTIONS].multi, &left))) {
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &of);
        client_http2_connected(of, msg->data.result);
    }
    finish_streams(c);
}

/* ---- the loop ---- */

/* The earliest time at which a timer or libcurl is due. */
static usec_t next_due(const struct client *c)
{
    struct heap_node *n = heap_top(&c->timers);
    usec_t due = n ? n->at : USEC_NEVER;
    for (size_t i = 0; i < POOL_MAX; i++)
        if (c->pools[i].due < due)
            due = c->pools[i].due;
    return due;
}

static void run_due(struct client *c)
{
    int running;
    /* Requests before timers, so that the API server works while the timers run. */
    for (size_t i = 0; i < POOL_MAX; i++)
        if (c->pools[i].due <= usec_now()) {
            c->pools[i].due = USEC_NEVER; /* libcurl sets the next time in on_due() */
            curl_multi_socket_action(c->pools[i].multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
    client_timers_fire(c);
    finish_all(c);
}

static void run_socket(const struct epoll_event *ev)
{
    const struct interest *i = ev->data.ptr;
    int running, mask = 0;
    if (!i)
        return;
    if (i->connection) {
        client_http2_event(i->connection);
        return;
    }
    if (ev->events & EPOLLIN)
        mask |= CURL_CSELECT_IN;
    if (ev->events & EPOLLOUT)
        mask |= CURL_CSELECT_OUT;
    if (ev->events & (EPOLLERR | EPOLLHUP))
        mask |= CURL_CSELECT_ERR;
    curl_multi_socket_action(i->pool->multi, i->fd, mask, &running);
}

static void watch_extra(struct client *c, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN};
    if (fd == c->extra_fd)
        return;
    epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &ev);
    c->extra_fd = fd;
}

void client_run(struct client *c, usec_t limit, int fd)
{
    watch_extra(c, fd);
    renew(c);
    run_due(c);
    do
        client_http2_flush(c);
    while (finish_streams(c)); /* its callbacks may send new requests */
    usec_t now = usec_now(), due = next_due(c);
    usec_t sleep = due < now ? 0 : due - now;
    if (sleep > limit)
        sleep = limit < 0 ? 0 : limit;
    /* One event at a time, because handling an event can close the sockets of other events. */
    struct epoll_event ev;
    int n = epoll_wait(c->epoll, &ev, 1, (int)((sleep + USEC_PER_MSEC - 1) / USEC_PER_MSEC));
    if (n > 0)
        run_socket(&ev);
    finish_all(c);
}
