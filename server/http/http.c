/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/must.h"
#include "config/config.h"
#include "server/http/http_internal.h"

/* The bind calls of a complete gang can arrive at once. The kernel lowers this to somaxconn. */
#define LISTEN_BACKLOG 4096
/*
 * The library's memory for each connection, for the headers and a part of the body. kube-scheduler
 * keeps only two idle connections, so nearly every held bind call has a new one. The library's
 * default of 32 KiB costs too much time and memory for many connections, see
 * docs/decisions/063-give-connections-8-kib.md.
 */
#define CONNECTION_MEMORY ((size_t)8192)

/* ---- routes and early decisions ---- */

static bool path_matches(const struct http_route *route, const char *path)
{
    size_t n = strlen(route->path);
    bool below = route->path[n - 1] == '/';
    return below ? strncmp(route->path, path, n) == 0 && path[n] : str_eq(route->path, path);
}

static bool method_matches(const struct http_route *route, const char *method)
{
    return str_eq(route->method, method) ||
           (str_eq(route->method, "GET") && str_eq(method, "HEAD"));
}

static const struct http_route *find_route(const struct http *h, const char *path)
{
    for (size_t i = 0; i < h->n_routes; i++)
        if (path_matches(&h->routes[i], path))
            return &h->routes[i];
    return NULL;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static size_t declared_length(struct MHD_Connection *c)
{
    const char *text = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return text ? strtoull(text, NULL, 10) : 0; /* the library has checked that it is a number */
}

/* Returns 0 to accept the request, or the status of the refusal. */
static int judge_headers(const struct http_internal *in, const char *method)
{
    const struct http_request *r = &in->request;
    if (!r->route)
        return MHD_HTTP_NOT_FOUND;
    if (!method_matches(r->route, method))
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    /* Two lengths for one body would make request smuggling possible. */
    if (header(in->mhd, MHD_HTTP_HEADER_CONTENT_LENGTH) &&
        header(in->mhd, MHD_HTTP_HEADER_TRANSFER_ENCODING))
        return MHD_HTTP_BAD_REQUEST;
    if (declared_length(in->mhd) > in->http->body_limit)
        return MHD_HTTP_CONTENT_TOO_LARGE;
    return 0;
}

static void put_error_text(struct http_internal *in)
{
    const struct http *h = in->http;
    struct buf *body = &in->request.reply;
    buf_clear(body);
    switch (in->status) {
    case MHD_HTTP_NOT_FOUND:
        buf_puts(body, "unknown path; valid paths:\n");
        for (size_t i = 0; i < h->n_routes; i++)
            buf_printf(body, "%s %s\n", h->routes[i].method, h->routes[i].path);
        break;
    case MHD_HTTP_METHOD_NOT_ALLOWED:
        buf_printf(body, "method not allowed: use %s\n", in->request.route->method);
        break;
    case MHD_HTTP_CONTENT_TOO_LARGE:
        buf_printf(body, "the body is larger than %zu bytes, the limit of this port",
                   h->body_limit);
        if (h->setting)
            buf_printf(body, ": raise %s", h->setting);
        buf_putc(body, '\n');
        break;
    case MHD_HTTP_SERVICE_UNAVAILABLE:
        buf_printf(body,
                   "all current requests and replies together exceed %zu bytes, the limit of this "
                   "port: try again",
                   h->memory);
        if (h->setting)
            buf_printf(body, ", or raise %s", h->setting);
        buf_putc(body, '\n');
        break;
    default:
        buf_puts(body, "a request must not have both Content-Length and Transfer-Encoding\n");
        break;
    }
}

/* ---- answering ---- */

/* The library borrows the bytes of the reply until on_completed(). It owns the response object. */
static void queue(struct http_internal *in, int status, const char *type, const char *allow)
{
    const struct buf *reply = &in->request.reply;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(reply->len, reply->data, MHD_RESPMEM_PERSISTENT);
    if (!response)
        abort(); /* out of memory, as in base/mem.h */
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (allow)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
    in->answered = true;
    if (!in->request.in_place) { /* otherwise it is already counted as the body */
        in->counted_reply = reply->len;
        atomic_fetch_add(&in->http->reply_bytes, reply->len);
    }
    pthread_mutex_lock(&in->http->lock);
    in->http->replying++;
    pthread_mutex_unlock(&in->http->lock);
    /* This fails only on a broken connection, and then the request completes anyway. */
    MHD_queue_response(in->mhd, (unsigned)status, response);
    MHD_destroy_response(response);
    if (!in->deferred)
        conn_enter(&in->http->conns, in->conn, CONN_REPLY);
}

void http_reply_in_place(struct http_request *r)
{
    struct buf body = r->body;
    r->body = r->reply;
    r->reply = body;
    r->in_place = true;
}

void http_answer(struct http_request *r, int status, const char *content_type)
{
    queue(r->inner, status, content_type, NULL);
}

static void answer_decided(struct http_internal *in)
{
    struct http *h = in->http;
    const struct http_route *route = in->request.route;
    put_error_text(in);
    const char *allow = NULL;
    if (in->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        allow = str_eq(route->method, "GET") ? "GET, HEAD" : route->method;
    if (route && h->refused)
        h->refused(h->arg, route, in->status);
    queue(in, in->status, "text/plain; charset=utf-8", allow);
}

const char *http_query(const struct http_request *r, const char *key)
{
    const char *value = NULL;
    if (MHD_lookup_connection_value_n(r->inner->mhd, MHD_GET_ARGUMENT_KIND, key, strlen(key),
                                      &value, NULL) == MHD_NO)
        return NULL;
    return value ? value : "";
}

bool http_defer(struct http_request *r)
{
    struct http *h = r->inner->http;
    size_t before = atomic_load(&h->deferred);
    do {
        if (before & REFUSE_DEFERRING)
            return false;
    } while (!atomic_compare_exchange_weak(&h->deferred, &before, before + 1));
    r->inner->deferred = true;
    MHD_suspend_connection(r->inner->mhd);
    return true;
}

void http_resume(struct http_request *r)
{
    struct http *h = r->inner->http;
    conn_enter(&h->conns, r->inner->conn, CONN_REPLY);
    MHD_resume_connection(r->inner->mhd);
    atomic_fetch_sub(&h->deferred, 1);
}

size_t http_waiting(const struct http_request *r)
{
    return http_deferred(r->inner->http);
}

static bool is_full(const struct http *h)
{
    return atomic_load(&h->body_bytes) + atomic_load(&h->reply_bytes) > h->memory;
}

bool http_is_full(const struct http_request *r)
{
    return is_full(r->inner->http);
}

int http_socket(const struct http_request *r)
{
    return r->inner->conn->fd;
}

const char *http_peer(const struct http_request *r, char out[HTTP_PEER])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->inner->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char host[46] = "?", port[8] = "?";
    if (info && info->client_addr) {
        const struct sockaddr *sa = info->client_addr;
        socklen_t len =
            sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
        getnameinfo(sa, len, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    }
    snprintf(out, HTTP_PEER, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    return out;
}

/* ---- the library's callbacks ---- */

static struct conn *conn_of(struct MHD_Connection *c)
{
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Called when the request line has arrived. The library passes the result to on_request(). */
static void *on_request_line(void *cls, const char *uri, struct MHD_Connection *c)
{
    struct http *h = cls;
    (void)uri;
    conn_enter(&h->conns, conn_of(c), CONN_HEADERS);
    return NULL;
}

static struct http_internal *begin_request(struct http *h, struct MHD_Connection *c,
                                           const char *path, const char *method)
{
    struct http_internal *in = xcalloc(1, sizeof *in);
    in->http = h;
    in->mhd = c;
    in->conn = conn_of(c);
    struct http_request *r = &in->request;
    r->inner = in;
    r->started = usec_now();
    r->path = in->path = xstrdup(path);
    r->route = find_route(h, path);
    in->status = judge_headers(in, method);
    conn_enter(&h->conns, in->conn, CONN_BODY);
    return in;
}

static void free_request(struct http_internal *in)
{
    struct http_request *r = &in->request;
    if (r->user && r->free_user)
        r->free_user(r->user);
    free(in->path);
    buf_done(&r->body);
    buf_done(&r->reply);
    free(in);
}

static void drop_body(struct http_internal *in)
{
    atomic_fetch_sub(&in->http->body_bytes, in->counted);
    in->counted = 0;
    buf_done(&in->request.body);
}

/* Counts n more bytes of this body. False: all bodies and replies together are too large. */
static bool count_body(struct http_internal *in, size_t n)
{
    struct http *h = in->http;
    atomic_fetch_add(&h->body_bytes, n);
    in->counted += n;
    return !is_full(h);
}

/* The body of a refused request is read to its end and dropped, because the reply has to wait for
 * the end. */
static void take_body(struct http_internal *in, const char *data, size_t n)
{
    const struct http *h = in->http;
    struct http_request *r = &in->request;
    if (in->status)
        return;
    r->bytes += n;
    if (r->bytes > h->body_limit) {
        in->status = MHD_HTTP_CONTENT_TOO_LARGE;
    } else {
        buf_append(&r->body, data, n);
        if (!count_body(in, n))
            in->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    if (in->status)
        drop_body(in);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *n, void **request)
{
    struct http *h = cls;
    struct http_internal *in = *request;
    (void)version;
    if (!in) {
        in = *request = begin_request(h, c, path, method);
        /* The body is known to be too large, so refuse it at once. The library then closes the
         * connection. */
        if (in->status == MHD_HTTP_CONTENT_TOO_LARGE)
            answer_decided(in);
        return MHD_YES;
    }
    if (*n > 0) {
        int64_t begin = nsec_now();
        take_body(in, data, *n);
        in->request.spent += nsec_now() - begin;
        *n = 0;
        return MHD_YES;
    }
    if (in->answered)
        return MHD_YES;
    in->request.whole = nsec_now();
    conn_enter(&h->conns, in->conn, CONN_WORK);
    if (in->status)
        answer_decided(in);
    else
        in->request.route->handle(h->arg, &in->request);
    return MHD_YES;
}

static void on_completed(void *cls, struct MHD_Connection *c, void **request,
                         enum MHD_RequestTerminationCode code)
{
    struct http *h = cls;
    struct http_internal *in = *request;
    (void)c;
    (void)code; /* does not show whether the reply was delivered */
    if (!in)
        return;
    *request = NULL;
    conn_enter(&h->conns, in->conn, CONN_IDLE);
    bool answered = in->answered;
    atomic_fetch_sub(&h->body_bytes, in->counted);
    atomic_fetch_sub(&h->reply_bytes, in->counted_reply);
    free_request(in);
    pthread_mutex_lock(&h->lock);
    if (answered && --h->replying == 0)
        pthread_cond_broadcast(&h->sent);
    pthread_mutex_unlock(&h->lock);
}

static void on_connection(void *cls, struct MHD_Connection *c, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *h = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *socket_context = conn_open(&h->conns, fd);
    } else {
        conn_close(&h->conns, *socket_context);
        *socket_context = NULL;
    }
}

static void on_library_log(void *cls, const char *fmt, va_list ap)
{
    (void)cls;
    if (log_level() < LOG_DEBUG)
        return;
    char text[256];
    vsnprintf(text, sizeof text, fmt, ap);
    text[strcspn(text, "\n")] = '\0';
    log_debug("Message from libmicrohttpd", "text", text, NULL);
}

/* ---- the listener ---- */

/* The library could open the socket, but its error would not name the address and the cause. */
static int open_socket(const char *listen_at, struct err *err)
{
    cleanup_free char *host = NULL;
    char port[8];
    int number, on = 1;
    if (config_address(listen_at, &host, &number, err) < 0)
        return -1;
    snprintf(port, sizeof port, "%d", number);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM},
                    *ai;
    int r = getaddrinfo(host, port, &hints, &ai);
    if (r != 0)
        return err_set(err, ERR_INVALID, "%s", gai_strerror(r));
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool bad =
        fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, LISTEN_BACKLOG) < 0;
    if (bad)
        err_errno(err, "cannot listen on %s", listen_at);
    freeaddrinfo(ai);
    if (bad && fd >= 0)
        close(fd);
    return bad ? -1 : fd;
}

static char *socket_address(int fd)
{
    struct sockaddr_storage sa = {0};
    socklen_t len = sizeof sa;
    char host[46] = "?", port[8] = "?";
    if (getsockname(fd, (struct sockaddr *)&sa, &len) == 0)
        getnameinfo((struct sockaddr *)&sa, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    return xasprintf(sa.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static struct MHD_Daemon *start_library(struct http *h, const struct http_options *o, int fd)
{
    struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)o->threads, NULL},
                                    {MHD_OPTION_END, 0, NULL}};
    if (o->threads < 2)
        pool[0] = pool[1]; /* the library does not accept a pool of one thread */
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_library_log, NULL, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_ARRAY, pool, MHD_OPTION_CONNECTION_LIMIT,
        o->connection_limit + HTTP_SPARE_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONN_IDLE_SECONDS,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, h,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        h, MHD_OPTION_END);
}

static struct http *http_free(struct http *h)
{
    conns_done(&h->conns);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->sent);
    free(h->address);
    free(h);
    return NULL;
}

struct http *http_open(const struct http_options *o, struct err *err)
{
    int fd = open_socket(o->listen, err);
    if (fd < 0)
        return NULL;
    struct http *h = xcalloc(1, sizeof *h);
    h->address = socket_address(fd);
    h->body_limit = o->body_limit;
    h->memory = o->memory;
    h->setting = o->setting;
    h->routes = o->routes;
    h->n_routes = o->n_routes;
    h->arg = o->arg;
    h->refused = o->refused;
    conns_init(&h->conns, o->request_timeout, o->connection_limit);
    pthread_mutex_init(&h->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&h->sent, &attr);
    pthread_condattr_destroy(&attr);
    h->daemon = start_library(h, o, fd);
    if (!h->daemon) {
        err_errno(err, "cannot start the HTTP listener on %s", o->listen);
        close(fd);
        return http_free(h);
    }
    return h;
}

const char *http_address(const struct http *h)
{
    return h->address;
}

void http_refuse_deferring(struct http *h)
{
    atomic_fetch_or(&h->deferred, REFUSE_DEFERRING);
}

size_t http_deferred(const struct http *h)
{
    return atomic_load(&h->deferred) & ~REFUSE_DEFERRING;
}

struct http *http_close(struct http *h, usec_t deadline)
{
    if (!h)
        return NULL;
    MUST(http_deferred(h) == 0); /* otherwise the library aborts later, without a clear message */
    struct timespec until = {.tv_sec = deadline / USEC_PER_SEC,
                             .tv_nsec = deadline % USEC_PER_SEC * 1000};
    pthread_mutex_lock(&h->lock);
    while (h->replying > 0 && pthread_cond_timedwait(&h->sent, &h->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&h->lock);
    MHD_stop_daemon(h->daemon);
    return http_free(h);
}
