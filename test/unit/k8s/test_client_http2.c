/* SPDX-License-Identifier: Apache-2.0 */
/* Short calls over HTTP/2 to a server that does everything that servers do. */
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api_fixture.h"
#include "fake_http2.h"

struct fixture {
    struct fake_http2 *server;
    struct api_metrics *metrics;
    struct client *client;
    struct kubeconfig *kc; /* the client's, for tests that change it */
    struct buf heard;      /* statuses, or errors */
    int fd;
};

/* The result of a call. */
struct call {
    struct fixture *x;
    struct client_call *call;
    bool done;
    long status;
    char error[200], body[200];
    size_t len;
    bool too_large;
    struct call *then_cancel; /* cancelled from on_done() */
};

static void on_done(void *arg, const struct client_reply *reply)
{
    struct call *c = arg;
    assert_false(c->done);
    c->done = true;
    c->call = NULL;
    c->status = reply->status;
    c->len = reply->len;
    c->too_large = reply->too_large;
    snprintf(c->error, sizeof c->error, "%s", reply->error ? reply->error : "");
    snprintf(c->body, sizeof c->body, "%s", reply->body);
    buf_printf(&c->x->heard, "%ld%s ", c->status, c->error);
    if (c->then_cancel && c->then_cancel->call) {
        client_cancel(c->x->client, c->then_cancel->call);
        c->then_cancel->call = NULL;
    }
}

static void send_as(struct fixture *x, struct call *c, struct client_request request)
{
    struct call *then = c->then_cancel;
    *c = (struct call){.x = x, .then_cancel = then};
    request.verb = "get";
    request.resource = "things";
    request.method = request.body ? "POST" : "GET";
    request.content_type = "application/json";
    request.timeout = request.timeout ? request.timeout : 10 * USEC_PER_SEC;
    request.done = on_done;
    request.arg = c;
    c->call = client_send(x->client, &request);
}

static void get(struct fixture *x, struct call *c, const char *path)
{
    send_as(x, c, (struct client_request){.path = path});
}

#define assert_whole(c, want)                                                                      \
    do {                                                                                           \
        assert_string_equal((c).error, "");                                                        \
        assert_int_equal((c).status, 200);                                                         \
        assert_string_equal((c).body, (want));                                                     \
    } while (0)

static void begin(struct fixture *x, struct kubeconfig *kc)
{
    struct err err;
    x->client = client_new(kc, "test", x->metrics, &err);
    assert_non_null(x->client);
}

static void serve_with(struct fixture *x, struct fake_http2_options options)
{
    x->server = fake_http2_start(&options);
    begin(x, fake_http2_kubeconfig(x->server));
}

static int set_up(void **state)
{
    struct fixture *x = xcalloc(1, sizeof *x);
    x->metrics = api_metrics_new();
    x->fd = eventfd(0, EFD_CLOEXEC);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    client_free(x->client);
    if (x->server)
        fake_http2_stop(x->server);
    api_metrics_free(x->metrics);
    buf_done(&x->heard);
    close(x->fd);
    free(x);
    return 0;
}

/* ---- the usual way ---- */

static void many_requests_share_one_connection(void **state)
{
    struct fixture *x = *state;
    static struct call calls[50];
    serve_with(x, (struct fake_http2_options){0});
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        get(x, &calls[i], "/ok");
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        run_until(x, calls[i].done);
        assert_whole(calls[i], "GET /ok  ");
    }
    assert_int_equal(fake_http2_connections(x->server), 1);
    assert_true(fake_http2_peak(x->server) > 10);
}

static void the_body_and_the_token_are_sent(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    client_free(x->client);
    struct kubeconfig *kc = fake_http2_kubeconfig(x->server);
    kc->token = xstrdup("secret");
    begin(x, kc);
    send_as(x, &c, (struct client_request){.path = "/ok?a=b", .body = "{\"x\":1}"});
    run_until(x, c.done);
    assert_whole(c, "POST /ok?a=b Bearer secret {\"x\":1}");
    send_as(x, &c, (struct client_request){.path = "/ok", .body = ""});
    run_until(x, c.done);
    assert_whole(c, "POST /ok Bearer secret ");
}

static void the_path_in_the_servers_url_is_kept(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    client_free(x->client);
    struct kubeconfig *kc = fake_http2_kubeconfig(x->server);
    char *plain = kc->server;
    kc->server = xasprintf("%s/k8s/clusters/c1", plain);
    free(plain);
    begin(x, kc);
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_whole(c, "GET /k8s/clusters/c1/ok  ");
}

static void statuses_are_reported(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    static const long statuses[] = {201, 403, 404, 409, 410, 422, 429, 500, 503};
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
        char path[32];
        snprintf(path, sizeof path, "/status/%ld", statuses[i]);
        get(x, &c, path);
        run_until(x, c.done);
        assert_string_equal(c.error, "");
        assert_int_equal(c.status, statuses[i]);
    }
    get(x, &c, "/early");
    run_until(x, c.done);
    assert_whole(c, "GET /early  "); /* 103 is not the final answer */
}

static void calls_beyond_the_servers_limit_of_streams_wait(void **state)
{
    struct fixture *x = *state;
    static struct call calls[40];
    serve_with(x, (struct fake_http2_options){.streams = 3});
    get(x, &calls[0], "/ok");
    run_until(x, calls[0].done); /* the server has announced its limit */
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        get(x, &calls[i], "/ok");
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        run_until(x, calls[i].done);
        assert_whole(calls[i], "GET /ok  ");
    }
    assert_true(fake_http2_peak(x->server) <= 3);
    assert_int_equal(fake_http2_connections(x->server), 1);
}

/* ---- bounds ---- */

static void a_reply_above_the_bound_is_an_error(void **state)
{
    struct fixture *x = *state;
    struct call c = {0}, other = {0};
    serve_with(x, (struct fake_http2_options){0});
    send_as(x, &c, (struct client_request){.path = "/big/300000", .max_body = 200000});
    get(x, &other, "/ok");
    run_until(x, c.done && other.done);
    assert_true(c.too_large);
    assert_string_equal(c.error, "the reply is too large");
    assert_whole(other, "GET /ok  ");
    /* Larger than all flow-control windows, but within the bound. */
    send_as(x, &c, (struct client_request){.path = "/big/20000000", .max_body = 21000000});
    run_until(x, c.done);
    assert_string_equal(c.error, "");
    assert_true(c.len > 20000000);
    assert_int_equal(fake_http2_connections(x->server), 1);
}

static void a_large_body_is_sent_completely(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    cleanup_buf struct buf body = BUF_INIT;
    for (int i = 0; i < 3000000; i++)
        buf_putc(&body, 'y');
    send_as(x, &c,
            (struct client_request){
                .path = "/ok", .body = buf_str(&body), .max_body = (size_t)4 << 20});
    run_until(x, c.done);
    assert_string_equal(c.error, "");
    assert_true(c.len > 3000000);
}

static void a_timeout_ends_a_call_and_resets_its_stream(void **state)
{
    struct fixture *x = *state;
    struct call slow = {0}, quick = {0};
    serve_with(x, (struct fake_http2_options){0});
    send_as(x, &slow, (struct client_request){.path = "/hang", .timeout = 200 * USEC_PER_MSEC});
    usec_t begun = usec_now();
    run_until(x, fake_http2_requests(x->server) == 1);
    get(x, &quick, "/ok"); /* the server still answers other calls */
    run_until(x, quick.done);
    run_until(x, slow.done);
    assert_true(usec_now() - begun >= 200 * USEC_PER_MSEC);
    assert_non_null(strstr(slow.error, "no answer within 200 ms"));
    assert_int_equal(slow.status, 0);
    run_until(x, fake_http2_taken_back(x->server) == 1);
    get(x, &quick, "/ok");
    run_until(x, quick.done);
    assert_whole(quick, "GET /ok  ");
    assert_int_equal(fake_http2_connections(x->server), 1);
}

static void a_silent_connection_is_replaced(void **state)
{
    struct fixture *x = *state;
    struct call deaf = {0}, beside = {0}, next = {0};
    serve_with(x, (struct fake_http2_options){0});
    get(x, &next, "/ok");
    run_until(x, next.done);
    usleep(20000);
    client_run(x->client, 0, x->fd); /* reads the server's settings */
    get(x, &beside, "/hang");
    send_as(x, &deaf, (struct client_request){.path = "/deaf", .timeout = 300 * USEC_PER_MSEC});
    run_until(x, deaf.done && beside.done);
    assert_non_null(strstr(deaf.error, "no answer within 300 ms"));
    assert_non_null(strstr(beside.error, "does not answer"));
    get(x, &next, "/ok");
    run_until(x, next.done);
    assert_whole(next, "GET /ok  ");
    assert_int_equal(fake_http2_connections(x->server), 2);
}

/* ---- what servers do ---- */

static void a_refused_stream_is_sent_again(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    send_as(x, &c, (struct client_request){.path = "/refuse/2", .body = "{}"});
    run_until(x, c.done);
    assert_whole(c, "POST /refuse/2  {}");
    assert_int_equal(fake_http2_requests(x->server), 3);
}

static void a_call_fails_when_its_stream_is_always_refused(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    get(x, &c, "/refuse/1000");
    run_until(x, c.done);
    assert_non_null(strstr(c.error, "aborted the request"));
    assert_int_equal(fake_http2_requests(x->server), 11);
}

static void after_goaway_a_new_connection_is_used(void **state)
{
    struct fixture *x = *state;
    static struct call calls[30];
    /* The server answers five requests of each connection and ignores the others. Each request
     * still gets one answer. */
    serve_with(x, (struct fake_http2_options){.max_requests = 5});
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        get(x, &calls[i], "/ok");
        client_run(x->client, USEC_PER_MSEC, x->fd);
    }
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        run_until(x, calls[i].done);
        assert_whole(calls[i], "GET /ok  ");
    }
    assert_true(fake_http2_connections(x->server) > 1);
}

/* The server refuses requests while bytes are written. No other event follows, so the client must
 * not wait for one. */
static void requests_refused_by_goaway_get_a_new_connection(void **state)
{
    struct fixture *x = *state;
    struct call first = {0}, leave = {0}, next[3] = {{0}};
    serve_with(x, (struct fake_http2_options){.streams = 1});
    get(x, &first, "/ok");
    run_until(x, first.done); /* the server has announced its limit */
    get(x, &leave, "/leave");
    for (size_t i = 0; i < ARRAY_SIZE(next); i++)
        get(x, &next[i], "/ok"); /* accepted by the client, but not sent yet */
    usec_t begun = usec_now();
    for (size_t i = 0; i < ARRAY_SIZE(next); i++) {
        while (!next[i].done)
            client_run(x->client, 5 * USEC_PER_SEC, x->fd);
        assert_whole(next[i], "GET /ok  ");
    }
    assert_true(usec_now() - begun < 4 * USEC_PER_SEC);
    assert_false(leave.done);
}

static void calls_under_way_at_goaway_are_still_answered(void **state)
{
    struct fixture *x = *state;
    struct call big = {0}, bye = {0}, later = {0};
    serve_with(x, (struct fake_http2_options){0});
    send_as(x, &big, (struct client_request){.path = "/big/8000000", .max_body = 9000000});
    get(x, &bye, "/bye");
    run_until(x, bye.done);
    get(x, &later, "/ok");
    run_until(x, later.done && big.done);
    assert_whole(later, "GET /ok  ");
    assert_string_equal(big.error, "");
    assert_true(big.len > 8000000);
    assert_int_equal(fake_http2_connections(x->server), 2);
}

static void a_reset_stream_is_an_error(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    get(x, &c, "/reset");
    run_until(x, c.done);
    assert_non_null(strstr(c.error, "aborted the request"));
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_whole(c, "GET /ok  ");
    assert_int_equal(fake_http2_connections(x->server), 1);
}

static void a_lost_connection_ends_all_its_calls(void **state)
{
    struct fixture *x = *state;
    struct call hang[3] = {{0}}, cut = {0}, next = {0};
    serve_with(x, (struct fake_http2_options){0});
    for (size_t i = 0; i < ARRAY_SIZE(hang); i++)
        get(x, &hang[i], "/hang");
    run_until(x, fake_http2_requests(x->server) == 3);
    get(x, &cut, "/cut");
    run_until(x, cut.done && hang[0].done && hang[1].done && hang[2].done);
    assert_true(*cut.error && *hang[0].error && *hang[1].error && *hang[2].error);
    assert_int_equal(cut.status, 0);
    get(x, &next, "/ok");
    run_until(x, next.done);
    assert_whole(next, "GET /ok  ");
    assert_int_equal(fake_http2_connections(x->server), 2);
}

static void bytes_that_are_not_http2_end_the_connection(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){0});
    get(x, &c, "/babble");
    run_until(x, c.done);
    assert_true(*c.error);
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_whole(c, "GET /ok  ");
}

static void a_server_with_only_http1_works(void **state)
{
    struct fixture *x = *state;
    struct call calls[3] = {{0}};
    serve_with(x, (struct fake_http2_options){.only_http1 = true});
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        get(x, &calls[i], "/ok");
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        run_until(x, calls[i].done);
        assert_whole(calls[i], "old");
    }
    unsigned connections = fake_http2_connections(x->server);
    get(x, &calls[0], "/ok");
    run_until(x, calls[0].done);
    assert_whole(calls[0], "old");
    assert_int_equal(fake_http2_connections(x->server), connections); /* connections are reused */
}

/* ---- identities of client and server ---- */

static void after_401_the_token_file_is_read_again_once(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    char path[] = "/tmp/muster-token-XXXXXX";
    int fd = mkstemp(path);
    assert_true(write(fd, "old", 3) == 3);
    serve_with(x, (struct fake_http2_options){0});
    client_free(x->client);
    struct kubeconfig *kc = fake_http2_kubeconfig(x->server);
    kc->token_file = xstrdup(path);
    begin(x, kc);
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_int_equal(c.status, 401);
    assert_int_equal(fake_http2_requests(x->server), 2);
    assert_true(pwrite(fd, "new", 3, 0) == 3);
    send_as(x, &c, (struct client_request){.path = "/ok", .body = "{}"});
    run_until(x, c.done);
    assert_whole(c, "POST /ok Bearer new {}");
    close(fd);
    unlink(path);
}

/* A client whose certificate is in a file; x->kc is its kubeconfig. */
static void begin_with_file(struct fixture *x, const char *path, struct fake_http2_options options)
{
    serve_with(x, options);
    client_free(x->client);
    x->kc = fake_http2_kubeconfig(x->server);
    x->kc->cert.path = xstrdup(path);
    x->kc->key.path = xstrdup(path);
    begin(x, x->kc);
}

static void new_file(char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static void after_401_a_renewed_certificate_is_used(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    char path[] = "/tmp/muster-cert-XXXXXX";
    new_file(path);
    fake_http2_certify("old", path);
    begin_with_file(x, path, (struct fake_http2_options){0});
    get(x, &c, "/who");
    run_until(x, c.done);
    assert_int_equal(c.status, 401); /* the file has no other certificate */
    fake_http2_certify("new", path);
    send_as(x, &c, (struct client_request){.path = "/who", .body = "{}"});
    run_until(x, c.done);
    assert_whole(c, "new: POST /who  {}");
    assert_int_equal(fake_http2_connections(x->server), 2);
    unlink(path);
}

static void a_renewed_certificate_is_used_before_the_old_one_expires(void **state)
{
    struct fixture *x = *state;
    struct call slow = {0}, next = {0};
    char path[] = "/tmp/muster-cert-XXXXXX";
    new_file(path);
    fake_http2_certify("first", path);
    begin_with_file(x, path, (struct fake_http2_options){0});
    get(x, &next, "/who");
    run_until(x, next.done);
    assert_whole(next, "first: GET /who  ");
    fake_http2_certify("second", path);
    get(x, &slow, "/slow");
    client_run(x->client, 0, x->fd);
    x->kc->read_at -= 60 * USEC_PER_SEC; /* a minute passes */
    get(x, &next, "/who");
    run_until(x, next.done);
    assert_whole(next, "second: GET /who  ");
    assert_false(slow.done);
    fake_http2_release(x->server);
    run_until(x, slow.done); /* it ends on its old connection, which then closes */
    assert_whole(slow, "GET /slow  ");
    run_until(x, fake_http2_open(x->server) == 1);
    assert_int_equal(fake_http2_connections(x->server), 2);
    unlink(path);
}

static void a_renewed_certificate_is_used_over_http1(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    char path[] = "/tmp/muster-cert-XXXXXX";
    new_file(path);
    fake_http2_certify("first", path);
    begin_with_file(x, path, (struct fake_http2_options){.only_http1 = true});
    for (int alone = 0; alone < 2; alone++) { /* lists and watches have a connection of their own */
        send_as(x, &c, (struct client_request){.path = "/ok", .alone = alone});
        run_until(x, c.done);
        assert_whole(c, "oldfirst");
    }
    unsigned connections = fake_http2_connections(x->server);
    fake_http2_certify("second", path);
    x->kc->read_at -= 60 * USEC_PER_SEC;
    client_run(x->client, 0, x->fd);
    for (int alone = 0; alone < 2; alone++) {
        send_as(x, &c, (struct client_request){.path = "/ok", .alone = alone});
        run_until(x, c.done);
        assert_whole(c, "oldsecond");
    }
    assert_int_equal(fake_http2_connections(x->server), connections + 1);
    unlink(path);
}

static void a_renewed_certificate_authority_is_trusted(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    char path[] = "/tmp/muster-ca-XXXXXX";
    new_file(path);
    fake_http2_certify("somebody", path);
    serve_with(x, (struct fake_http2_options){0});
    client_free(x->client);
    struct kubeconfig *kc = fake_http2_kubeconfig(x->server);
    struct kubeconfig_pem right = kc->ca;
    kc->ca = (struct kubeconfig_pem){.path = xstrdup(path)};
    begin(x, kc);
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_non_null(strstr(c.error, "certificate"));
    FILE *f = fopen(path, "we");
    fwrite(right.data, right.len, 1, f);
    fclose(f);
    free(right.data);
    get(x, &c, "/ok"); /* at once: the failure makes the client read the file */
    run_until(x, c.done);
    assert_whole(c, "GET /ok  ");
    unlink(path);
}

static void a_certificate_of_another_authority_is_not_trusted(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    struct fake_http2 *other = fake_http2_start(&(struct fake_http2_options){0});
    serve_with(x, (struct fake_http2_options){0});
    client_free(x->client);
    struct kubeconfig *kc = fake_http2_kubeconfig(x->server),
                      *theirs = fake_http2_kubeconfig(other);
    free(kc->ca.data);
    kc->ca = theirs->ca;
    theirs->ca = (struct kubeconfig_pem){0};
    kubeconfig_free(theirs);
    begin(x, kc);
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_non_null(strstr(c.error, "certificate"));
    assert_int_equal(fake_http2_requests(x->server), 0);
    fake_http2_stop(other);
}

static void the_server_name_in_the_kubeconfig_is_verified(void **state)
{
    struct fixture *x = *state;
    struct call c = {0};
    serve_with(x, (struct fake_http2_options){.name = "kubernetes.example"});
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_whole(c, "GET /ok  ");
    client_free(x->client);
    struct kubeconfig *kc = fake_http2_kubeconfig(x->server);
    free(STEAL(kc->tls_server_name));
    begin(x, kc);
    get(x, &c, "/ok");
    run_until(x, c.done);
    assert_true(*c.error);
}

static void a_refused_connection_is_an_error_for_every_waiting_call(void **state)
{
    struct fixture *x = *state;
    struct call a = {0}, b = {0};
    serve_with(x, (struct fake_http2_options){0});
    fake_http2_stop(STEAL(x->server));
    get(x, &a, "/ok");
    get(x, &b, "/ok");
    run_until(x, a.done && b.done);
    assert_true(*a.error && *b.error);
    assert_int_equal(a.status, 0);
}

/* ---- cancelling ---- */

static void a_cancelled_call_reports_nothing_at_any_stage(void **state)
{
    struct fixture *x = *state;
    struct call never = {0}, hang = {0}, last = {0};
    serve_with(x, (struct fake_http2_options){.streams = 1});
    get(x, &never, "/ok"); /* before there is a connection */
    client_cancel(x->client, never.call);
    get(x, &last, "/ok");
    run_until(x, last.done);
    get(x, &hang, "/hang");
    run_until(x, fake_http2_requests(x->server) == 2);
    get(x, &never, "/ok"); /* waits behind the server's limit */
    client_run(x->client, 0, x->fd);
    client_cancel(x->client, never.call);
    client_cancel(x->client, hang.call); /* under way */
    get(x, &last, "/ok");
    run_until(x, last.done);
    assert_whole(last, "GET /ok  ");
    assert_false(never.done || hang.done);
    assert_int_equal(fake_http2_requests(x->server), 3);
}

/* Both replies may arrive in one read. */
static void a_reply_may_cancel_another_call(void **state)
{
    struct fixture *x = *state;
    serve_with(x, (struct fake_http2_options){0});
    for (int i = 0; i < 50; i++) {
        struct call first = {0}, second = {0};
        first.then_cancel = &second;
        second.then_cancel = &first;
        get(x, &first, "/ok");
        get(x, &second, "/ok");
        run_until(x, !first.call && !second.call);
        assert_true(first.done != second.done);
    }
}

static void freeing_the_client_makes_no_callbacks(void **state)
{
    struct fixture *x = *state;
    struct call calls[4] = {{0}};
    serve_with(x, (struct fake_http2_options){.streams = 2});
    get(x, &calls[0], "/ok");
    run_until(x, calls[0].done);
    get(x, &calls[1], "/hang");
    get(x, &calls[2], "/hang");
    run_until(x, fake_http2_requests(x->server) == 3);
    get(x, &calls[3], "/ok");
    client_run(x->client, 0, x->fd);
    x->client = client_free(x->client);
    assert_false(calls[1].done || calls[2].done || calls[3].done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_requests_share_one_connection),
        TEST(the_body_and_the_token_are_sent),
        TEST(the_path_in_the_servers_url_is_kept),
        TEST(statuses_are_reported),
        TEST(calls_beyond_the_servers_limit_of_streams_wait),
        TEST(a_reply_above_the_bound_is_an_error),
        TEST(a_large_body_is_sent_completely),
        TEST(a_timeout_ends_a_call_and_resets_its_stream),
        TEST(a_silent_connection_is_replaced),
        TEST(a_refused_stream_is_sent_again),
        TEST(a_call_fails_when_its_stream_is_always_refused),
        TEST(after_goaway_a_new_connection_is_used),
        TEST(requests_refused_by_goaway_get_a_new_connection),
        TEST(calls_under_way_at_goaway_are_still_answered),
        TEST(a_reset_stream_is_an_error),
        TEST(a_lost_connection_ends_all_its_calls),
        TEST(bytes_that_are_not_http2_end_the_connection),
        TEST(a_server_with_only_http1_works),
        TEST(after_401_the_token_file_is_read_again_once),
        TEST(after_401_a_renewed_certificate_is_used),
        TEST(a_renewed_certificate_is_used_before_the_old_one_expires),
        TEST(a_renewed_certificate_is_used_over_http1),
        TEST(a_renewed_certificate_authority_is_trusted),
        TEST(a_certificate_of_another_authority_is_not_trusted),
        TEST(the_server_name_in_the_kubeconfig_is_verified),
        TEST(a_refused_connection_is_an_error_for_every_waiting_call),
        TEST(a_cancelled_call_reports_nothing_at_any_stage),
        TEST(a_reply_may_cancel_another_call),
        TEST(freeing_the_client_makes_no_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
