/* SPDX-License-Identifier: Apache-2.0 */
#include "server/loop/check_reader.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Each may have the facts of its manifests in memory, see MANIFEST_BYTES. */
#define CHECKS 8

struct check_reader {
    struct loop *loop;
    const struct workload_rules *rules;
    struct mailbox *box;
    atomic_int unanswered; /* checks from the post to the answer */
    pthread_t thread;
    atomic_bool stop;
};

static void read_all(struct check_reader *c)
{
    struct mail *next;
    for (struct mail *m = mailbox_take(c->box); m; m = next) {
        next = m->next;
        struct ops_query *q =
            CONTAINER_OF(CONTAINER_OF(m, struct loop_mail, mail), struct ops_query, mail);
        /* A loop that stops refuses the query, and waits for it. */
        if (loop_health(c->loop).stopping || ops_query_read(q, c->rules))
            loop_post(c->loop, &q->mail);
    }
}

static void *run(void *arg)
{
    struct check_reader *c = arg;
    sigset_t all; /* the main thread handles signals */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load(&c->stop)) {
        struct pollfd fd = {.fd = mailbox_fd(c->box), .events = POLLIN};
        poll(&fd, 1, -1);
        read_all(c);
    }
    return NULL;
}

struct check_reader *check_reader_new(struct loop *loop, const struct workload_rules *rules,
                                      struct err *err)
{
    struct check_reader *c = xcalloc(1, sizeof *c);
    c->loop = loop;
    c->rules = rules;
    c->box = mailbox_new(err);
    int e = c->box ? pthread_create(&c->thread, NULL, run, c) : 0;
    if (c->box && e == 0) {
        pthread_setname_np(c->thread, "check"); /* the name that top and perf show */
        return c;
    }
    if (e)
        err_set(err, ERR_INTERNAL, "cannot start the thread that reads manifests: %s", strerror(e));
    mailbox_free(c->box);
    free(c);
    return NULL;
}

struct check_reader *check_reader_free(struct check_reader *c)
{
    if (!c)
        return NULL;
    atomic_store(&c->stop, true);
    mailbox_wake(c->box);
    pthread_join(c->thread, NULL);
    mailbox_free(c->box);
    free(c);
    return NULL;
}

void check_reader_post(struct check_reader *c, struct ops_query *query)
{
    query->unanswered = &c->unanswered;
    if (atomic_fetch_add(&c->unanswered, 1) < CHECKS)
        mailbox_put(c->box, &query->mail.mail);
    else
        ops_query_refuse(query, "too many checks at once: try again");
}
