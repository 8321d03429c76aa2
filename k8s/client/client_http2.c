/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short calls as streams of one HTTP/2 connection.
 *
 * libcurl makes the connection (names, proxies, certificates, the handshake) and moves its bytes.
 * nghttp2 handles the session. libcurl's own HTTP/2 needs a handle, timers, a poll and a read for
 * each request. Here one write sends all requests of a batch, and one read can take many replies.
 *
 * The life of a connection:
 *   1. libcurl makes it.
 *   2. It takes requests. Only the last connection of the list does.
 *   3. It finishes its requests, after the server has sent GOAWAY or a certificate has changed.
 *   4. It is closed.
 *
 * If the server does not support HTTP/2, all calls go over libcurl.
 */
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>

#include "k8s/client/client_internal.h"

#define OUTPUT      ((size_t)32 << 10)
#define INPUT       ((size_t)16 << 10) /* the size of a TLS record */
#define MAX_HEADERS 9
/* How often a request is sent again that the server has not processed. */
#define MAX_UNSEEN 10

struct connection {
    struct list link;
    struct client *client;
    CURL *easy;
    struct http2_session *session; /* NULL: the connection is being made */
    struct interest interest;
    struct list calls;
    usec_t heard;     /* when it was last readable */
    bool leaving;     /* takes no more requests */
    bool agreed;      /* the handshake has selected HTTP/2 */
    bool blocked;     /* the socket's buffer is full */
    size_t sent, len; /* of out */
    char out[OUTPUT];
    char error[CURL_ERROR_SIZE];
};

/* ---- ends of calls ---- */

static void end_call(struct client_call *call, const char *error)
{
    if (error)
        snprintf(call->error, sizeof call->error, "%s", error);
    call->failed = error != NULL;
    call->via = NULL;
    client_timer_clear(call->client, &call->deadline);
    list_remove(&call->queue);
    list_push(&call->client->ended, &call->queue);
}

static struct client_call *call_of(struct http2_stream *s)
{
    return CONTAINER_OF(s, struct client_call, stream);
}

/* Puts a call that the server has not processed into the next batch. */
static void go_again(struct client_call *call)
{
    call->via = NULL;
    list_remove(&call->queue);
    list_push(&call->client->waiting, &call->queue);
}

static bool on_data(struct http2_stream *s, const char *data, size_t len)
{
    return client_take_data(call_of(s), s->status, data, len);
}

static void on_end(struct http2_stream *s, enum http2_end how)
{
    struct client_call *call = call_of(s);
    if (how == HTTP2_UNSEEN && call->unseen++ < MAX_UNSEEN)
        go_again(call);
    else
        end_call(call, how == HTTP2_WHOLE ? NULL : "the API server aborted the request");
}

static const struct http2_hooks hooks = {on_data, on_end};

/* ---- connections ---- */

static void close_connection(struct connection *k)
{
    struct client *c = k->client;
    if (k->session)
        epoll_ctl(c->epoll, EPOLL_CTL_DEL, k->interest.fd, NULL);
    http2_session_free(k->session);
    curl_multi_remove_handle(c->pools[POOL_CONNECTIONS].multi, k->easy);
    curl_easy_cleanup(k->easy);
    list_remove(&k->link);
    free(k);
}

/* Closes a connection with calls. Calls that were sent end with an error, because the server may
 * have processed them. The others go into the next batch. */
static void lose(struct connection *k, const char *error)
{
    list_for_each_safe (call, &k->calls, struct client_call, queue)
        if (http2_session_unsent(k->session, &call->stream))
            go_again(call);
        else
            end_call(call, error);
    close_connection(k);
}

static int of_tls; /* index of the struct connection in an SSL_CTX */

static void make_index(void)
{
    of_tls = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

static void on_handshake(const SSL *ssl, int where, int value)
{
    (void)value;
    const unsigned char *name = NULL;
    unsigned len = 0;
    if (!(where & SSL_CB_HANDSHAKE_DONE))
        return;
    struct connection *k = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), of_tls);
    SSL_get0_alpn_selected(ssl, &name, &len);
    k->agreed = len == 2 && memcmp(name, "h2", 2) == 0;
}

/* Lets OpenSSL read several records at once. Also offers HTTP/2 itself, because libcurl would start
 * its own session. */
static CURLcode on_tls(CURL *easy, void *ctx, void *connection)
{
    static const unsigned char protocols[] = "\x02h2\x08http/1.1";
    (void)easy;
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_info_callback(ctx, on_handshake);
    bool ok = SSL_CTX_set_ex_data(ctx, of_tls, connection) == 1 &&
              SSL_CTX_set_alpn_protos(ctx, protocols, sizeof protocols - 1) == 0;
    return ok ? CURLE_OK : CURLE_SSL_CONNECT_ERROR;
}

static void connect_to(struct client *c)
{
    struct connection *k = xcalloc(1, sizeof *k);
    k->client = c;
    list_init(&k->calls);
    k->easy = client_new_handle(c);
    client_set_tls(k->easy, c->kc);
    curl_easy_setopt(k->easy, CURLOPT_URL, c->base);
    curl_easy_setopt(k->easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(k->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(k->easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(k->easy, CURLOPT_SSL_CTX_FUNCTION, on_tls);
    curl_easy_setopt(k->easy, CURLOPT_SSL_CTX_DATA, k);
    curl_easy_setopt(k->easy, CURLOPT_ERRORBUFFER, k->error);
    curl_easy_setopt(k->easy, CURLOPT_PRIVATE, k);
    list_push(&c->connections, &k->link);
    curl_multi_add_handle(c->pools[POOL_CONNECTIONS].multi, k->easy);
}

static void do_without(struct client *c)
{
    c->http2 = false;
    list_for_each_safe (call, &c->waiting, struct client_call, queue) {
        list_remove(&call->queue);
        client_timer_clear(c, &call->deadline); /* libcurl has its own */
        call->over_http2 = false;
        client_transfer(call);
    }
}

static void end_waiting(struct client *c, const char *error)
{
    list_for_each_safe (call, &c->waiting, struct client_call, queue)
        end_call(call, error);
}

void client_http2_connected(struct connection *k, CURLcode code)
{
    struct client *c = k->client;
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (code != CURLE_OK) {
        end_waiting(c, *k->error ? k->error : curl_easy_strerror(code));
        close_connection(k);
        return;
    }
    if (!k->agreed) {
        close_connection(k);
        do_without(c);
        return;
    }
    k->error[0] = '\0'; /* libcurl may have tried another address first */
    curl_easy_getinfo(k->easy, CURLINFO_ACTIVESOCKET, &fd);
    k->interest = (struct interest){.fd = fd, .connection = k};
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &k->interest};
    epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &ev);
    k->session = http2_session_new(&hooks);
    client_http2_event(k); /* data may have arrived with the handshake, without an epoll event */
}

/* ---- requests ---- */

static void ask(struct connection *k, struct client_call *call)
{
    struct client *c = call->client;
    cleanup_buf struct buf path = BUF_INIT, auth = BUF_INIT;
    buf_puts(&path, c->path);
    buf_puts(&path, call->path);
    char length[24];
    struct http2_header headers[MAX_HEADERS] = {
        {":method", call->method}, {":scheme", "https"},          {":authority", c->authority},
        {":path", buf_str(&path)}, {"user-agent", c->user_agent}, {"accept", call->accept},
    };
    size_t n = 6;
    if (c->kc->token) {
        buf_puts(&auth, "Bearer ");
        buf_puts(&auth, c->kc->token);
        headers[n++] = (struct http2_header){"authorization", buf_str(&auth)};
    }
    if (call->body) {
        snprintf(length, sizeof length, "%zu", strlen(call->body));
        headers[n++] = (struct http2_header){"content-type", call->content_type};
        headers[n++] = (struct http2_header){"content-length", length};
    }
    list_remove(&call->queue);
    list_push(&k->calls, &call->queue);
    call->via = k;
    call->asked = usec_now();
    if (http2_session_request(k->session, &call->stream, headers, n, call->body) < 0)
        end_call(call, "cannot start the request");
}

static void on_deadline(void *arg)
{
    struct client_call *call = arg;
    struct connection *k = call->via;
    char text[64];
    snprintf(text, sizeof text, "no answer within %lld ms",
             (long long)(call->timeout / USEC_PER_MSEC));
    client_http2_drop(call);
    end_call(call, text);
    /* Nothing has arrived since the request was sent. The next request must not use a dead
     * connection. */
    if (k && k->heard <= call->asked)
        lose(k, "the API server does not answer");
}

void client_http2_start(struct client_call *call)
{
    struct client *c = call->client;
    call->over_http2 = true;
    call->failed = false;
    list_push(&c->waiting, &call->queue);
    if (call->timeout > 0) {
        call->deadline = (struct client_timer){.fire = on_deadline, .arg = call};
        client_timer_set(c, &call->deadline, call->started + call->timeout);
    }
}

void client_http2_drop(struct client_call *call)
{
    list_remove(&call->queue);
    client_timer_clear(call->client, &call->deadline);
    if (call->via)
        http2_session_drop(call->via->session, &call->stream);
    call->via = NULL;
}

/* ---- bytes ---- */

static void want(struct connection *k, bool blocked)
{
    struct epoll_event ev = {.events = blocked ? EPOLLIN | EPOLLOUT : EPOLLIN,
                             .data.ptr = &k->interest};
    if (k->blocked != blocked)
        epoll_ctl(k->client->epoll, EPOLL_CTL_MOD, k->interest.fd, &ev);
    k->blocked = blocked;
}

static const char *why(const struct connection *k, CURLcode code)
{
    return *k->error ? k->error : curl_easy_strerror(code);
}

/* TLS requires the same bytes again after a blocked write, so nothing is appended to them. */
static bool write_out(struct connection *k)
{
    for (;;) {
        if (k->sent == k->len) {
            k->sent = 0;
            k->len = http2_session_output(k->session, k->out, sizeof k->out);
        }
        if (k->len == 0) {
            want(k, false);
            return true;
        }
        size_t n = 0;
        CURLcode code = curl_easy_send(k->easy, k->out + k->sent, k->len - k->sent, &n);
        k->sent += n;
        if (code == CURLE_AGAIN) {
            want(k, true);
            return true;
        }
        if (code != CURLE_OK) {
            lose(k, why(k, code));
            return false;
        }
    }
}

void client_http2_event(struct connection *k)
{
    char data[INPUT];
    k->heard = usec_now();
    for (;;) {
        size_t n = 0;
        CURLcode code = curl_easy_recv(k->easy, data, sizeof data, &n);
        if (code == CURLE_AGAIN)
            return; /* client_http2_flush() sends what the session has to send */
        if (code != CURLE_OK || n == 0) {
            lose(k, code == CURLE_OK ? "the API server closed the connection" : why(k, code));
            return;
        }
        if (http2_session_input(k->session, data, n) < 0) {
            lose(k, "the API server sent data that is not HTTP/2");
            return;
        }
    }
}

static struct connection *newest(const struct client *c)
{
    return list_empty(&c->connections) ? NULL
                                       : CONTAINER_OF(c->connections.prev, struct connection, link);
}

static bool takes_requests(const struct connection *k)
{
    return !k->leaving && (!k->session || http2_session_open(k->session));
}

/* Takes back the calls that were not sent yet, for the next connection. */
static void hand_back(struct connection *k)
{
    list_for_each_safe (call, &k->calls, struct client_call, queue)
        if (http2_session_unsent(k->session, &call->stream)) {
            http2_session_drop(k->session, &call->stream);
            go_again(call);
        }
}

static void need_connection(struct client *c)
{
    const struct connection *k = newest(c);
    if (!list_empty(&c->waiting) && (!k || !takes_requests(k)))
        connect_to(c);
}

void client_http2_leave(struct client *c)
{
    list_for_each_safe (k, &c->connections, struct connection, link)
        if (k->session)
            k->leaving = true;
        else
            close_connection(k);
}

static bool is_over(const struct connection *k)
{
    return !http2_session_alive(k->session) || (k->leaving && list_empty(&k->calls));
}

void client_http2_flush(struct client *c)
{
    list_for_each (each, &c->connections, struct connection, link)
        if (!takes_requests(each))
            hand_back(each);
    need_connection(c);
    struct connection *k = newest(c);
    if (k && k->session)
        list_for_each_safe (call, &c->waiting, struct client_call, queue)
            ask(k, call);
    list_for_each_safe (each, &c->connections, struct connection, link)
        if (each->session && write_out(each) && is_over(each))
            lose(each, "the API server closed the connection");
    need_connection(c); /* for calls that came back from closed connections */
}

/* ---- life ---- */

/* With TLS to the proxy there are two handshakes, and libcurl does not tell on_handshake() which is
 * which. */
static bool proxy_has_tls(const struct client *c)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    bool has = c->kc->proxy && strncmp(c->kc->proxy, "https:", 6) == 0;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *value = getenv(names[i]);
        has = has || (value && strncmp(value, "https:", 6) == 0);
    }
    return has;
}

/* HTTP/2 needs a libcurl with OpenSSL, and a server with TLS. */
void client_http2_init(struct client *c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_index);
    list_init(&c->connections);
    list_init(&c->waiting);
    list_init(&c->ended);
    const curl_version_info_data *libcurl = curl_version_info(CURLVERSION_NOW);
    c->http2 = strncmp(c->base, "https://", 8) == 0 && libcurl->ssl_version &&
               strncmp(libcurl->ssl_version, "OpenSSL/", 8) == 0 && !proxy_has_tls(c);
    const char *host = strstr(c->base, "://") + 3;
    c->path = host + strcspn(host, "/");
    c->authority = xstrndup(host, (size_t)(c->path - host));
}

void client_http2_free(struct client *c)
{
    list_for_each_safe (k, &c->connections, struct connection, link)
        close_connection(k);
    free(c->authority);
}
