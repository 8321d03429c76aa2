/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_api.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>

#include "base/list.h"
#include "base/map.h"

struct answer {
    struct list link;
    unsigned status;
    char *body;
    size_t len;
    bool stream, late;
    enum fake_then then;
};

struct request {
    char *query, *body, *authorization;
    size_t order;
};

struct stream {
    struct buf text;
    enum fake_then then;
};

struct route {
    struct list answers;
    struct request *requests;
    size_t n, cap, now, peak;
    struct stream *open; /* the latest stream */
};

struct fake_api {
    struct MHD_Daemon *daemon;
    char url[64];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct map routes;
    struct stream *streams[256];
    size_t n_streams, n_requests;
    bool stopping, released;
    const char *date; /* NULL: now */
};

struct upload {
    struct buf body;
    struct route *route;
};

/* All functions below that end in _locked are called with the lock held. */
static struct route *route_locked(struct fake_api *f, const char *name)
{
    struct route *r = map_get(&f->routes, name);
    if (!r) {
        r = xcalloc(1, sizeof *r);
        list_init(&r->answers);
        map_set(&f->routes, name, r);
    }
    return r;
}

static int put_query(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    buf_printf(arg, "%s%s=%s", ((struct buf *)arg)->len ? "&" : "", key, value ? value : "");
    return MHD_YES;
}

static ssize_t read_stream(void *arg, uint64_t pos, char *out, size_t max)
{
    struct stream *s = ((void **)arg)[0];
    struct fake_api *f = ((void **)arg)[1];
    ssize_t n;
    pthread_mutex_lock(&f->lock);
    while (pos >= s->text.len && s->then == FAKE_OPEN && !f->stopping)
        pthread_cond_wait(&f->changed, &f->lock);
    if (pos < s->text.len) {
        n = (ssize_t)(s->text.len - pos < max ? s->text.len - pos : max);
        memcpy(out, s->text.data + pos, (size_t)n);
    } else {
        n = s->then == FAKE_END ? MHD_CONTENT_READER_END_OF_STREAM
                                : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    pthread_mutex_unlock(&f->lock);
    return n;
}

static struct MHD_Response *stream_locked(struct fake_api *f, struct route *r,
                                          const struct answer *a)
{
    struct stream *s = xcalloc(1, sizeof *s);
    if (a) {
        buf_append(&s->text, a->body, a->len);
        s->then = a->then;
    }
    r->open = s;
    if (f->n_streams == ARRAY_SIZE(f->streams))
        abort();
    f->streams[f->n_streams++] = s;
    void **arg = xmalloc(2 * sizeof *arg);
    arg[0] = s;
    arg[1] = f;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, arg, free);
}

static void record_locked(struct fake_api *f, struct route *r, struct MHD_Connection *c,
                          struct upload *u)
{
    struct buf query = BUF_INIT;
    MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, (MHD_KeyValueIterator)put_query, &query);
    const char *auth = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    GROW(r->requests, r->cap, r->n + 1);
    r->requests[r->n++] = (struct request){buf_steal(&query), buf_steal(&u->body),
                                           xstrdup(auth ? auth : ""), f->n_requests++};
    u->route = r;
    if (++r->now > r->peak)
        r->peak = r->now;
}

static char *bytes_dup(const char *bytes, size_t len)
{
    char *copy = xmalloc(len + 1);
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

/* The next answer. The last one is used again and again. */
static const struct answer *answer_locked(struct route *r, struct answer *copy)
{
    if (list_empty(&r->answers))
        return NULL;
    struct answer *a = CONTAINER_OF(r->answers.next, struct answer, link);
    *copy = *a;
    copy->body = bytes_dup(a->body, a->len);
    if (a->link.next != &r->answers) {
        list_remove(&a->link);
        free(a->body);
        free(a);
    }
    return copy;
}

static enum MHD_Result reply(struct fake_api *f, struct MHD_Connection *c, const char *method,
                             const char *path, struct upload *u)
{
    bool watch = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "watch") != NULL;
    cleanup_free char *name = xasprintf("%s %s", watch ? "WATCH" : method, path);
    struct answer copy;
    unsigned status = 200;
    struct MHD_Response *response;
    pthread_mutex_lock(&f->lock);
    struct route *r = route_locked(f, name);
    record_locked(f, r, c, u);
    const struct answer *a = answer_locked(r, &copy);
    while (a && a->late && !f->released && !f->stopping)
        pthread_cond_wait(&f->changed, &f->lock);
    if (a ? a->stream : watch) {
        response = stream_locked(f, r, a);
    } else {
        const char *body = a ? a->body : "404 page not found";
        status = a ? a->status : 404;
        response = MHD_create_response_from_buffer(a ? a->len : strlen(body),
                                                   (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    }
    if (f->date)
        MHD_add_response_header(response, "Date", f->date);
    pthread_mutex_unlock(&f->lock);
    if (a)
        free(copy.body);
    enum MHD_Result result = MHD_queue_response(c, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *len, void **request)
{
    (void)version;
    if (!*request) {
        *request = xcalloc(1, sizeof(struct upload));
        return MHD_YES;
    }
    struct upload *u = *request;
    if (*len > 0) {
        buf_append(&u->body, data, *len);
        *len = 0;
        return MHD_YES;
    }
    return reply(arg, c, method, path, u);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **request,
                         enum MHD_RequestTerminationCode code)
{
    (void)c;
    (void)code;
    struct fake_api *f = arg;
    struct upload *u = *request;
    if (!u)
        return;
    pthread_mutex_lock(&f->lock);
    if (u->route)
        u->route->now--;
    pthread_mutex_unlock(&f->lock);
    buf_done(&u->body);
    free(u);
}

struct fake_api *fake_start(void)
{
    struct fake_api *f = xcalloc(1, sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    f->daemon = MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, 0,
                                 NULL, NULL, on_request, f, MHD_OPTION_NOTIFY_COMPLETED,
                                 on_completed, f, MHD_OPTION_SOCK_ADDR, &address,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_END);
    if (!f->daemon)
        abort();
    snprintf(f->url, sizeof f->url, "http://127.0.0.1:%d",
             MHD_get_daemon_info(f->daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    return f;
}

static void route_free(struct route *r)
{
    list_for_each_safe (a, &r->answers, struct answer, link) {
        free(a->body);
        free(a);
    }
    for (size_t i = 0; i < r->n; i++) {
        free(r->requests[i].query);
        free(r->requests[i].body);
        free(r->requests[i].authorization);
    }
    free(r->requests);
    free(r);
}

void fake_stop(struct fake_api *f)
{
    pthread_mutex_lock(&f->lock);
    f->stopping = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    MHD_stop_daemon(f->daemon);
    map_for_each (e, &f->routes)
        route_free(e->value);
    map_done(&f->routes);
    for (size_t i = 0; i < f->n_streams; i++) {
        buf_done(&f->streams[i]->text);
        free(f->streams[i]);
    }
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f);
}

const char *fake_url(const struct fake_api *f)
{
    return f->url;
}

struct kubeconfig *fake_kubeconfig(const struct fake_api *f)
{
    struct kubeconfig *kc = xcalloc(1, sizeof *kc);
    kc->server = xstrdup(f->url);
    return kc;
}

static void add_bytes(struct fake_api *f, const char *route, struct answer a, const char *body,
                      size_t len)
{
    struct answer *copy = xmalloc(sizeof *copy);
    *copy = a;
    copy->body = bytes_dup(body, len);
    copy->len = len;
    pthread_mutex_lock(&f->lock);
    list_push(&route_locked(f, route)->answers, &copy->link);
    pthread_mutex_unlock(&f->lock);
}

static void add_answer(struct fake_api *f, const char *route, struct answer a, const char *body)
{
    add_bytes(f, route, a, body, strlen(body));
}

void fake_answer_bytes(struct fake_api *f, const char *route, const char *body, size_t len)
{
    add_bytes(f, route, (struct answer){.status = 200}, body, len);
}

void fake_answer(struct fake_api *f, const char *route, unsigned status, const char *body)
{
    add_answer(f, route, (struct answer){.status = status}, body);
}

void fake_date(struct fake_api *f, const char *date)
{
    pthread_mutex_lock(&f->lock);
    f->date = date;
    pthread_mutex_unlock(&f->lock);
}

void fake_answer_late(struct fake_api *f, const char *route, unsigned status, const char *body)
{
    add_answer(f, route, (struct answer){.status = status, .late = true}, body);
}

void fake_release(struct fake_api *f)
{
    pthread_mutex_lock(&f->lock);
    f->released = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

void fake_stream(struct fake_api *f, const char *route, const char *text, enum fake_then then)
{
    add_answer(f, route, (struct answer){.status = 200, .stream = true, .then = then}, text);
}

void fake_push_bytes(struct fake_api *f, const char *route, const char *bytes, size_t len,
                     enum fake_then then)
{
    pthread_mutex_lock(&f->lock);
    struct stream *s = route_locked(f, route)->open;
    if (!s)
        abort(); /* the test must wait for the watch first */
    buf_append(&s->text, bytes, len);
    s->then = then;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

void fake_push(struct fake_api *f, const char *route, const char *text, enum fake_then then)
{
    fake_push_bytes(f, route, text, strlen(text), then);
}

size_t fake_count(struct fake_api *f, const char *route)
{
    pthread_mutex_lock(&f->lock);
    size_t n = route_locked(f, route)->n;
    pthread_mutex_unlock(&f->lock);
    return n;
}

size_t fake_peak(struct fake_api *f, const char *route)
{
    pthread_mutex_lock(&f->lock);
    size_t n = route_locked(f, route)->peak;
    pthread_mutex_unlock(&f->lock);
    return n;
}

static struct request request_at(struct fake_api *f, const char *route, size_t n)
{
    static char none[] = "";
    struct request r = {none, none, none, SIZE_MAX};
    pthread_mutex_lock(&f->lock);
    const struct route *at = route_locked(f, route);
    if (n < at->n)
        r = at->requests[n];
    pthread_mutex_unlock(&f->lock);
    return r;
}

const char *fake_query(struct fake_api *f, const char *route, size_t n)
{
    return request_at(f, route, n).query;
}

const char *fake_body(struct fake_api *f, const char *route, size_t n)
{
    return request_at(f, route, n).body;
}

const char *fake_authorization(struct fake_api *f, const char *route, size_t n)
{
    return request_at(f, route, n).authorization;
}

size_t fake_order(struct fake_api *f, const char *route, size_t n)
{
    return request_at(f, route, n).order;
}
