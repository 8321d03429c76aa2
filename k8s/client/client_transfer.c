/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as transfers of libcurl, with their sockets, timers and certificates. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "k8s/client/client_internal.h"

#define ERROR_MAX_BODY ((size_t)64 << 10) /* of an error reply to a request with `data` */

/* ---- sockets and timers of libcurl ---- */

/* libcurl calls it when it wants other events of a socket. */
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

int client_pool_open(struct pool *pool, int epoll)
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

/* ---- data of replies ---- */

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

/* ---- handles ---- */

/*
 * Detects a peer that has vanished: keepalive does it while nothing is sent, and the user timeout
 * while something is sent. The defaults of the system are two hours and about 15 minutes.
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

/* Passes the text, not the file's name: libcurl reuses a connection or a TLS session only if the
 * text is the same. */
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
    /* Without a cache, the next connection uses renewed CA certificates of the system. */
    curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    if (kc->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
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

/* ---- a transfer ---- */

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

/* Sets all options that client_new_handle() does not set, because another call may have used the
 * handle. */
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
    client_set_tls(call->easy, c->kc); /* a spare handle can have old certificates */
    set_headers(call);
    curl_multi_add_handle(c->pools[POOL_TRANSFERS].multi, call->easy);
}

/* Uses the current certificates and token. */
void client_transfer_again(struct client_call *call)
{
    struct client *c = call->client;
    CURLM *multi = c->pools[POOL_TRANSFERS].multi;
    curl_multi_remove_handle(multi, call->easy);
    client_set_tls(call->easy, c->kc);
    set_headers(call);
    curl_multi_add_handle(multi, call->easy);
}

void client_transfer_free(struct client_call *call)
{
    struct client *c = call->client;
    curl_multi_remove_handle(c->pools[POOL_TRANSFERS].multi, call->easy);
    if (!call->alone && c->n_spare < MAX_SPARE) {
        curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, NULL); /* the buffer is in the call */
        c->spare[c->n_spare++] = call->easy;
    } else {
        curl_easy_cleanup(call->easy);
    }
    curl_slist_free_all(call->headers);
}

usec_t client_transfer_date(const struct client_call *call)
{
    struct curl_header *date;
    return curl_easy_header(call->easy, "Date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK
               ? client_parse_date(date->value)
               : 0;
}

long client_status(const struct client_call *call)
{
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
