/* SPDX-License-Identifier: Apache-2.0 */
#include "server/loop/loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "server/loop/call_table.h"
#include "server/loop/core_config.h"
#include "server/loop/ops_queries.h"
#include "server/views/history.h"
#include "server/views/invariant_log.h"

/* Maximum mail in one step, so that a first list of 50,000 pods does not delay calls and probes. */
#define MAIL_PER_STEP 16384
/* The same for a turn of a listener's thread, which also serves other connections. */
#define MAIL_PER_SERVICE 64
/* How often the deadlines of connections are checked. */
#define SWEEP_EVERY USEC_PER_SEC
/* For this long after a call, kube-scheduler is expected to send more calls. */
#define CALLS_GO_ON (100 * USEC_PER_MSEC)
/* At the end, the time for writes in progress, and then for replies. */
#define CLOSE_CLUSTER (5 * USEC_PER_SEC)
#define CLOSE_HTTP    (2 * USEC_PER_SEC)

struct loop {
    /* shared */
    struct mailbox *box;
    atomic_bool synced, stopping;
    _Atomic usec_t back_at; /* when the core thread should have the turn again; 0: not started */
    struct loop_mail stop_mail;
    atomic_bool stop_posted;

    pthread_mutex_t turn; /* only the core thread waits for it */

    /* owned by the thread that has the turn */
    bool open;           /* threads of the listener may take turns */
    usec_t sleeps_until; /* when the core thread wakes by itself; 0: it is awake */
    struct gang_core *core;
    struct call_table *calls;
    struct cluster *cluster;
    struct http *verbs, *ops;
    struct metrics *metrics;
    struct history *history;
    struct recorder *recorder; /* NULL: no recording */
    int epoll_fd, signal_fd;   /* signal_fd -1: signals are not handled */
    struct mail *pending;      /* taken from the mailbox, but not processed yet */
    struct gang_event *events;
    size_t n_events, events_cap;
    struct ops_query_queue queries;
    struct extender_call *answered,
        **answered_end; /* to be sent after all effects of the step are carried out */
    usec_t next_sweep;
    usec_t called; /* when the last call of kube-scheduler arrived */
    int64_t bound; /* when the last Binding of this step was answered, in nanoseconds; 0: none */
    uint32_t violations; /* see invariant_log() */
    bool stop;
};

struct event_mail {
    struct loop_mail mail; /* first */
    struct gang_event event;
    int64_t posted; /* nanoseconds */
};

/* ---- life cycle ---- */

static int add_fd(struct loop *l, int fd, struct err *err)
{
    struct epoll_event ev = {.events = EPOLLIN};
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
        return err_errno(err, "cannot watch a file descriptor with epoll");
    return 0;
}

struct loop *loop_new(const struct config *config, struct metrics *metrics, struct err *err)
{
    struct loop *l = xcalloc(1, sizeof *l);
    struct gang_config cc = core_config(config);
    l->metrics = metrics;
    metrics->max_queues = (size_t)config->max_metrics_queues;
    l->signal_fd = -1;
    l->answered_end = &l->answered;
    pthread_mutex_init(&l->turn, NULL);
    l->core = gang_core_new(&cc);
    l->history = history_new();
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll_fd < 0) {
        err_errno(err, "cannot create an epoll instance");
        return loop_free(l);
    }
    l->box = mailbox_new(err);
    l->calls = l->box ? call_table_new(err) : NULL;
    if (!l->calls || add_fd(l, mailbox_fd(l->box), err) < 0 ||
        add_fd(l, call_table_fd(l->calls), err) < 0)
        return loop_free(l);
    return l;
}

struct loop *loop_free(struct loop *l)
{
    if (!l)
        return NULL;
    mailbox_free(l->box);
    call_table_free(l->calls);
    gang_core_free(l->core);
    history_free(l->history);
    if (l->epoll_fd >= 0)
        close(l->epoll_fd);
    if (l->signal_fd >= 0)
        close(l->signal_fd);
    pthread_mutex_destroy(&l->turn);
    free(l->events);
    free(l);
    return NULL;
}

void loop_attach(struct loop *l, struct http *verbs, struct http *ops)
{
    l->verbs = verbs;
    l->ops = ops;
}

void loop_attach_cluster(struct loop *l, struct cluster *cluster)
{
    l->cluster = cluster;
}

void loop_record(struct loop *l, struct recorder *recorder)
{
    l->recorder = recorder;
}

static sigset_t end_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

int loop_watch_signals(struct loop *l, struct err *err)
{
    sigset_t set = end_signals();
    l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signal_fd < 0)
        return err_errno(err, "cannot create a signalfd");
    return add_fd(l, l->signal_fd, err);
}

/* ---- any thread ---- */

void loop_post(struct loop *l, struct loop_mail *mail)
{
    mailbox_put(l->box, &mail->mail);
}

static void post_event(void *arg, struct gang_event *ev)
{
    struct event_mail *m = xmalloc(sizeof *m);
    m->mail.kind = LOOP_EVENT;
    m->event = *ev;
    m->posted = nsec_now();
    loop_post(arg, &m->mail);
}

struct cluster_sink loop_sink(struct loop *l)
{
    return (struct cluster_sink){.post = post_event, .arg = l};
}

void loop_stop(struct loop *l)
{
    if (atomic_exchange(&l->stop_posted, true))
        return;
    l->stop_mail.kind = LOOP_STOP;
    loop_post(l, &l->stop_mail);
}

struct loop_health loop_health(const struct loop *l)
{
    usec_t back_at = atomic_load(&l->back_at), now = usec_now();
    return (struct loop_health){
        .synced = atomic_load(&l->synced),
        .stopping = atomic_load(&l->stopping),
        .late = back_at && now > back_at ? now - back_at : 0,
    };
}

/* ---- a turn ---- */

static struct gang_event *add_event(struct loop *l)
{
    GROW(l->events, l->events_cap, l->n_events + 1);
    return &l->events[l->n_events++];
}

static void add_kind(struct loop *l, enum gang_event_kind kind)
{
    *add_event(l) = (struct gang_event){.kind = kind};
}

static void enter(struct loop *l, struct extender_call *call, usec_t now)
{
    l->called = now;
    call_table_enter(l->calls, call, now, add_event(l));
}

static void take_one(struct loop *l, struct loop_mail *m, usec_t now)
{
    switch (m->kind) {
    case LOOP_EVENT: {
        struct event_mail *em = CONTAINER_OF(m, struct event_mail, mail);
        *add_event(l) = em->event;
        if (em->event.kind == GANG_EV_BIND_DONE)
            l->bound = em->posted;
        free(em);
        break;
    }
    case LOOP_CALL:
        enter(l, CONTAINER_OF(m, struct extender_call, mail), now);
        break;
    case LOOP_QUERY:
        ops_query_wait(&l->queries, CONTAINER_OF(m, struct ops_query, mail));
        break;
    case LOOP_STOP:
        l->stop = true;
        break;
    }
}

static struct loop_mail *next_mail(struct loop *l)
{
    if (!l->pending)
        l->pending = mailbox_take(l->box);
    struct mail *m = l->pending;
    if (!m)
        return NULL;
    l->pending = m->next;
    return CONTAINER_OF(m, struct loop_mail, mail);
}

static void take_mail(struct loop *l, usec_t now, int most)
{
    struct loop_mail *m;
    for (int i = 0; i < most && (m = next_mail(l)) != NULL; i++)
        take_one(l, m, now);
}

/* Drops a bind call of the current batch whose caller has disconnected, before the core gets it. */
static bool drop_fresh(struct loop *l, uint64_t id)
{
    for (size_t i = 0; i < l->n_events; i++) {
        struct gang_event *ev = &l->events[i];
        if (ev->kind != GANG_EV_BIND || ev->id != id)
            continue;
        gang_event_done(ev);
        memmove(ev, ev + 1, (l->n_events - i - 1) * sizeof *ev);
        l->n_events--;
        extender_call_refuse(call_table_take(l->calls, id), "the caller has disconnected");
        return true;
    }
    return false;
}

/* Call it after taking mail and before the step, so that no commit counts a bind call whose caller
 * has disconnected. */
static void take_closed(struct loop *l)
{
    struct gang_event closed[64];
    size_t n;
    do {
        n = call_table_closed(l->calls, closed, ARRAY_SIZE(closed));
        for (size_t i = 0; i < n; i++)
            if (!drop_fresh(l, closed[i].id))
                *add_event(l) = closed[i];
    } while (n == ARRAY_SIZE(closed));
}

static void carry_out(struct loop *l, const struct gang_effect *e, usec_t now)
{
    uint64_t id = extender_call_reply_id(e);
    if (id == 0 || id & CLUSTER_CALL) {
        l->cluster->ops->apply(l->cluster, now, e);
        return;
    }
    struct extender_call *call = call_table_answer(l->calls, e, now);
    if (call) {
        /* A call that arrived in this step or is refused has not waited for a Binding. */
        if (l->bound && e->kind == GANG_REPLY_BIND && !*e->bind_reply.error && call->taken < now)
            samples_add(&l->metrics->bind_reply, nsec_now() - l->bound);
        call->next = NULL;
        *l->answered_end = call;
        l->answered_end = &call->next;
    }
}

/* Call it after all effects, because later effects may borrow strings of answered calls. */
static void send_answered(struct loop *l)
{
    for (struct extender_call *call = l->answered, *next; call; call = next) {
        next = call->next;
        extender_call_send(call);
    }
    l->answered = NULL;
    l->answered_end = &l->answered;
}

static void step(struct loop *l, usec_t now)
{
    size_t n;
    usec_t wall = usec_wall();
    if (l->recorder)
        recorder_events(l->recorder, now, l->events, l->n_events);
    history_events(l->history, wall, l->events, l->n_events);
    usec_t before = usec_now();
    const struct gang_effect *effects = gang_step(l->core, now, l->events, l->n_events, &n);
    metrics_step(l->metrics, usec_now() - before);
    invariant_log(l->core, &l->violations);
    if (l->recorder)
        recorder_effects(l->recorder, effects, n);
    history_effects(l->history, now, wall, l->core, effects, n);
    for (size_t i = 0; i < n; i++)
        carry_out(l, &effects[i], now);
    for (size_t i = 0; i < l->n_events; i++)
        gang_event_done(&l->events[i]);
    l->n_events = 0;
    l->bound = 0;
    send_answered(l);
    if (gang_core_synced(l->core) && !atomic_exchange(&l->synced, true))
        log_info("Cluster cache synced", NULL);
}

static void answer_queries(struct loop *l)
{
    struct ops_query_context view = {.core = l->core,
                                     .cluster = l->cluster,
                                     .history = l->history,
                                     .metrics = l->metrics,
                                     .verbs = l->verbs,
                                     .ops = l->ops};
    ops_query_turn(&l->queries, &view, usec_now() - l->called < CALLS_GO_ON);
}

static void take_signals(struct loop *l)
{
    struct signalfd_siginfo info;
    while (l->signal_fd >= 0 && read(l->signal_fd, &info, sizeof info) == sizeof info) {
        log_info("Stopping", "signal", info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT", NULL);
        l->stop = true;
    }
}

static void sweep(struct loop *l, usec_t now)
{
    if (now < l->next_sweep)
        return;
    l->next_sweep = now + SWEEP_EVERY;
    if (l->verbs)
        http_sweep(l->verbs, now);
    if (l->ops)
        http_sweep(l->ops, now);
}

static usec_t earlier(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

/* ---- turns ---- */

/* When the core thread has something to do without new mail. */
static usec_t next_due(const struct loop *l)
{
    usec_t next = earlier(gang_core_next(l->core), l->cluster->ops->next(l->cluster));
    next = earlier(next, ops_query_next(&l->queries));
    return l->pending ? 0 : earlier(next, l->next_sweep);
}

static void take_turn(struct loop *l)
{
    pthread_mutex_lock(&l->turn);
    atomic_store(&l->back_at, usec_now());
}

static bool try_turn(struct loop *l)
{
    if (pthread_mutex_trylock(&l->turn) != 0)
        return false;
    if (l->open)
        return true;
    pthread_mutex_unlock(&l->turn);
    return false;
}

static void give_turn(struct loop *l)
{
    pthread_mutex_unlock(&l->turn);
}

static void wait_for_work(struct loop *l)
{
    struct epoll_event ready[4];
    l->sleeps_until = next_due(l);
    usec_t left = l->sleeps_until - usec_now();
    if (left < 0)
        left = 0;
    atomic_store(&l->back_at, usec_now() + left);
    give_turn(l);
    epoll_wait(l->epoll_fd, ready, ARRAY_SIZE(ready), (int)((left + 999) / 1000));
    take_turn(l);
    l->sleeps_until = 0;
}

static void turn(struct loop *l)
{
    usec_t now = usec_now();
    take_signals(l);
    if (l->cluster->ops->next(l->cluster) <= now)
        l->cluster->ops->advance(l->cluster, now);
    take_mail(l, now, MAIL_PER_STEP);
    take_closed(l);
    if (l->n_events == 0 && gang_core_next(l->core) <= now)
        add_kind(l, GANG_EV_TICK);
    if (l->n_events > 0)
        step(l, now);
    answer_queries(l);
    sweep(l, now);
}

/* Processes the mail that arrived before the call. False: too much mail for a listener's thread, or
 * the loop stops. */
static bool catch_up(struct loop *l)
{
    if (!l->pending && !mailbox_has(l->box))
        return true;
    usec_t now = usec_now();
    take_mail(l, now, MAIL_PER_SERVICE);
    take_closed(l);
    if (l->n_events > 0)
        step(l, now);
    return !l->pending && !l->stop;
}

/* Runs a separate step for the call, because a step with facts could free what the call borrows
 * from the core, see extender_call_prepare(). */
static void serve(struct loop *l, struct extender_call *call)
{
    usec_t now = usec_now();
    if (!extender_call_prepare(call, l->core))
        return;
    enter(l, call, now);
    take_closed(l);
    if (l->n_events > 0)
        step(l, now);
    call_table_settle(l->calls, call);
}

bool loop_serve(struct loop *l, struct extender_call *call)
{
    if (!try_turn(l))
        return false;
    bool mine = catch_up(l);
    if (mine)
        serve(l, call);
    bool wake = next_due(l) < l->sleeps_until || l->stop;
    give_turn(l);
    if (wake)
        mailbox_wake(l->box);
    return mine;
}

/* ---- the end ---- */

/* Refuses the calls and queries that still arrive, and drops events. */
static void refuse_mail(struct loop *l)
{
    struct loop_mail *m;
    while ((m = next_mail(l)) != NULL) {
        if (m->kind == LOOP_CALL) {
            extender_call_refuse(CONTAINER_OF(m, struct extender_call, mail), "muster is stopping");
        } else if (m->kind == LOOP_QUERY) {
            ops_query_refuse(CONTAINER_OF(m, struct ops_query, mail), "muster is stopping");
        } else if (m->kind == LOOP_EVENT) {
            struct event_mail *em = CONTAINER_OF(m, struct event_mail, mail);
            gang_event_done(&em->event);
            free(em);
        }
    }
}

static size_t deferred(const struct loop *l)
{
    return (l->verbs ? http_deferred(l->verbs) : 0) + (l->ops ? http_deferred(l->ops) : 0);
}

/* Waits until no request is deferred. A listener's thread may have deferred a request but not
 * posted it yet. */
static void drain(struct loop *l)
{
    struct epoll_event ready[4];
    for (refuse_mail(l); deferred(l) > 0; refuse_mail(l))
        epoll_wait(l->epoll_fd, ready, ARRAY_SIZE(ready), 10);
}

static void close_cluster(struct loop *l)
{
    if (l->cluster)
        l->cluster->ops->close(l->cluster, usec_now() + CLOSE_CLUSTER);
    l->cluster = NULL;
}

/* Refuses all deferred requests, and waits until the replies are sent. */
static void close_listeners(struct loop *l)
{
    if (l->verbs)
        http_refuse_deferring(l->verbs);
    if (l->ops)
        http_refuse_deferring(l->ops);
    drain(l);
    usec_t deadline = usec_now() + CLOSE_HTTP;
    l->verbs = http_close(l->verbs, deadline);
    l->ops = http_close(l->ops, deadline);
    refuse_mail(l);
}

/* Restores the default effect of signals, so that a second signal kills the process. */
static void let_signals_through(const struct loop *l)
{
    if (l->signal_fd < 0)
        return;
    sigset_t set = end_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* The core thread keeps the turn to the end. Calls that still arrive are posted and refused. */
static void end(struct loop *l)
{
    l->open = false;
    atomic_store(&l->stopping, true);
    let_signals_through(l);
    if (l->verbs)
        http_refuse_deferring(l->verbs);
    usec_t now = usec_now();
    size_t held = call_table_count(l->calls);
    take_mail(l, now, MAIL_PER_STEP);
    take_closed(l);
    add_kind(l, GANG_EV_STOP);
    step(l, now);
    ops_query_refuse_all(&l->queries, "muster is stopping");
    struct extender_call *left;
    while ((left = call_table_take(l->calls, 0)) != NULL)
        extender_call_refuse(left, "muster is stopping");
    if (held > 0)
        log_info("Answered all held calls", "calls", log_int(held), NULL);
    drain(l);
    close_cluster(l);
    close_listeners(l);
}

void loop_abandon(struct loop *l)
{
    atomic_store(&l->stopping, true);
    close_cluster(l);
    close_listeners(l);
}

void loop_run(struct loop *l)
{
    take_turn(l);
    l->cluster->ops->advance(l->cluster, usec_now());
    turn(l);
    l->open = true;
    while (!l->stop) {
        wait_for_work(l);
        turn(l);
    }
    end(l);
    give_turn(l);
}
