/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client_internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_MAX_BODY ((size_t)1 << 20)
#define ERROR_MAX_BODY   ((size_t)64 << 10) /* of what is said beside a streamed reply */

/* ---- life ---- */

static void seed(struct client *c)
{
    if (getrandom(&c->random, sizeof c->random, 0) != sizeof c->random)
        c->random = (uint64_t)usec_wall();
    c->random |= 1;
}

/* tls-server-name: ask for and verify that name, but connect to the server's own address. */
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

/* ---- sockets and timers of libcurl ---- */

/* libcurl says what it waits for on a socket; the pool's number travels with the descriptor. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    (void)easy;
    struct pool *pool = arg;
    struct epoll_event ev = {.data.ptr = known};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(pool->epoll, EPOLL_CTL_DEL, fd, NULL);
        free(known);
        return 0;
    }
    if (what != CURL_POLL_OUT)
        ev.events |= EPOLLIN;
    if (what != CURL_POLL_IN)
        ev.events |= EPOLLOUT;
    if (known) {
        epoll_ctl(pool->epoll, EPOLL_CTL_MOD, fd, &ev);
        return 0;
    }
    struct interest *i = xmalloc(sizeof *i);
    *i = (struct interest){.pool = pool, .fd = fd};
    ev.data.ptr = i;
    curl_multi_assign(pool->multi, fd, i);
    epoll_ctl(pool->epoll, EPOLL_CTL_ADD, fd, &ev);
    return 0;
}

static int on_due(CURLM *multi, long ms, void *arg)
{
    (void)multi;
    struct pool *pool = arg;
    pool->due = ms < 0 ? USEC_NEVER : usec_now() + ms * USEC_PER_MSEC;
    return 0;
}

static int pool_open(struct pool *pool, int epoll)
{
    pool->epoll = epoll;
    pool->due = USEC_NEVER;
    pool->multi = curl_multi_init();
    if (!pool->multi)
        return -1;
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, on_due);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool);
    return 0;
}

/* ---- life, continued ---- */

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
        if (pool_open(&c->pools[i], c->epoll) < 0) {
            err_set(err, ERR_INTERNAL, "libcurl could not be started");
            return client_free(c);
        }
    return c;
}

static void free_transfer(struct client_call *call)
{
    struct client *c = call->client;
    curl_multi_remove_handle(c->pools[POOL_TRANSFERS].multi, call->easy);
    if (!call->alone && c->n_spare < MAX_SPARE) {
        curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, NULL); /* it ends with the call */
        c->spare[c->n_spare++] = call->easy;
    } else {
        curl_easy_cleanup(call->easy);
    }
    curl_slist_free_all(call->headers);
}

static void call_free(struct client_call *call)
{
    list_remove(&call->link);
    if (call->over_http2)
        client_http2_drop(call);
    else
        free_transfer(call);
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

bool client_take_data(struct client_call *call, long status, const char *data, size_t len)
{
    if (call->data && status == 200)
        return call->data(call->arg, data, len);
    size_t max = call->data ? ERROR_MAX_BODY : call->max_body;
    if (len > max - call->reply.len) {
        call->too_large = true;
        return false;
    }
    buf_append(&call->reply, data, len);
    return true;
}

static size_t on_data(char *data, size_t one, size_t len, void *arg)
{
    struct client_call *call = arg;
    (void)one; /* always 1 */
    return client_take_data(call, client_status(call), data, len) ? len : 0;
}

/*
 * A peer that vanished without a word: found by keepalive while nothing is sent, and by the user
 * timeout while something is; the system's defaults take two hours and a quarter of an hour.
 */
static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    (void)arg;
    (void)purpose;
    int on = 1, idle = 15, interval = 5, count = 3;
    unsigned user_timeout_ms = 30000;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof user_timeout_ms);
    return CURL_SOCKOPT_OK;
}

/* The text rather than its file: libcurl takes a connection (or the secrets of an earlier one) up
 * again only for the same text. */
static void set_pem(CURL *easy, const struct kubeconfig_pem *pem, CURLoption file, CURLoption blob)
{
    if (pem->data) {
        struct curl_blob b = {pem->data, pem->len, CURL_BLOB_COPY};
        curl_easy_setopt(easy, blob, &b);
    } else if (pem->path) {
        curl_easy_setopt(easy, file, pem->path);
    }
}

void client_set_tls(CURL *easy, const struct kubeconfig *kc)
{
    set_pem(easy, &kc->ca, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB);
    set_pem(easy, &kc->cert, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB);
    set_pem(easy, &kc->key, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    /* The system's, where there is no other: renewed ones are seen by the next connection. */
    curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    if (kc->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_headers(struct client_call *call)
{
    struct client *c = call->client;
    cleanup_free char *accept = xasprintf("Accept: %s", call->accept);
    struct curl_slist *h = curl_slist_append(NULL, accept);
    h = curl_slist_append(h, "Expect:");
    if (call->body) {
        cleanup_free char *type = xasprintf("Content-Type: %s", call->content_type);
        h = curl_slist_append(h, type);
    }
    if (c->kc->token) {
        cleanup_free char *auth = xasprintf("Authorization: Bearer %s", c->kc->token);
        h = curl_slist_append(h, auth);
    }
    curl_slist_free_all(call->headers);
    call->headers = h;
    curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, h);
}

CURL *client_new_handle(struct client *c)
{
    CURL *e = curl_easy_init();
    if (!e)
        abort(); /* out of memory, as in xmalloc */
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_USERAGENT, c->user_agent);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    if (c->connect_to)
        curl_easy_setopt(e, CURLOPT_CONNECT_TO, c->connect_to);
    if (c->kc->proxy)
        curl_easy_setopt(e, CURLOPT_PROXY, c->kc->proxy);
    return e;
}

/* Everything that client_new_handle() has not set: the handle may have been another call's before.
 */
static void set_transfer(struct client_call *call)
{
    CURL *e = call->easy;
    cleanup_free char *url = xasprintf("%s%s", call->client->base, call->path);
    curl_easy_setopt(e, CURLOPT_URL, url); /* it copies */
    curl_easy_setopt(e, CURLOPT_PRIVATE, call);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, call->error);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(call->timeout / USEC_PER_MSEC));
    if (call->body) {
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, call->body);
        curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, call->method);
    } else {
        curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, NULL);
        curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
    }
}

void client_transfer(struct client_call *call)
{
    struct client *c = call->client;
    bool spare = !call->alone && c->n_spare > 0;
    call->easy = spare ? c->spare[--c->n_spare] : client_new_handle(c);
    set_transfer(call);
    client_set_tls(call->easy, c->kc); /* a spare one's may be out of date */
    set_headers(call);
    curl_multi_add_handle(c->pools[POOL_TRANSFERS].multi, call->easy);
}

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

long client_status(const struct client_call *call)
{
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

void client_cancel(struct client *c, struct client_call *call)
{
    api_metrics_request(c->metrics, call->verb, call->resource, 0, usec_now() - call->started);
    call_free(call);
}

/* ---- ends ---- */

/* Certificates count when a connection is made: with others, new ones are. */
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
    if (call->over_http2) {
        client_http2_start(call);
        return true;
    }
    CURLM *multi = c->pools[POOL_TRANSFERS].multi;
    curl_multi_remove_handle(multi, call->easy);
    client_set_tls(call->easy, c->kc);
    set_headers(call);
    curl_multi_add_handle(multi, call->easy);
    return true;
}

static void finish(struct client_call *call, long status, const char *error)
{
    struct client *c = call->client;
    client_make_readable(&call->reply);
    if (status == 0) /* it may have been for a certificate that is renewed by now */
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

static void finish_transfer(struct client_call *call, CURLcode code)
{
    long status = client_status(call);
    const char *error = *call->error ? call->error : curl_easy_strerror(code);
    finish(call, status, code == CURLE_OK ? NULL : error);
}

/* Whether there was any. */
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
        finish_transfer(of, msg->data.result); /* CURLMSG_DONE, there is no other */
    }
    while ((msg = curl_multi_info_read(c->pools[POOL_CONNECTIONS].multi, &left))) {
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &of);
        client_http2_connected(of, msg->data.result);
    }
    finish_streams(c);
}

/* ---- the loop ---- */

static void fire_timers(struct client *c)
{
    usec_t now = usec_now();
    struct heap_node *n;
    while ((n = heap_top(&c->timers)) && n->at <= now) {
        struct client_timer *t = CONTAINER_OF(n, struct client_timer, node);
        heap_remove(&c->timers, n);
        t->fire(t->arg);
    }
}

/* When something of ours or of libcurl's is due. */
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
    /* Requests first: what a timer then works on is worked on while the server does its part. */
    for (size_t i = 0; i < POOL_MAX; i++)
        if (c->pools[i].due <= usec_now()) {
            c->pools[i].due = USEC_NEVER; /* libcurl sets it anew */
            curl_multi_socket_action(c->pools[i].multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
    fire_timers(c);
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
    while (finish_streams(c)); /* who is called back may send anew */
    usec_t now = usec_now(), due = next_due(c);
    usec_t sleep = due < now ? 0 : due - now;
    if (sleep > limit)
        sleep = limit < 0 ? 0 : limit;
    /* One event at a time: handling it may close the sockets of others. */
    struct epoll_event ev;
    int n = epoll_wait(c->epoll, &ev, 1, (int)((sleep + USEC_PER_MSEC - 1) / USEC_PER_MSEC));
    if (n > 0)
        run_socket(&ev);
    finish_all(c);
}

/* ---- small things ---- */

void client_timer_set(struct client *c, struct client_timer *t, usec_t at)
{
    heap_set(&c->timers, &t->node, at);
}

void client_timer_clear(struct client *c, struct client_timer *t)
{
    heap_remove(&c->timers, &t->node);
}

/* xorshift64*: only spreads retries, nothing secret depends on it. */
uint32_t client_random(struct client *c)
{
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return (uint32_t)((c->random * 0x2545f4914f6cdd1dULL) >> 32);
}

usec_t client_backoff(struct client *c, int n, usec_t first, usec_t most)
{
    usec_t d = usec_backoff(first, most, n);
    return d / 2 + (usec_t)(client_random(c) % (uint64_t)(d / 2 + 1));
}
