/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/fake_client.h"

#include "base/list.h"
#include "k8s/client/client_internal.h"

/* Only the parts of the real client that are used here: calls, timers, random numbers. */

struct client *fake_client_new(void)
{
    struct client *c = xcalloc(1, sizeof *c);
    list_init(&c->calls);
    c->random = 1;
    return c;
}

void fake_client_free(struct client *c)
{
    HOLDS(list_empty(&c->calls), "calls are left");
    heap_done(&c->timers);
    free(c);
}

static void call_free(struct client_call *call)
{
    list_remove(&call->link);
    buf_done(&call->reply);
    free(call->path);
    free(call->body);
    free(call);
}

struct client_call *fake_client_oldest(struct client *c)
{
    return list_empty(&c->calls) ? NULL : CONTAINER_OF(c->calls.next, struct client_call, link);
}

size_t fake_client_open(const struct client *c)
{
    size_t n = 0;
    list_for_each (call, &c->calls, struct client_call, link)
        n++;
    return n;
}

const char *fake_call_path(const struct client_call *call)
{
    return call->path;
}

static bool stream(struct client_call *call, const char *body, size_t len, size_t most)
{
    struct fuzz_dice dice = fuzz_dice((const uint8_t *)body, len);
    for (size_t at = 0, n; at < len; at += n) {
        n = most ? fuzz_roll(&dice, most) + 1 : len;
        n = n < len - at ? n : len - at;
        cleanup_free char *piece = xmalloc(n);
        memcpy(piece, body + at, n);
        if (!call->data(call->arg, piece, n))
            return false;
    }
    return true;
}

void fake_client_answer(struct client *c, struct client_call *call, long status, const char *body,
                        size_t len, size_t most)
{
    struct client_reply reply = {.status = status, .error = status ? NULL : "connection reset"};
    (void)c;
    call->stream.status = status;
    if (call->data && status == 200) {
        if (!stream(call, body, len, most))
            reply.error = "no more of it is wanted";
    } else if (len > call->max_body) {
        reply.too_large = true;
        reply.error = "the reply is too large";
    } else {
        buf_append(&call->reply, body, len);
    }
    client_make_readable(&call->reply);
    reply.body = buf_str(&call->reply);
    reply.len = call->reply.len;
    /* `done` may send another call. It may not cancel this one, which is no longer open. */
    list_remove(&call->link);
    call->done(call->arg, &reply);
    call_free(call);
}

bool fake_client_tick(struct client *c)
{
    struct heap_node *n = heap_top(&c->timers);
    if (!n)
        return false;
    struct client_timer *t = CONTAINER_OF(n, struct client_timer, node);
    fuzz_time = n->at > fuzz_time ? n->at : fuzz_time;
    heap_remove(&c->timers, n);
    t->fire(t->arg);
    return true;
}

bool fake_reply_next(const char **p, const char *end, struct fake_reply *ret)
{
    static const char between[] = "\n--\n";
    if (*p >= end)
        return false;
    const char *cut = memmem(*p, (size_t)(end - *p), between, strlen(between));
    const char *at = *p, *to = cut ? cut : end;
    *p = cut ? cut + strlen(between) : end;
    ret->status = 0;
    for (int i = 0; i < 3 && at < to && *at >= '0' && *at <= '9'; i++)
        ret->status = ret->status * 10 + (*at++ - '0');
    at += at < to && *at == ' ';
    ret->body = at;
    ret->len = (size_t)(to - at);
    return true;
}

/* ---- replaces k8s/client/client.c ---- */

struct client_call *client_send(struct client *c, const struct client_request *request)
{
    struct client_call *call = xcalloc(1, sizeof *call);
    HOLDS(request->path[0] == '/' && request->done && request->method, "half a request");
    call->client = c;
    call->path = xstrdup(request->path);
    call->body = xstrdup_null(request->body);
    call->data = request->data;
    call->done = request->done;
    call->arg = request->arg;
    call->max_body = request->max_body ? request->max_body : (size_t)1 << 20;
    if (call->body)
        json_decref(fuzz_json("what is sent", call->body, strlen(call->body)));
    list_push(&c->calls, &call->link);
    return call;
}

long client_status(const struct client_call *call)
{
    return call->stream.status;
}

void client_cancel(struct client *c, struct client_call *call)
{
    (void)c;
    call_free(call);
}

void client_timer_set(struct client *c, struct client_timer *t, usec_t at)
{
    heap_set(&c->timers, &t->node, at);
}

void client_timer_clear(struct client *c, struct client_timer *t)
{
    heap_remove(&c->timers, &t->node);
}

uint32_t client_random(struct client *c)
{
    c->random = c->random * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(c->random >> 32);
}

usec_t client_backoff(struct client *c, int n, usec_t first, usec_t most)
{
    (void)c;
    return usec_backoff(first, most, n);
}

/* The module of `muster ungate` refers to these. No target calls them. */

struct client *client_new(struct kubeconfig *kc, const char *user_agent,
                          struct api_metrics *metrics, struct err *err)
{
    (void)user_agent;
    (void)metrics;
    kubeconfig_free(kc);
    err_set(err, ERR_UNSUPPORTED, "fuzz targets have no network");
    return NULL;
}

struct client *client_free(struct client *c)
{
    return c;
}

void client_run(struct client *c, usec_t limit, int fd)
{
    (void)c;
    (void)limit;
    (void)fd;
}
