/* SPDX-License-Identifier: Apache-2.0 */
#include "server/calls.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "config/scheduler_config.h"
#include "k8s/field.h"

#define JSON_TYPE "application/json"

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
    extender_args_done(&call->args);
    free(call);
}

/* Answers on the listener's thread, without the core. */
static void fail(struct http_request *r, struct metrics *m, enum metric_outcome outcome,
                 const char *why)
{
    cleanup_buf struct buf body = BUF_INIT;
    int status = extender_write_failure(verb_of(r->route), why, &body);
    metrics_call(m, verb_of(r->route), outcome, r->body.len, usec_now() - r->started, -1);
    http_answer(r, status, JSON_TYPE, &body);
}

static void handle(void *arg, struct http_request *r)
{
    const struct calls_context *context = arg;
    struct call *call = xcalloc(1, sizeof *call);
    struct err err;
    call->mail.kind = LOOP_CALL;
    call->request = r;
    call->verb = verb_of(r->route);
    call->metrics = context->metrics;
    call->bytes = r->body.len;
    r->user = call;
    r->free_user = free_call;
    field_scrub(r->body.data, r->body.len); /* anybody can write a NUL into an annotation */
    if (extender_parse(call->verb, buf_str(&r->body), r->body.len, context->rules, &call->args,
                       &err) < 0) {
        log_warning("call not understood", "verb", extender_verb_name(call->verb), "from", r->peer,
                    "error", err.text, NULL);
        cleanup_free char *why =
            xasprintf("muster: %s not understood: %s", extender_verb_name(call->verb), err.text);
        fail(r, context->metrics, METRIC_BROKEN, why);
        return;
    }
    /* From the post on the request belongs to the core thread. */
    if (http_defer(r))
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
    metrics_call(context->metrics, verb_of(route), outcome, 0, 0, -1);
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
    call->watched = epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, http_socket(call->request), &ev) == 0;
    if (!call->watched)
        log_warning("a held bind cannot be watched, ignoring: its caller's leaving goes unnoticed",
                    "from", call->request->peer, NULL);
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
        ev->pod = STEAL(a->pod);
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

static enum metric_outcome render(struct call *call, const struct gang_effect *e, struct buf *out)
{
    const struct extender_args *a = &call->args;
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        extender_write_filter(a, &e->filter, out);
        if (e->filter.error)
            return METRIC_ERROR;
        return e->filter.pass_all || e->filter.n_passed ? METRIC_OK : METRIC_REFUSED;
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
    cleanup_buf struct buf body = BUF_INIT;
    enum metric_outcome outcome = render(call, effect, &body);
    remove_call(c, call);
    bool was_held = call->verb == EXTENDER_BIND && now > call->taken;
    metrics_call(call->metrics, call->verb, outcome, call->bytes,
                 usec_now() - call->request->started, was_held ? now - call->taken : -1);
    http_answer(call->request, 200, JSON_TYPE, &body);
    return call;
}

void call_send(struct call *call)
{
    http_resume(call->request);
}

void call_refuse(struct call *call, const char *why)
{
    fail(call->request, call->metrics, METRIC_ERROR, why);
    call_send(call);
}
