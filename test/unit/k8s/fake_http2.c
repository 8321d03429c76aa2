/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_http2.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"

#define MAX_CONNECTIONS 64

struct fake_http2 {
    struct fake_http2_options o;
    SSL_CTX *tls;
    struct buf ca;
    int listener, port;
    pthread_t accepting, serving[MAX_CONNECTIONS];
    /* shared */
    pthread_mutex_t lock;
    int sockets[MAX_CONNECTIONS];
    unsigned connections, requests, peak, taken_back, refused, released;
    bool stopping;
};

struct peer {
    struct fake_http2 *f;
    SSL *ssl;
    int fd;
    nghttp2_session *session;
    char client[64]; /* the name in the client's certificate */
    unsigned streams, requests;
    bool cut, deaf, bye;
};

struct stream {
    struct buf method, path, auth, body;
    struct buf reply;
    size_t at;
    bool reset_behind; /* the body ends in an error */
};

static unsigned count(struct fake_http2 *f, unsigned *n)
{
    pthread_mutex_lock(&f->lock);
    unsigned value = ++*n;
    pthread_mutex_unlock(&f->lock);
    return value;
}

static unsigned read_count(struct fake_http2 *f, const unsigned *n)
{
    pthread_mutex_lock(&f->lock);
    unsigned value = *n;
    pthread_mutex_unlock(&f->lock);
    return value;
}

/* ---- certificate ---- */

static X509 *make_certificate(const char *name, EVP_PKEY *key, const char *valid_for)
{
    X509 *cert = X509_new();
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(cert));
    X509_set_pubkey(cert, key);
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, valid_for);
    X509_EXTENSION *is_ca = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "CA:TRUE");
    X509_add_ext(cert, names, -1);
    X509_add_ext(cert, is_ca, -1);
    X509_sign(cert, key, EVP_sha256());
    X509_EXTENSION_free(names);
    X509_EXTENSION_free(is_ca);
    return cert;
}

static void certify_server(struct fake_http2 *f)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    cleanup_free char *names = f->o.name ? xasprintf("DNS:%s", f->o.name) : xstrdup("IP:127.0.0.1");
    X509 *cert = make_certificate("fake", key, names);
    SSL_CTX_use_certificate(f->tls, cert);
    SSL_CTX_use_PrivateKey(f->tls, key);
    BIO *out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(out, cert);
    char *pem;
    long len = BIO_get_mem_data(out, &pem);
    buf_append(&f->ca, pem, (size_t)len);
    BIO_free(out);
    X509_free(cert);
    EVP_PKEY_free(key);
}

void fake_http2_certify(const char *name, const char *path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = make_certificate(name, key, "DNS:client");
    FILE *f = fopen(path, "we");
    if (!f || !PEM_write_X509(f, cert) ||
        !PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) || fclose(f) != 0)
        abort();
    X509_free(cert);
    EVP_PKEY_free(key);
}

/* Accepts every client certificate. */
static int take_any(int ok, X509_STORE_CTX *ctx)
{
    (void)ok;
    (void)ctx;
    return 1;
}

static void ask_name(SSL *ssl, char *name, int size)
{
    X509 *cert = SSL_get1_peer_certificate(ssl);
    name[0] = '\0';
    if (cert)
        X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, size);
    X509_free(cert);
}

static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned len, void *arg)
{
    (void)ssl;
    const struct fake_http2 *f = arg;
    const char *want = f->o.only_http1 ? "http/1.1" : "h2";
    for (unsigned i = 0; i < len; i += in[i] + 1u)
        if (in[i] == strlen(want) && memcmp(in + i + 1, want, in[i]) == 0) {
            *out = in + i + 1;
            *out_len = in[i];
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_NOACK;
}

/* ---- replies ---- */

static ssize_t read_reply(nghttp2_session *session, int32_t id, uint8_t *out, size_t room,
                          uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    (void)session;
    (void)id;
    (void)arg;
    struct stream *s = source->ptr;
    size_t n = s->reply.len - s->at < room ? s->reply.len - s->at : room;
    if (n == 0 && s->reset_behind)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    memcpy(out, buf_str(&s->reply) + s->at, n);
    s->at += n;
    if (s->at == s->reply.len && !s->reset_behind)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static nghttp2_nv status_header(char *text)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t) ":status",
                        .namelen = 7,
                        .value = (uint8_t *)text,
                        .valuelen = strlen(text)};
}

static void answer(struct peer *p, int32_t id, struct stream *s, const char *status)
{
    char text[8];
    snprintf(text, sizeof text, "%s", status);
    nghttp2_nv header = status_header(text);
    nghttp2_data_provider body = {.source.ptr = s, .read_callback = read_reply};
    nghttp2_submit_response(p->session, id, &header, 1, &body);
}

static const char *after(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(path, prefix, n) == 0 ? path + n : NULL;
}

static void say_hints(struct peer *p, int32_t id)
{
    char text[] = "103";
    nghttp2_nv header = status_header(text);
    nghttp2_submit_headers(p->session, NGHTTP2_FLAG_NONE, id, NULL, &header, 1, NULL);
}

static bool refuses(struct peer *p, int32_t id, const char *times)
{
    if (!times || count(p->f, &p->f->refused) > (unsigned)atoi(times))
        return false;
    nghttp2_submit_rst_stream(p->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    return true;
}

static void say_goodbye(struct peer *p, int32_t last)
{
    p->bye = true;
    nghttp2_submit_goaway(p->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0);
}

static void await_release(struct fake_http2 *f)
{
    for (int ms = 0; ms < 60000 && !read_count(f, &f->released); ms++)
        usleep(1000);
}

void fake_http2_release(struct fake_http2 *f)
{
    count(f, &f->released);
}

static void respond(struct peer *p, int32_t id, struct stream *s)
{
    const char *path = buf_str(&s->path), *n;
    if (p->bye)
        return; /* ignored */
    if (after(path, "/who"))
        buf_printf(&s->reply, "%s: ", p->client);
    if (after(path, "/slow"))
        await_release(p->f);
    buf_printf(&s->reply, "%s %s %s %s", buf_str(&s->method), path, buf_str(&s->auth),
               buf_str(&s->body));
    count(p->f, &p->f->requests);
    p->requests++;
    if (strcmp(buf_str(&s->auth), "Bearer old") == 0 || strcmp(p->client, "old") == 0) {
        answer(p, id, s, "401");
    } else if (after(path, "/hang") || refuses(p, id, after(path, "/refuse/"))) {
        return;
    } else if (after(path, "/cut")) {
        p->cut = true;
    } else if (after(path, "/leave")) {
        say_goodbye(p, id);
    } else if (after(path, "/deaf")) {
        p->deaf = true;
    } else if (after(path, "/babble")) {
        SSL_write(p->ssl, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
    } else if ((n = after(path, "/status/")) != NULL) {
        answer(p, id, s, n);
    } else {
        if ((n = after(path, "/big/")) != NULL)
            buf_printf(&s->reply, "%0*d", atoi(n), 0);
        if (after(path, "/early"))
            say_hints(p, id);
        s->reset_behind = after(path, "/reset") != NULL;
        answer(p, id, s, "200");
        if (after(path, "/bye") || (p->f->o.max_requests && p->requests >= p->f->o.max_requests))
            say_goodbye(p, id);
    }
}

/* ---- nghttp2 ---- */

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct peer *p = arg;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id,
                                         xcalloc(1, sizeof(struct stream)));
    pthread_mutex_lock(&p->f->lock);
    if (++p->streams > p->f->peak)
        p->f->peak = p->streams;
    pthread_mutex_unlock(&p->f->lock);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
    (void)flags;
    (void)arg;
    struct stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)name_len; /* nghttp2 adds a NUL to both */
    const char *key = (const char *)name;
    if (s && strcmp(key, ":method") == 0)
        buf_append(&s->method, value, len);
    if (s && strcmp(key, ":path") == 0)
        buf_append(&s->path, value, len);
    if (s && strcmp(key, "authorization") == 0)
        buf_append(&s->auth, value, len);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t len, void *arg)
{
    (void)flags;
    (void)arg;
    struct stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s)
        buf_append(&s->body, data, len);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct peer *p = arg;
    if (frame->hd.type == NGHTTP2_RST_STREAM)
        count(p->f, &p->f->taken_back);
    bool content = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    struct stream *s =
        content ? nghttp2_session_get_stream_user_data(session, frame->hd.stream_id) : NULL;
    if (s && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        respond(p, frame->hd.stream_id, s);
    return 0;
}

static void stream_free(struct stream *s)
{
    struct buf *all[] = {&s->method, &s->path, &s->auth, &s->body, &s->reply};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        buf_done(all[i]);
    free(s);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    (void)code;
    struct peer *p = arg;
    struct stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s) {
        nghttp2_session_set_stream_user_data(session, id, NULL);
        stream_free(s);
        p->streams--;
    }
    return 0;
}

static ssize_t on_send(nghttp2_session *session, const uint8_t *data, size_t len, int flags,
                       void *arg)
{
    (void)session;
    (void)flags;
    const struct peer *p = arg;
    int n = SSL_write(p->ssl, data, (int)len);
    return n > 0 ? n : NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* Streams that are still open when the connection ends are freed by their close callback as well.
 */
static void end_streams(struct peer *p)
{
    for (int32_t id = 1; id < 4000; id += 2)
        on_close(p->session, id, 0, p);
}

static void speak_http2(struct peer *p)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_send_callback(callbacks, on_send);
    nghttp2_session_server_new(&p->session, callbacks, p);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_settings_entry settings = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                       p->f->o.streams ? p->f->o.streams : 100};
    nghttp2_submit_settings(p->session, NGHTTP2_FLAG_NONE, &settings, 1);
    char data[16384];
    while (!p->cut && nghttp2_session_send(p->session) == 0 &&
           (nghttp2_session_want_read(p->session) || nghttp2_session_want_write(p->session))) {
        if (p->deaf) {
            struct pollfd gone = {.fd = p->fd}; /* until fake_http2_stop() */
            poll(&gone, 1, -1);
            break;
        }
        int n = SSL_read(p->ssl, data, sizeof data);
        if (n <= 0 || nghttp2_session_mem_recv(p->session, (uint8_t *)data, (size_t)n) < 0)
            break;
    }
    end_streams(p);
    nghttp2_session_del(p->session);
    /* A reset would lose what the server sent last, so the client closes first. */
    if (!p->cut && SSL_shutdown(p->ssl) >= 0)
        while (recv(p->fd, data, sizeof data, 0) > 0)
            continue;
}

/* ---- HTTP/1.1: requests without a body, one after the other ---- */

static void speak_http1(struct peer *p)
{
    char data[16384];
    int n;
    while ((n = SSL_read(p->ssl, data, sizeof data - 1)) > 0) {
        data[n] = '\0';
        count(p->f, &p->f->requests);
        cleanup_free char *reply = xasprintf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\nold%s",
                                             3 + strlen(p->client), p->client);
        SSL_write(p->ssl, reply, (int)strlen(reply));
    }
}

/* ---- connections ---- */

struct place {
    struct fake_http2 *f;
    unsigned at;
    int fd;
};

static void *serve(void *arg)
{
    struct place *place = arg;
    struct fake_http2 *f = place->f;
    struct peer p = {.f = f, .fd = place->fd, .ssl = SSL_new(f->tls)};
    SSL_set_fd(p.ssl, p.fd);
    if (SSL_accept(p.ssl) > 0) {
        ask_name(p.ssl, p.client, sizeof p.client);
        if (f->o.only_http1)
            speak_http1(&p);
        else
            speak_http2(&p);
    }
    SSL_free(p.ssl);
    pthread_mutex_lock(&f->lock);
    f->sockets[place->at] = -1;
    close(p.fd);
    pthread_mutex_unlock(&f->lock);
    free(place);
    return NULL;
}

static void *accept_all(void *arg)
{
    struct fake_http2 *f = arg;
    int fd;
    while ((fd = accept(f->listener, NULL, NULL)) >= 0) {
        pthread_mutex_lock(&f->lock);
        unsigned at = f->connections;
        bool room = at < MAX_CONNECTIONS && !f->stopping;
        if (room) {
            int on = 1; /* as kube-apiserver does */
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            struct place *place = xmalloc(sizeof *place);
            *place = (struct place){f, at, fd};
            f->sockets[at] = fd;
            f->connections++;
            pthread_create(&f->serving[at], NULL, serve, place);
        } else {
            close(fd);
        }
        pthread_mutex_unlock(&f->lock);
    }
    return NULL;
}

struct fake_http2 *fake_http2_start(const struct fake_http2_options *options)
{
    struct fake_http2 *f = xcalloc(1, sizeof *f);
    sigset_t pipe; /* when a client has gone; all threads inherit the mask */
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    f->o = *options;
    pthread_mutex_init(&f->lock, NULL);
    f->tls = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_alpn_select_cb(f->tls, select_protocol, f);
    /* A resumed session would report the identity of the earlier connection. */
    SSL_CTX_set_session_id_context(f->tls, (const unsigned char *)"fake", 4);
    SSL_CTX_set_verify(f->tls, SSL_VERIFY_PEER, take_any);
    certify_server(f);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(f->listener, (struct sockaddr *)&address, len) < 0 || listen(f->listener, 64) < 0 ||
        getsockname(f->listener, (struct sockaddr *)&address, &len) < 0)
        abort();
    f->port = ntohs(address.sin_port);
    pthread_create(&f->accepting, NULL, accept_all, f);
    return f;
}

void fake_http2_stop(struct fake_http2 *f)
{
    pthread_mutex_lock(&f->lock);
    f->stopping = true;
    for (unsigned i = 0; i < f->connections; i++)
        if (f->sockets[i] >= 0)
            shutdown(f->sockets[i], SHUT_RDWR);
    pthread_mutex_unlock(&f->lock);
    shutdown(f->listener, SHUT_RDWR);
    pthread_join(f->accepting, NULL);
    for (unsigned i = 0; i < f->connections; i++)
        pthread_join(f->serving[i], NULL);
    close(f->listener);
    SSL_CTX_free(f->tls);
    buf_done(&f->ca);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

struct kubeconfig *fake_http2_kubeconfig(const struct fake_http2 *f)
{
    struct kubeconfig *kc = xcalloc(1, sizeof *kc);
    kc->server = xasprintf("https://127.0.0.1:%d", f->port);
    kc->tls_server_name = xstrdup_null(f->o.name);
    kc->ca.data = xstrndup(f->ca.data, f->ca.len);
    kc->ca.len = f->ca.len;
    return kc;
}

unsigned fake_http2_connections(struct fake_http2 *f)
{
    return read_count(f, &f->connections);
}

unsigned fake_http2_open(struct fake_http2 *f)
{
    unsigned n = 0;
    pthread_mutex_lock(&f->lock);
    for (unsigned i = 0; i < f->connections; i++)
        n += f->sockets[i] >= 0;
    pthread_mutex_unlock(&f->lock);
    return n;
}

unsigned fake_http2_requests(struct fake_http2 *f)
{
    return read_count(f, &f->requests);
}

unsigned fake_http2_peak(struct fake_http2 *f)
{
    return read_count(f, &f->peak);
}

unsigned fake_http2_taken_back(struct fake_http2 *f)
{
    return read_count(f, &f->taken_back);
}
