/* SPDX-License-Identifier: Apache-2.0 */
#include "server/loop/call_table.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "base/must.h"

/* The low SLOT_BITS bits of an id are the place in the table. The rest is a serial number. */
#define SLOT_BITS 20
#define SLOT_MASK ((UINT64_C(1) << SLOT_BITS) - 1)

struct call_table {
    int epoll_fd;
    struct extender_call **slots;
    size_t n_slots, cap;
    uint32_t *free_slots;
    size_t n_free, free_cap;
    size_t count;
    uint64_t serial;
};

struct call_table *call_table_new(struct err *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) {
        err_errno(err, "cannot create an epoll instance");
        return NULL;
    }
    struct call_table *c = xcalloc(1, sizeof *c);
    c->epoll_fd = fd;
    return c;
}

struct call_table *call_table_free(struct call_table *c)
{
    if (c) {
        close(c->epoll_fd);
        free(c->slots);
        free(c->free_slots);
        free(c);
    }
    return NULL;
}

int call_table_fd(const struct call_table *c)
{
    return c->epoll_fd;
}

size_t call_table_count(const struct call_table *c)
{
    return c->count;
}

static struct extender_call *find(const struct call_table *c, uint64_t id)
{
    size_t slot = id & SLOT_MASK;
    struct extender_call *call = slot < c->n_slots ? c->slots[slot] : NULL;
    return call && call->id == id ? call : NULL;
}

/* Level-triggered, so a disconnect before the watch began is also reported. One event only. */
static void watch(struct call_table *c, struct extender_call *call)
{
    struct epoll_event ev = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = call->id};
    char peer[HTTP_PEER];
    call->watched = epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, http_socket(call->request), &ev) == 0;
    if (!call->watched)
        log_warning("Cannot watch the connection of a bind call; muster will not notice if the "
                    "caller disconnects",
                    "from", http_peer(call->request, peer), NULL);
}

static void unwatch(struct call_table *c, struct extender_call *call)
{
    if (call->watched)
        epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, http_socket(call->request), NULL);
    call->watched = false;
}

void call_table_enter(struct call_table *c, struct extender_call *call, usec_t now,
                      struct gang_event *ev)
{
    size_t slot = c->n_free ? c->free_slots[--c->n_free] : c->n_slots++;
    GROW(c->slots, c->cap, c->n_slots);
    c->slots[slot] = call;
    c->count++;
    call->id = ++c->serial << SLOT_BITS | slot;
    call->taken = now;
    if (call->verb == EXTENDER_BIND)
        watch(c, call);
    extender_call_to_event(call, ev);
}

void call_table_settle(struct call_table *c, struct extender_call *call)
{
    if (call->id == 0 || find(c, call->id) != call)
        return;
    call->deferred = http_defer(call->request);
    MUST(call->deferred); /* only the core thread ends the listener, in a turn of its own */
}

size_t call_table_closed(struct call_table *c, struct gang_event *events, size_t max)
{
    struct epoll_event ready[256];
    if (max > ARRAY_SIZE(ready))
        max = ARRAY_SIZE(ready);
    int n = epoll_wait(c->epoll_fd, ready, (int)max, 0);
    for (int i = 0; i < n; i++)
        events[i] = (struct gang_event){.kind = GANG_EV_CALL_CLOSED, .id = ready[i].data.u64};
    return n > 0 ? (size_t)n : 0;
}

static void remove_call(struct call_table *c, struct extender_call *call)
{
    size_t slot = call->id & SLOT_MASK;
    unwatch(c, call);
    c->slots[slot] = NULL;
    c->count--;
    GROW(c->free_slots, c->free_cap, c->n_free + 1);
    c->free_slots[c->n_free++] = (uint32_t)slot;
}

struct extender_call *call_table_take(struct call_table *c, uint64_t id)
{
    struct extender_call *call = id ? find(c, id) : NULL;
    for (size_t i = 0; !id && !call && i < c->n_slots; i++)
        call = c->slots[i];
    if (call)
        remove_call(c, call);
    return call;
}

struct extender_call *call_table_answer(struct call_table *c, const struct gang_effect *effect,
                                        usec_t now)
{
    struct extender_call *call = find(c, extender_call_reply_id(effect));
    if (!call)
        return NULL;
    remove_call(c, call);
    extender_call_answer(call, effect, now);
    return call;
}
