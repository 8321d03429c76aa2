/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener alone, on real sockets: routes, limits, deadlines, deferred replies, closing.
 */
#include "server/http/http.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mailbox.h"
#include "server/http/http_internal.h"
#include "test/lib/raw_client.h"

#define BODY_LIMIT      (64 * 1024)
#define REQUEST_TIMEOUT (USEC_PER_SEC)

/* Shared by the handlers and the test. */
struct context {
    struct http *http;
    struct mailbox *box; /* deferred requests */
    atomic_int freed, refused;
    atomic_bool sweeping;
    pthread_t sweeper;
};

struct deferred {
    struct mail mail;
    struct http_request *request;
    struct context *context;
};

static void echo(void *arg, struct http_request *r)
{
    (void)arg;
    struct buf *b = &r->reply;
    buf_printf(b, "%zu %s ", r->body.len, http_query(r, "q") ? http_query(r, "q") : "-");
    if (r->body.len < 100)
        buf_append(b, buf_str(&r->body), r->body.len);
    http_answer(r, 200, "text/plain");
}

/* The body becomes the reply, as in a filter call with complete nodes. */
static void in_place(void *arg, struct http_request *r)
{
    (void)arg;
    http_reply_in_place(r);
    http_answer(r, 200, "text/plain");
}

static void free_deferred(void *user)
{
    struct deferred *d = user;
    atomic_fetch_add(&d->context->freed, 1);
    free(d);
}

static void defer(void *arg, struct http_request *r)
{
    struct context *c = arg;
    struct deferred *d = xcalloc(1, sizeof *d);
    d->request = r;
    d->context = c;
    r->user = d;
    r->free_user = free_deferred;
    if (http_defer(r)) {
        mailbox_put(c->box, &d->mail);
        return;
    }
    buf_puts(&r->reply, "ending");
    http_answer(r, 503, "text/plain");
}

static void refused(void *arg, const struct http_route *route, int status)
{
    struct context *c = arg;
    assert_non_null(route);
    assert_true(status >= 400);
    atomic_fetch_add(&c->refused, 1);
}

static const struct http_route routes[] = {
    {"/echo", "POST", echo, 0},   {"/get", "GET", echo, 0},       {"/below/", "GET", echo, 0},
    {"/defer", "POST", defer, 0}, {"/same", "POST", in_place, 0},
};

static void *sweep(void *arg)
{
    struct context *c = arg;
    while (atomic_load(&c->sweeping)) {
        http_sweep(c->http, usec_now());
        usleep(10000);
    }
    return NULL;
}

static int setup(void **state)
{
    struct context *c = xcalloc(1, sizeof *c);
    struct err err;
    const struct http_options o = {
        .listen = "127.0.0.1:0",
        .threads = 2,
        .connection_limit = 2048,
        .body_limit = BODY_LIMIT,
        .memory = 2 * BODY_LIMIT,
        .setting = "maxBodyMiB",
        .request_timeout = REQUEST_TIMEOUT,
        .routes = routes,
        .n_routes = ARRAY_SIZE(routes),
        .arg = c,
        .refused = refused,
    };
    c->box = mailbox_new(&err);
    c->http = http_open(&o, &err);
    if (!c->http)
        fail_msg("%s", err.text);
    atomic_store(&c->sweeping, true);
    pthread_create(&c->sweeper, NULL, sweep, c);
    *state = c;
    return 0;
}

static int teardown(void **state)
{
    struct context *c = *state;
    atomic_store(&c->sweeping, false);
    pthread_join(c->sweeper, NULL);
    http_close(c->http, usec_now() + USEC_PER_SEC);
    mailbox_free(c->box);
    free(c);
    return 0;
}

static const char *address(const struct context *c)
{
    return http_address(c->http);
}

/* ---- deferred requests ---- */

/* Takes n deferred requests out of the box. */
static struct deferred **collect(struct context *c, size_t n)
{
    struct deferred **list = xcalloc(n, sizeof *list);
    usec_t until = usec_now() + 30 * USEC_PER_SEC;
    for (size_t have = 0; have < n;) {
        struct mail *m = mailbox_take(c->box);
        for (struct mail *next; m; m = next) {
            next = m->next;
            list[have++] = CONTAINER_OF(m, struct deferred, mail);
        }
        if (usec_now() > until)
            fail_msg("only %zu of %zu requests arrived", have, n);
        usleep(1000);
    }
    return list;
}

static void answer(struct deferred *d, const char *text)
{
    buf_puts(&d->request->reply, text);
    http_answer(d->request, 200, "text/plain");
    http_resume(d->request);
}

/* ---- routes ---- */

static void each_path_has_its_methods(void **state)
{
    struct context *c = *state;
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *words;
    } cases[] = {
        {"POST", "/echo", "abc", 200, "3 - abc"},
        {"POST", "/echo?q=1", "", 200, "0 1 "},
        {"GET", "/get?q", NULL, 200, "0  "},
        {"GET", "/below/x/y", NULL, 200, "0 - "},
        {"GET", "/below/", NULL, 404, "GET /below/"},
        {"GET", "/", NULL, 404, "POST /echo"},
        {"POST", "/echo/", "abc", 404, "unknown path"},
        {"POST", "/Echo", "abc", 404, "unknown path"},
        {"GET", "/echo", NULL, 405, "method not allowed: use POST"},
        {"PUT", "/echo", "abc", 405, "method not allowed: use POST"},
        {"DELETE", "/get", NULL, 405, "method not allowed: use GET"},
        {"POST", "/get", "abc", 405, "method not allowed: use GET"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_reply struct client_reply r;
        client_ask(address(c), cases[i].method, cases[i].path, cases[i].body, &r);
        assert_int_equal(r.status, cases[i].status);
        if (!strstr(buf_str(&r.body), cases[i].words))
            fail_msg("%s %s: %s", cases[i].method, cases[i].path, buf_str(&r.body));
        if (r.status == 405)
            assert_non_null(
                strstr(buf_str(&r.head), str_eq(cases[i].words, "method not allowed: use GET")
                                             ? "Allow: GET, HEAD\r\n"
                                             : "Allow: POST\r\n"));
    }
    assert_int_equal(atomic_load(&c->refused), 4);
}

static void a_connection_serves_many_requests(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    for (int i = 0; i < 50; i++) {
        cleanup_reply struct client_reply r;
        /* An invalid request in between does not close the connection. */
        client_request(fd, "POST", i % 5 == 4 ? "/none" : "/echo", "abc");
        assert_true(client_read(fd, &r));
        assert_int_equal(r.status, i % 5 == 4 ? 404 : 200);
    }
    close(fd);
}

static void head_is_get_without_a_body(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    client_request(fd, "HEAD", "/get", NULL);
    client_request(fd, "GET", "/get", NULL);
    cleanup_buf struct buf all = BUF_INIT;
    char chunk[1024];
    while (!strstr(buf_str(&all), "0 - ")) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        assert_true(n > 0);
        buf_append(&all, chunk, (size_t)n);
    }
    assert_int_equal(strncmp(buf_str(&all), "HTTP/1.1 200", 12), 0);
    close(fd);
}

/* ---- limits ---- */

static char *filler(size_t n)
{
    char *s = xmalloc(n + 1);
    memset(s, 'x', n);
    s[n] = '\0';
    return s;
}

static void a_body_of_the_maximum_size_is_accepted(void **state)
{
    struct context *c = *state;
    cleanup_free char *body = filler(BODY_LIMIT);
    cleanup_reply struct client_reply r;
    client_ask(address(c), "POST", "/echo", body, &r);
    assert_int_equal(r.status, 200);
    assert_string_equal(buf_str(&r.body), "65536 - ");
}

static void a_larger_body_is_refused_with_413(void **state)
{
    struct context *c = *state;
    cleanup_free char *body = filler(BODY_LIMIT + 1);
    cleanup_reply struct client_reply r;
    client_ask(address(c), "POST", "/echo", body, &r);
    assert_int_equal(r.status, 413);
    assert_string_equal(
        buf_str(&r.body),
        "the body is larger than 65536 bytes, the limit of this port: raise maxBodyMiB\n");
    /* A request that announces a gigabyte is refused before its body is sent. */
    int fd = client_connect(address(c));
    const char *head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n"
                       "Expect: 100-continue\r\n\r\n";
    client_send(fd, head, strlen(head));
    cleanup_reply struct client_reply early;
    assert_true(client_read(fd, &early));
    assert_int_equal(early.status, 413);
    close(fd);
}

static void send_chunked(int fd, size_t total)
{
    cleanup_free char *data = filler(8192);
    cleanup_buf struct buf b = BUF_INIT;
    buf_puts(&b, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t sent = 0; sent < total;) {
        size_t n = total - sent < 8192 ? total - sent : 8192;
        buf_printf(&b, "%zx\r\n", n);
        buf_append(&b, data, n);
        buf_puts(&b, "\r\n");
        sent += n;
    }
    buf_puts(&b, "0\r\n\r\n");
    client_send(fd, b.data, b.len);
}

static void the_limit_also_applies_without_content_length(void **state)
{
    struct context *c = *state;
    static const struct {
        size_t total;
        int status;
    } cases[] = {{0, 200}, {BODY_LIMIT, 200}, {BODY_LIMIT + 1, 413}, {10 * BODY_LIMIT, 413}};
    int fd = client_connect(address(c));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_reply struct client_reply r;
        send_chunked(fd, cases[i].total);
        assert_true(client_read(fd, &r));
        assert_int_equal(r.status, cases[i].status);
    }
    close(fd);
}

/* The status of a call with the largest allowed body, while others have sent all but the last byte
 * of such a body. */
static int status_of_full_body_beside(struct context *c, int others)
{
    cleanup_free char *body = filler(BODY_LIMIT);
    cleanup_buf struct buf head = BUF_INIT;
    int fds[2];
    buf_printf(&head, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", BODY_LIMIT);
    for (int i = 0; i < others; i++) {
        fds[i] = client_connect(address(c));
        client_send(fds[i], head.data, head.len);
        client_send(fds[i], body, BODY_LIMIT - 1);
    }
    size_t kept = (size_t)others * (BODY_LIMIT - 1);
    for (int i = 0; i < 1000 && c->http->body_bytes < kept; i++)
        usleep(10000);
    cleanup_reply struct client_reply r;
    client_ask(address(c), "POST", "/echo", body, &r);
    if (r.status == 503)
        assert_string_equal(buf_str(&r.body),
                            "all current requests and replies together exceed 131072 bytes, the "
                            "limit of this port: try again, or raise maxBodyMiB\n");
    for (int i = 0; i < others; i++)
        close(fds[i]);
    for (int i = 0; i < 1000 && c->http->body_bytes > 0; i++)
        usleep(10000);
    assert_int_equal(c->http->body_bytes, 0);
    return r.status;
}

static void P05_all_bodies_together_are_bounded(void **state)
{
    struct context *c = *state;
    assert_int_equal(status_of_full_body_beside(c, 1), 200);
    assert_int_equal(status_of_full_body_beside(c, 2), 503);
    assert_int_equal(status_of_full_body_beside(c, 1), 200);
}

static void each_request_has_a_body_and_a_reply_of_its_own(void **state)
{
    struct context *c = *state;
    cleanup_free char *body = filler(BODY_LIMIT);
    int fd = client_connect(address(c));
    for (int i = 0; i < 20; i++) {
        cleanup_reply struct client_reply r;
        const char *path = i % 3 ? "/echo" : "/same";
        client_request(fd, "POST", path, i % 2 ? body : "abc");
        assert_true(client_read(fd, &r));
        assert_int_equal(r.status, 200);
        const char *of_echo = i % 2 ? "65536 - " : "3 - abc", *same = i % 2 ? body : "abc";
        assert_string_equal(buf_str(&r.body), i % 3 ? of_echo : same);
    }
    close(fd);
}

static void two_content_lengths_are_refused(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    const char *text = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    client_send(fd, text, strlen(text));
    cleanup_reply struct client_reply r;
    assert_true(client_read(fd, &r));
    assert_int_equal(r.status, 400);
    close(fd);
}

static void bytes_that_are_not_http_are_refused(void **state)
{
    struct context *c = *state;
    static const char *const texts[] = {
        "hello\r\n\r\n",
        "POST /echo HTTP/9.9\r\n\r\n",
        "POST\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        int fd = client_connect(address(c));
        cleanup_reply struct client_reply r;
        client_send(fd, texts[i], strlen(texts[i]));
        if (client_read(fd, &r))
            assert_true(r.status >= 400);
        close(fd);
    }
    cleanup_reply struct client_reply r;
    client_ask(address(c), "POST", "/echo", "abc", &r);
    assert_int_equal(r.status, 200);
}

/* ---- deadlines ---- */

/* Sends a byte every 20 ms, so the connection is never idle for long. */
static usec_t drip(int fd, const char *text)
{
    usec_t from = usec_now();
    for (;; text += text[1] ? 1 : 0) {
        client_send(fd, text, 1);
        if (client_closed(fd, 20 * USEC_PER_MSEC))
            return usec_now() - from;
        if (usec_now() - from > 20 * USEC_PER_SEC)
            return USEC_NEVER;
    }
}

static void a_connection_with_slow_headers_is_closed(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    usec_t took = drip(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_true(took >= REQUEST_TIMEOUT / 2 && took < 10 * USEC_PER_SEC);
    close(fd);
}

static void a_connection_with_a_slow_body_is_closed(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    const char *head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n";
    client_send(fd, head, strlen(head));
    usec_t took = drip(fd, "a");
    assert_true(took >= REQUEST_TIMEOUT / 2 && took < 10 * USEC_PER_SEC);
    close(fd);
    struct http_stats stats;
    http_stats(c->http, &stats);
    assert_int_equal(stats.cut, 1);
}

/* A later request has the deadline of the first one. */
static void slow_headers_on_a_used_connection_close_it(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    cleanup_reply struct client_reply r;
    client_request(fd, "POST", "/echo", "abc");
    assert_true(client_read(fd, &r));
    usec_t took = drip(fd, "POST /echo HTTP/1.1\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_true(took >= REQUEST_TIMEOUT / 2 && took < 10 * USEC_PER_SEC);
    close(fd);
}

/* Go's client opens a connection for a call, sends the call on another one that has become free,
 * and keeps the new one for later. */
static void a_connection_without_a_request_is_idle_from_the_start(void **state)
{
    struct context *c = *state;
    int used = client_connect(address(c)), silent = client_connect(address(c));
    assert_false(client_closed(used, 3 * REQUEST_TIMEOUT / 2));
    cleanup_reply struct client_reply r;
    client_request(used, "POST", "/echo", "abc");
    assert_true(client_read(used, &r));
    assert_int_equal(r.status, 200);
    http_sweep(c->http, usec_now() + (CONN_IDLE_SECONDS - 5) * USEC_PER_SEC);
    assert_false(client_closed(silent, 100 * USEC_PER_MSEC));
    http_sweep(c->http, usec_now() + (CONN_IDLE_SECONDS + 1) * USEC_PER_SEC);
    assert_true(client_closed(silent, 10 * USEC_PER_SEC));
    assert_true(client_closed(used, 10 * USEC_PER_SEC));
    close(used);
    close(silent);
}

/* The library skips them, so they leave the connection idle. */
static void empty_lines_are_not_a_request(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    client_send(fd, "\r\n\r\n\r\n", 6);
    assert_false(client_closed(fd, 3 * REQUEST_TIMEOUT / 2));
    http_sweep(c->http, usec_now() + (CONN_IDLE_SECONDS + 1) * USEC_PER_SEC);
    assert_true(client_closed(fd, 10 * USEC_PER_SEC));
    close(fd);
}

static void an_idle_connection_is_kept(void **state)
{
    struct context *c = *state;
    int fd = client_connect(address(c));
    for (int i = 0; i < 2; i++) {
        cleanup_reply struct client_reply r;
        client_request(fd, "POST", "/echo", "abc");
        assert_true(client_read(fd, &r));
        assert_false(client_closed(fd, 3 * REQUEST_TIMEOUT / 2));
    }
    close(fd);
}

/* ---- deferred ---- */

static void a_thousand_deferred_replies_do_not_block_others(void **state)
{
    struct context *c = *state;
    enum { N = 1000 };
    cleanup_free int *fds = xcalloc(N, sizeof *fds);
    for (int i = 0; i < N; i++) {
        fds[i] = client_connect(address(c));
        client_request(fds[i], "POST", "/defer", "x");
    }
    cleanup_free struct deferred **held = collect(c, N);
    assert_int_equal(http_deferred(c->http), N);
    cleanup_reply struct client_reply other;
    client_ask(address(c), "POST", "/echo", "abc", &other);
    assert_int_equal(other.status, 200);
    assert_false(client_readable(fds[0], 0));
    for (int i = 0; i < N; i++)
        answer(held[i], "now");
    for (int i = 0; i < N; i++) {
        cleanup_reply struct client_reply r;
        assert_true(client_read(fds[i], &r));
        assert_string_equal(buf_str(&r.body), "now");
        close(fds[i]);
    }
    assert_int_equal(http_deferred(c->http), 0);
}

static void a_deferred_request_outlives_its_deadline_and_its_peer(void **state)
{
    struct context *c = *state;
    int stays = client_connect(address(c)), leaves = client_connect(address(c));
    client_request(stays, "POST", "/defer", "x");
    client_request(leaves, "POST", "/defer", "x");
    cleanup_free struct deferred **held = collect(c, 2);
    close(leaves);
    assert_false(client_closed(stays, 3 * REQUEST_TIMEOUT / 2));
    assert_int_equal(atomic_load(&c->freed), 0);
    answer(held[0], "late");
    answer(held[1], "late");
    cleanup_reply struct client_reply r;
    assert_true(client_read(stays, &r));
    assert_string_equal(buf_str(&r.body), "late");
    for (int i = 0; i < 1000 && atomic_load(&c->freed) < 2; i++)
        usleep(10000);
    assert_int_equal(atomic_load(&c->freed), 2);
    close(stays);
}

/* ---- closing ---- */

static void close_sends_open_replies_and_returns_in_time(void **state)
{
    struct context *c = *state;
    int held_fd = client_connect(address(c)), open_fd = client_connect(address(c));
    client_request(held_fd, "POST", "/defer", "x");
    cleanup_reply struct client_reply first;
    client_request(open_fd, "POST", "/echo", "x");
    assert_true(client_read(open_fd, &first));
    cleanup_free struct deferred **held = collect(c, 1);
    http_refuse_deferring(c->http);
    int new_fd = client_connect(address(c));
    for (int i = 0; i < 2;
         i++) { /* new requests are refused, since their answers would come too late */
        cleanup_reply struct client_reply late;
        client_request(i ? new_fd : open_fd, "POST", "/defer", "x");
        assert_true(client_read(i ? new_fd : open_fd, &late));
        assert_int_equal(late.status, 503);
    }
    assert_int_equal(http_deferred(c->http), 1);
    answer(held[0], "the last word");
    assert_int_equal(http_deferred(c->http), 0);
    /* teardown closes at once, so the reply must have been sent by then */
    atomic_store(&c->sweeping, false);
    pthread_join(c->sweeper, NULL);
    c->http = http_close(c->http, usec_now() + 10 * USEC_PER_SEC);
    cleanup_reply struct client_reply r;
    assert_true(client_read(held_fd, &r));
    assert_string_equal(buf_str(&r.body), "the last word");
    assert_int_equal(atomic_load(&c->freed), 3);
    close(held_fd);
    close(new_fd);
    close(open_fd);
}

/* Sends requests until the test shuts the connection down. */
static void *keep_asking(void *arg)
{
    const int *fd = arg;
    for (;;) {
        cleanup_reply struct client_reply r;
        client_request(*fd, "POST", "/defer", "x");
        if (!client_read(*fd, &r) || r.status != 503)
            return NULL;
    }
}

/* http_close() once counted such a request, and aborted. */
static void a_refused_request_never_counts_as_deferred(void **state)
{
    struct context *c = *state;
    int fds[2];
    pthread_t clients[ARRAY_SIZE(fds)];
    size_t most = 0;
    usec_t until = usec_now() + 60 * USEC_PER_SEC;
    http_refuse_deferring(c->http);
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        fds[i] = client_connect(address(c));
        pthread_create(&clients[i], NULL, keep_asking, &fds[i]);
    }
    while (atomic_load(&c->freed) < 2000 && usec_now() < until) {
        size_t n = http_deferred(c->http);
        most = n > most ? n : most;
    }
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        shutdown(fds[i], SHUT_RDWR);
        pthread_join(clients[i], NULL);
        close(fds[i]);
    }
    assert_true(atomic_load(&c->freed) >= 2000);
    assert_int_equal(most, 0);
}

static int teardown_closed(void **state)
{
    struct context *c = *state;
    mailbox_free(c->box);
    free(c);
    return 0;
}

static void a_port_in_use_is_named(void **state)
{
    struct context *c = *state;
    struct err err;
    const struct http_options o = {.listen = address(c), .threads = 1, .connection_limit = 10};
    assert_null(http_open(&o, &err));
    cleanup_free char *want = xasprintf("cannot listen on %s: Address already in use", address(c));
    assert_string_equal(err.text, want);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- clients that would block others ---- */

static struct http *small_listener(struct context *c, unsigned connections, size_t memory)
{
    const struct http_options o = {.listen = "127.0.0.1:0",
                                   .threads = 1,
                                   .connection_limit = connections,
                                   .body_limit = BODY_LIMIT,
                                   .memory = memory,
                                   .request_timeout = 3600 * USEC_PER_SEC,
                                   .routes = routes,
                                   .n_routes = ARRAY_SIZE(routes),
                                   .arg = c,
                                   .refused = refused};
    struct err err;
    struct http *h = http_open(&o, &err);
    if (!h)
        fail_msg("%s", err.text);
    return h;
}

/* Such as the ops port: no setting changes its limits. */
static void a_fixed_limit_names_no_setting(void **state)
{
    struct context *c = *state;
    struct http *h = small_listener(c, 16, BODY_LIMIT / 2);
    static const struct {
        size_t body;
        int status;
        const char *text;
    } cases[] = {
        {BODY_LIMIT + 1, 413, "the body is larger than 65536 bytes, the limit of this port\n"},
        {BODY_LIMIT, 503,
         "all current requests and replies together exceed 32768 bytes, the limit of this port: "
         "try again\n"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *body = filler(cases[i].body);
        cleanup_reply struct client_reply r;
        client_ask(http_address(h), "POST", "/echo", body, &r);
        assert_int_equal(r.status, cases[i].status);
        assert_string_equal(buf_str(&r.body), cases[i].text);
    }
    http_close(h, usec_now() + USEC_PER_SEC);
}

/* No thread sweeps here, as when the core is stuck. */
static void T10_clients_that_keep_connections_open_do_not_block_others(void **state)
{
    static const char *const starts[] = {
        "",                                                             /* sends nothing */
        "GET /get HTTP/1.1\r\nHost: x\r\n",                             /* headers without an end */
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", /* body */
        "GET /get HTTP/1.1\r\nHost: x\r\n\r\n", /* stays open after its reply */
    };
    enum { LIMIT = 16, CLIENTS = 200 };
    struct http *h = small_listener(*state, LIMIT, 2 * BODY_LIMIT);
    for (size_t kind = 0; kind < ARRAY_SIZE(starts); kind++) {
        int fds[CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            fds[i] = client_connect(http_address(h));
            client_send(fds[i], starts[kind], strlen(starts[kind]));
        }
        usec_t begin = usec_now();
        cleanup_reply struct client_reply r;
        client_ask(http_address(h), "GET", "/get", NULL, &r);
        assert_int_equal(r.status, 200);
        assert_true(usec_now() - begin < 5 * USEC_PER_SEC);
        struct http_stats stats;
        http_stats(h, &stats);
        assert_true(stats.connections <= LIMIT + HTTP_SPARE_CONNECTIONS);
        assert_true(stats.cut > 0);
        for (int i = 0; i < CLIENTS; i++)
            close(fds[i]);
    }
    http_close(h, usec_now() + USEC_PER_SEC);
}

/* Opens a connection that stays idle after its reply. */
static int used_connection(struct http *h)
{
    int fd = client_connect(http_address(h));
    cleanup_reply struct client_reply r;
    client_request(fd, "GET", "/get", NULL);
    assert_true(client_read(fd, &r));
    assert_int_equal(r.status, 200);
    return fd;
}

static void wait_for_cuts(struct http *h, uint64_t n)
{
    struct http_stats stats;
    for (int i = 0; i < 1000; i++) {
        http_stats(h, &stats);
        if (stats.cut >= n)
            return;
        usleep(10000);
    }
    fail_msg("only %d connections were cut", (int)stats.cut);
}

static void T10_clients_that_send_nothing_do_not_close_used_connections(void **state)
{
    enum { LIMIT = 16, USED = 2, CLIENTS = 200 };
    struct http *h = small_listener(*state, LIMIT, 2 * BODY_LIMIT);
    int used[USED], fds[CLIENTS];
    for (int i = 0; i < USED; i++)
        used[i] = used_connection(h);
    for (int i = 0; i < CLIENTS; i++)
        fds[i] = client_connect(http_address(h));
    close(used_connection(h)); /* the listener has accepted all of them */
    for (int i = 0; i < USED; i++) {
        cleanup_reply struct client_reply r;
        client_request(used[i], "GET", "/get", NULL);
        assert_true(client_read(used[i], &r));
        assert_int_equal(r.status, 200);
        close(used[i]);
    }
    for (int i = 0; i < CLIENTS; i++)
        close(fds[i]);
    http_close(h, usec_now() + USEC_PER_SEC);
}

/* Clients that connect at the same time do not replace each other before they send a request. */
static void T10_new_connections_replace_kept_ones_and_not_each_other(void **state)
{
    static const char *const starts[] = {
        "GET /get HTTP/1.1\r\nHost: x\r\n",     /* headers without an end */
        "GET /get HTTP/1.1\r\nHost: x\r\n\r\n", /* stays open after its reply */
    };
    enum { LIMIT = 16, BURST = LIMIT / 2 };
    for (size_t kind = 0; kind < ARRAY_SIZE(starts); kind++) {
        struct http *h = small_listener(*state, LIMIT, 2 * BODY_LIMIT);
        int kept[LIMIT], burst[BURST];
        for (int i = 0; i < LIMIT; i++) {
            kept[i] = client_connect(http_address(h));
            client_send(kept[i], starts[kind], strlen(starts[kind]));
        }
        usleep(100000); /* so that the listener reads what they sent */
        for (int i = 0; i < BURST; i++)
            burst[i] = client_connect(http_address(h));
        wait_for_cuts(h, BURST);
        for (int i = 0; i < BURST; i++) {
            cleanup_reply struct client_reply r;
            client_request(burst[i], "GET", "/get", NULL);
            assert_true(client_read(burst[i], &r));
            assert_int_equal(r.status, 200);
            close(burst[i]);
        }
        for (int i = 0; i < LIMIT; i++)
            close(kept[i]);
        http_close(h, usec_now() + USEC_PER_SEC);
    }
}

static void T10_a_connection_with_a_request_being_answered_is_never_closed_for_others(void **state)
{
    struct context *c = *state;
    enum { LIMIT = 4, CLIENTS = 50 };
    struct http *h = small_listener(c, LIMIT, 2 * BODY_LIMIT);
    int held = client_connect(http_address(h)), fds[CLIENTS];
    client_request(held, "POST", "/defer", "");
    struct deferred **list = collect(c, 1);
    for (int i = 0; i < CLIENTS; i++)
        fds[i] = client_connect(http_address(h));
    cleanup_reply struct client_reply r, late;
    client_ask(http_address(h), "GET", "/get", NULL, &r);
    assert_int_equal(r.status, 200);
    buf_puts(&list[0]->request->reply, "at last");
    http_answer(list[0]->request, 200, "text/plain");
    http_resume(list[0]->request);
    assert_true(client_read(held, &late));
    assert_string_equal(buf_str(&late.body), "at last");
    free(list);
    close(held);
    for (int i = 0; i < CLIENTS; i++)
        close(fds[i]);
    http_close(h, usec_now() + USEC_PER_SEC);
}

/* Unread replies count against the memory of the listener. When it is full, new bodies are refused.
 */
static void T10_replies_that_clients_do_not_read_count_as_memory_in_use(void **state)
{
    struct context *c = *state;
    enum { READERS = 8, REPLY = 8 << 20 };
    struct http *h = small_listener(c, 100, REPLY + BODY_LIMIT);
    int fds[READERS];
    for (int i = 0; i < READERS; i++) {
        fds[i] = client_connect(http_address(h));
        client_request(fds[i], "POST", "/defer", "");
    }
    struct deferred **list = collect(c, READERS);
    cleanup_free char *large = xcalloc(1, REPLY);
    int full = 0;
    for (int i = 0; i < READERS; i++) {
        struct http_request *r = list[i]->request;
        full += http_is_full(r);
        if (!http_is_full(r))
            buf_append(&r->reply, large, REPLY);
        http_answer(r, 200, "text/plain");
        http_resume(r);
    }
    assert_true(full >= READERS - 2);
    cleanup_reply struct client_reply small, post;
    client_ask(http_address(h), "GET", "/get", NULL, &small);
    assert_int_equal(small.status, 200);
    client_ask(http_address(h), "POST", "/echo", "hello", &post);
    assert_int_equal(post.status, 503);
    for (int i = 0; i < READERS; i++)
        close(fds[i]);
    for (int status = 503, tries = 0; status == 503 && tries < 500; tries++) {
        cleanup_reply struct client_reply again;
        client_ask(http_address(h), "POST", "/echo", "hello", &again);
        status = again.status;
        assert_true(tries < 499 || status == 200);
        usleep(10000);
    }
    free(list);
    http_close(h, usec_now() + USEC_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_path_has_its_methods),
        TEST(a_connection_serves_many_requests),
        TEST(head_is_get_without_a_body),
        TEST(a_body_of_the_maximum_size_is_accepted),
        TEST(a_larger_body_is_refused_with_413),
        TEST(a_fixed_limit_names_no_setting),
        TEST(the_limit_also_applies_without_content_length),
        TEST(P05_all_bodies_together_are_bounded),
        TEST(each_request_has_a_body_and_a_reply_of_its_own),
        TEST(two_content_lengths_are_refused),
        TEST(bytes_that_are_not_http_are_refused),
        TEST(a_connection_with_slow_headers_is_closed),
        TEST(a_connection_with_a_slow_body_is_closed),
        TEST(slow_headers_on_a_used_connection_close_it),
        TEST(a_connection_without_a_request_is_idle_from_the_start),
        TEST(empty_lines_are_not_a_request),
        TEST(an_idle_connection_is_kept),
        TEST(a_thousand_deferred_replies_do_not_block_others),
        TEST(a_deferred_request_outlives_its_deadline_and_its_peer),
        cmocka_unit_test_setup_teardown(close_sends_open_replies_and_returns_in_time, setup,
                                        teardown_closed),
        TEST(a_refused_request_never_counts_as_deferred),
        TEST(a_port_in_use_is_named),
        TEST(T10_clients_that_keep_connections_open_do_not_block_others),
        TEST(T10_clients_that_send_nothing_do_not_close_used_connections),
        TEST(T10_new_connections_replace_kept_ones_and_not_each_other),
        TEST(T10_a_connection_with_a_request_being_answered_is_never_closed_for_others),
        TEST(T10_replies_that_clients_do_not_read_count_as_memory_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
