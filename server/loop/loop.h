/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - runs the core: takes mail, passes it to gang_step() as events, and carries out the
 * effects.
 *
 * The thread that has the turn owns the core, the table of calls and the cluster. Only one thread
 * has the turn at a time. The core thread has the turn while it is awake. While it sleeps, a thread
 * of the listener may take a turn for a call that it has just read (loop_serve()). It then answers
 * the call itself, without suspending the connection. A thread of the listener never waits for the
 * turn: if another thread has it, the call is posted.
 *
 * Life cycle
 *   1. loop_new(). The listeners and the cluster then post to the loop (loop_post(), loop_sink()).
 *   2. loop_attach*() pass the listeners and the cluster to the loop. loop_run() works until
 *      SIGTERM, SIGINT or loop_stop(). The thread that calls it is the core thread.
 *   3. At the end, loop_run() refuses new calls, answers every held call, closes the cluster and
 *      the listeners, and returns. Writes that are in progress get a few seconds.
 *   4. loop_free()
 *
 * loop_post(), loop_serve(), the sink, loop_stop() and loop_health() may be called on any thread.
 */
#ifndef MUSTER_SERVER_LOOP_LOOP_H
#define MUSTER_SERVER_LOOP_LOOP_H

#include "base/err.h"
#include "config/config.h"
#include "gang/gang.h"
#include "k8s/interface/cluster.h"
#include "server/http/http.h"
#include "server/loop/loop_mail.h"
#include "server/recording/recorder.h"
#include "server/views/metrics.h"

struct loop;
struct extender_call;

struct loop *loop_new(const struct config *config, struct metrics *metrics, struct err *err);
struct loop *loop_free(struct loop *loop);

void loop_post(struct loop *loop, struct loop_mail *mail);
/* Takes a turn for a call that is not deferred, on the thread of its handler. True: the call was
 * answered, or it is deferred and held. False: the caller has to defer and post it, because another
 * thread has the turn or too much mail waits. */
bool loop_serve(struct loop *loop, struct extender_call *call);
struct cluster_sink loop_sink(struct loop *loop);
/* Passes ownership of the listeners to the loop. loop_run() or loop_abandon() closes them. Either
 * may be NULL. */
void loop_attach(struct loop *loop, struct http *verbs, struct http *ops);
void loop_attach_cluster(struct loop *loop, struct cluster *cluster);
/* Records every step. Call it before loop_run(). The caller owns the recorder, which must outlive
 * loop_run(). */
void loop_record(struct loop *loop, struct recorder *recorder);
/* Makes SIGTERM and SIGINT end loop_run(). A second signal kills the process. Both must be blocked
 * in every thread. */
int loop_watch_signals(struct loop *loop, struct err *err);
void loop_run(struct loop *loop);
/* Closes the listeners and the cluster, if something failed before loop_run(). */
void loop_abandon(struct loop *loop);
void loop_stop(struct loop *loop);

struct loop_health {
    bool synced;   /* muster has read every list */
    bool stopping; /* muster accepts no new work */
    usec_t late;   /* how long the core thread is overdue */
};
struct loop_health loop_health(const struct loop *loop);

#endif
