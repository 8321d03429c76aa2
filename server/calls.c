/* SPDX-License-Identifier: Apache-2.0 */
#include "server/calls.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/json_mend.h"
#include "base/log.h"
#include "config/scheduler_config.h"

/* An id is a serial number above and a place in the table below. */
#define SLOT_BITS 20
#define SLOT_MASK ((UINT64_C(1) << SLOT_BITS) - 1)

/* ---- on the listener's threads ---- */

static void handle(void *arg, struct http_request *r);

#define X(id, name) {SCHEDULER_CONFIG_PATH "/" name, "POST", handle, EXTENDER_##id},
const struct http_route calls_routes[] = {EXTENDER_VERBS(X)};
#undef X
const size_t calls_n_routes = ARRAY_SIZE(calls_routes);

static enum extender_verb verb_of(const struct http_route *route)
{
    return (enum extender_verb)route->tag;
}

static void free_call(void *user)
{
    struct call *call = user;
    node_stream_drop(&call->stream);
    extender_args_done(&call->args);
    free(call);
}

/* For the next call in the same block. */
static void rest_call(void *user)
{
    struct call *call = user;
    node_stream_drop(&call->stream);
    extender_args_rest(&call->args, HTTP_KEPT);
    *call = (struct call){.args = call->args};
}

/* Nanoseconds that the call took so far, without waiting for its bytes. */
static int64_t work_on(const struct http_request *r)
{
    return r->spent + nsec_now() - r->whole;
}

/* Answers on the listener's thread, without the core. */
static void fail(struct http_request *r, struct metrics *m, enum metric_outcome outcome,
                 const char *why)
{
    int status = extender_write_failure(verb_of(r->route), why, &r->reply);
    metrics_call(m, verb_of(r->route), outcome, r->bytes, usec_now() - r->started, -1, work_on(r));
    http_answer(r, status, HTTP_JSON);
}

static void not_understood(struct call *call, const char *error)
{
    struct http_request *r = call->request;
    char peer[HTTP_PEER];
    log_warning("call not understood", "verb", extender_verb_name(call->verb), "from",
                http_peer(r, peer), "error", error, NULL);
    cleanup_free char *why =
        xasprintf("muster: %s not understood: %s", extender_verb_name(call->verb), error);
    fail(r, call->metrics, METRIC_BROKEN, why);
}

static bool decode(struct call *call)
{
    struct err err;
    if (extender_decode_pod(&call->args, call->rules, &err) == 0)
        return true;
    not_understood(call, err.text);
    return false;
}

/* Which whole nodes a reply may echo: prioritize none, filter all where nothing is known yet. */
static enum node_keep ask_keep(void *arg, const struct buf *before, char one[NODE_STREAM_NAME + 1])
{
    struct call *call = arg;
    struct extender_args pod = {0};
    one[0] = '\0';
    if (call->verb == EXTENDER_PRIORITIZE)
        return NODE_KEEP_ONE;
    bool expects = extender_peek_pod(buf_str(before), before->len, &pod) &&
                   loop_expects(call->loop, pod.pod_uid, one, NODE_STREAM_NAME + 1);
    extender_args_done(&pod);
    return expects ? NODE_KEEP_ONE : NODE_KEEP_ALL;
}

/* The call of a request: from its first piece on, in what an earlier one has left. */
static struct call *call_of(const struct calls_context *context, struct http_request *r)
{
    struct call *call = r->user ? r->user : xcalloc(1, sizeof *call);
    if (call->request)
        return call;
    call->mail.kind = LOOP_CALL;
    call->request = r;
    call->verb = verb_of(r->route);
    call->loop = context->loop;
    call->metrics = context->metrics;
    call->rules = context->rules;
    node_stream_begin(&call->stream, &r->body, ask_keep, call);
    r->user = call;
    r->free_user = free_call;
    r->rest_user = rest_call;
    return call;
}

void calls_piece(void *arg, struct http_request *r, const char *data, size_t n)
{
    struct call *call = call_of(arg, r);
    if (call->verb == EXTENDER_FILTER || call->verb == EXTENDER_PRIORITIZE)
        node_stream_put(&call->stream, data, n);
    else
        buf_append(&r->body, data, n);
    r->aside = call->stream.node.len;
}

static void handle(void *arg, struct http_request *r)
{
    const struct calls_context *context = arg;
    struct call *call = call_of(context, r);
    struct err err;
    call->bytes = r->bytes;
    node_stream_end(&call->stream);
    call->args.small = call->stream.small;
    json_mend_nul(r->body.data, r->body.len); /* anybody can write a NUL into an annotation */
    if (extender_parse(call->verb, r->body.data, r->body.len, &call->args, &err) < 0) {
        not_understood(call, err.text);
        return;
    }
    if (loop_serve(context->loop, call) || !decode(call))
        return;
    /* From the post on the request belongs to whoever has the turn. */
    call->deferred = http_defer(r);
    if (call->deferred)
        loop_post(context->loop, &call->mail);
    else
        fail(r, context->metrics, METRIC_ERROR, "muster is stopping");
}

void calls_refused(void *arg, const struct http_route *route, int status)
{
    const struct calls_context *context = arg;
    enum metric_outcome outcome = status == 413   ? METRIC_TOO_LARGE
                                  : status == 405 ? METRIC_METHOD
                                  : status == 503 ? METRIC_OVERLOAD
                                                  : METRIC_BROKEN;
    metrics_call(context->metrics, verb_of(route), outcome, 0, 0, -1, -1);
}

/* ---- the table ---- */

struct calls {
    int epoll_fd;
    struct call **slots;
    size_t n_slots, cap;
    uint32_t *free_slots;
    size_t n_free, free_cap;
    size_t count;
    uint64_t serial;
};

struct calls *calls_new(struct err *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) {
        err_errno(err, "epoll_create1");
        return NULL;
    }
    struct calls *c = xcalloc(1, sizeof *c);
    c->epoll_fd = fd;
    return c;
}

struct calls *calls_free(struct calls *c)
{
    if (c) {
        close(c->epoll_fd);
        free(c->slots);
        free(c->free_slots);
        free(c);
    }
    return NULL;
}

int calls_fd(const struct calls *c)
{
    return c->epoll_fd;
}

size_t calls_count(const struct calls *c)
{
    return c->count;
}

static struct call *find(const struct calls *c, uint64_t id)
{
    size_t slot = id & SLOT_MASK;
    struct call *call = slot < c->n_slots ? c->slots[slot] : NULL;
    return call && call->id == id ? call : NULL;
}

/* Level-triggered and once: what was closed before the watch began is reported as well. */
static void watch(struct calls *c, struct call *call)
{
    struct epoll_event ev = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = call->id};
    char peer[HTTP_PEER];
    call->watched = epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, http_socket(call->request), &ev) == 0;
    if (!call->watched)
        log_warning("a held bind cannot be watched, ignoring: its caller's leaving goes unnoticed",
                    "from", http_peer(call->request, peer), NULL);
}

static void unwatch(struct calls *c, struct call *call)
{
    if (call->watched)
        epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, http_socket(call->request), NULL);
    call->watched = false;
}

static void to_event(struct call *call, struct gang_event *ev)
{
    static const enum gang_event_kind kinds[] = {
        [EXTENDER_FILTER] = GANG_EV_FILTER,
        [EXTENDER_PRIORITIZE] = GANG_EV_PRIORITIZE,
        [EXTENDER_PREEMPT] = GANG_EV_PREEMPT,
        [EXTENDER_BIND] = GANG_EV_BIND,
    };
    struct extender_args *a = &call->args;
    *ev = (struct gang_event){.kind = kinds[call->verb], .id = call->id};
    if (call->verb == EXTENDER_BIND) {
        ev->bind.ns = STEAL(a->ns);
        ev->bind.name = STEAL(a->name);
        ev->bind.uid = STEAL(a->uid);
        ev->bind.node = STEAL(a->node);
    } else {
        ev->pod_is_known = a->known != NULL;
        ev->pod = a->known ? a->known : STEAL(a->pod);
        ev->names = a->names;
        ev->n_names = a->n_names;
    }
}

void calls_enter(struct calls *c, struct call *call, usec_t now, struct gang_event *ev)
{
    size_t slot = c->n_free ? c->free_slots[--c->n_free] : c->n_slots++;
    GROW(c->slots, c->cap, c->n_slots);
    c->slots[slot] = call;
    c->count++;
    call->id = ++c->serial << SLOT_BITS | slot;
    call->taken = now;
    if (call->verb == EXTENDER_BIND)
        watch(c, call);
    to_event(call, ev);
}

bool call_prepare(struct call *call, const struct gang_core *core)
{
    struct extender_args *a = &call->args;
    if (a->pod || call->verb == EXTENDER_BIND)
        return true;
    const char *nominated = *a->pod_nominated ? a->pod_nominated : NULL;
    a->known = gang_core_known_pod(core, a->pod_uid, a->pod_version, nominated);
    return a->known || decode(call);
}

void call_settle(struct calls *c, struct call *call)
{
    if (call->id == 0 || find(c, call->id) != call)
        return;
    call->deferred = http_defer(call->request);
    if (!call->deferred)
        abort(); /* nobody ends the listener but the core thread, in a turn of its own */
}

size_t calls_closed(struct calls *c, struct gang_event *events, size_t max)
{
    struct epoll_event ready[256];
    if (max > ARRAY_SIZE(ready))
        max = ARRAY_SIZE(ready);
    int n = epoll_wait(c->epoll_fd, ready, (int)max, 0);
    for (int i = 0; i < n; i++)
        events[i] = (struct gang_event){.kind = GANG_EV_CALL_CLOSED, .id = ready[i].data.u64};
    return n > 0 ? (size_t)n : 0;
}

static void remove_call(struct calls *c, struct call *call)
{
    size_t slot = call->id & SLOT_MASK;
    unwatch(c, call);
    c->slots[slot] = NULL;
    c->count--;
    GROW(c->free_slots, c->free_cap, c->n_free + 1);
    c->free_slots[c->n_free++] = (uint32_t)slot;
}

struct call *calls_take(struct calls *c, uint64_t id)
{
    struct call *call = id ? find(c, id) : NULL;
    for (size_t i = 0; !id && !call && i < c->n_slots; i++)
        call = c->slots[i];
    if (call)
        remove_call(c, call);
    return call;
}

/* ---- replies ---- */

static enum metric_outcome render_filter(struct call *call, const struct gang_filter_reply *f)
{
    const struct extender_args *a = &call->args;
    struct http_request *r = call->request;
    if (!extender_can_echo(a, f)) {
        extender_write_failure(EXTENDER_FILTER,
                               "other nodes will do now than a moment ago, ask again", &r->reply);
        return METRIC_ERROR;
    }
    if (extender_filter_in_place(a, f, &r->body))
        http_reply_in_place(r);
    else
        extender_write_filter(a, f, &r->reply);
    if (f->error)
        return METRIC_ERROR;
    return f->pass_all || f->n_passed ? METRIC_OK : METRIC_REFUSED;
}

static enum metric_outcome render(struct call *call, const struct gang_effect *e)
{
    const struct extender_args *a = &call->args;
    struct buf *out = &call->request->reply;
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        return render_filter(call, &e->filter);
    case GANG_REPLY_PRIORITIZE:
        extender_write_prioritize(a, e->prioritize.scores, e->prioritize.n, out);
        return METRIC_OK;
    case GANG_REPLY_PREEMPT:
        extender_write_preempt(a, e->preempt.kept, e->preempt.n_kept, out);
        return e->preempt.n_kept ? METRIC_OK : METRIC_REFUSED;
    default:
        extender_write_bind(e->bind_reply.error, out);
        return e->bind_reply.error[0] ? METRIC_REFUSED : METRIC_OK;
    }
}

uint64_t call_reply_id(const struct gang_effect *e)
{
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        return e->filter.id;
    case GANG_REPLY_PRIORITIZE:
        return e->prioritize.id;
    case GANG_REPLY_PREEMPT:
        return e->preempt.id;
    case GANG_REPLY_BIND:
        return e->bind_reply.id;
    default:
        return 0;
    }
}

struct call *calls_answer(struct calls *c, const struct gang_effect *effect, usec_t now)
{
    struct call *call = find(c, call_reply_id(effect));
    if (!call)
        return NULL;
    enum metric_outcome outcome = render(call, effect);
    remove_call(c, call);
    bool was_held = call->verb == EXTENDER_BIND && now > call->taken;
    int64_t work = work_on(call->request);
    http_answer(call->request, 200, HTTP_JSON);
    metrics_call(call->metrics, call->verb, outcome, call->bytes,
                 usec_now() - call->request->started, was_held ? now - call->taken : -1, work);
    return call;
}

void call_send(struct call *call)
{
    if (call->deferred)
        http_resume(call->request);
}

void call_refuse(struct call *call, const char *why)
{
    fail(call->request, call->metrics, METRIC_ERROR, why);
    call_send(call);
}
