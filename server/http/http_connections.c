/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/socket.h>

#include "server/http/http_internal.h"

void conns_init(struct conns *c, usec_t request_timeout, size_t limit)
{
    pthread_mutex_init(&c->lock, NULL);
    list_init(&c->silent);
    list_init(&c->timed);
    list_init(&c->idle);
    c->request_timeout = request_timeout;
    c->limit = limit;
}

void conns_done(struct conns *c)
{
    pthread_mutex_destroy(&c->lock);
}

/* The caller holds the lock. */
static void set_stage(struct conns *c, struct conn *conn, enum conn_stage stage)
{
    list_remove(&conn->link);
    c->in_stage[conn->stage]--;
    c->in_stage[stage]++;
    conn->stage = stage;
}

/* The caller holds the lock. */
static void place(struct conns *c, struct conn *conn, enum conn_stage stage)
{
    if (conn->stage == CONN_CUT)
        return; /* a cut connection stays cut */
    set_stage(c, conn, stage);
    if (stage == CONN_WORK)
        return;
    bool idle = stage == CONN_IDLE || stage == CONN_NEW;
    conn->deadline = usec_now() + (idle ? CONN_IDLE_SECONDS * USEC_PER_SEC : c->request_timeout);
    list_push(stage == CONN_NEW    ? &c->silent
              : stage == CONN_IDLE ? &c->idle
                                   : &c->timed,
              &conn->link);
}

/* The caller holds the lock. The library calls conn_close() before it closes a socket, so the
 * descriptor cannot belong to another connection. */
static void cut(struct conns *c, struct conn *conn)
{
    set_stage(c, conn, CONN_CUT);
    c->cut++;
    shutdown(conn->fd, SHUT_RDWR);
}

/* A connection whose request muster has to answer is in no list, so it is never cut. If most
 * connections are new, muster cuts a new one, so clients that only connect cannot displace
 * kube-scheduler. Otherwise new connections are safe: their requests may be on the way. */
static void make_room(struct conns *c)
{
    size_t open = c->count - c->in_stage[CONN_CUT], listed = open - c->in_stage[CONN_WORK];
    struct list *from = list_empty(&c->idle) ? &c->timed : &c->idle;
    if (c->in_stage[CONN_NEW] > listed / 2)
        from = &c->silent;
    if (open >= c->limit && !list_empty(from))
        cut(c, CONTAINER_OF(from->next, struct conn, link));
}

struct conn *conn_open(struct conns *c, int fd)
{
    struct conn *conn = xcalloc(1, sizeof *conn);
    conn->fd = fd;
    list_init(&conn->link);
    pthread_mutex_lock(&c->lock);
    make_room(c);
    c->count++;
    c->in_stage[conn->stage]++;
    place(c, conn, CONN_NEW);
    pthread_mutex_unlock(&c->lock);
    return conn;
}

void conn_close(struct conns *c, struct conn *conn)
{
    pthread_mutex_lock(&c->lock);
    c->count--;
    c->in_stage[conn->stage]--;
    list_remove(&conn->link);
    pthread_mutex_unlock(&c->lock);
    free(conn);
}

void conn_enter(struct conns *c, struct conn *conn, enum conn_stage stage)
{
    pthread_mutex_lock(&c->lock);
    place(c, conn, stage);
    pthread_mutex_unlock(&c->lock);
}

static void cut_overdue(struct conns *c, struct list *list, usec_t now)
{
    while (!list_empty(list)) {
        struct conn *conn = CONTAINER_OF(list->next, struct conn, link);
        if (conn->deadline > now)
            return;
        cut(c, conn);
    }
}

void http_sweep(struct http *h, usec_t now)
{
    struct conns *c = &h->conns;
    pthread_mutex_lock(&c->lock);
    cut_overdue(c, &c->silent, now);
    cut_overdue(c, &c->timed, now);
    cut_overdue(c, &c->idle, now);
    pthread_mutex_unlock(&c->lock);
}

void http_stats(struct http *h, struct http_stats *ret)
{
    struct conns *c = &h->conns;
    pthread_mutex_lock(&c->lock);
    *ret = (struct http_stats){.connections = c->count, .cut = c->cut};
    pthread_mutex_unlock(&c->lock);
}
