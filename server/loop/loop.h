/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - the core and its turns: everything that happens comes in as mail, goes through
 * gang_step() and leaves as effects.
 *
 * The thread that has the turn owns the core, the table of calls and the cluster; only one thread
 * has it at a time. It is the core thread's. While that sleeps, a thread of the listener may take a
 * turn for the call that it brings (loop_serve), and answers the call itself, without suspending,
 * posting and resuming it. No thread of the listener waits for a turn: if it is taken, the call is
 * posted like all other mail.
 *
 * Life cycle
 *   1. loop_new(); listeners and the cluster get it as their address (loop_post, loop_sink).
 *   2. loop_attach*() tell it what it serves; loop_run() works until SIGTERM, SIGINT or
 *      loop_stop(). The thread that runs it is the core thread.
 *   3. At the end loop_run() refuses new calls, answers every held one, closes the cluster (writes
 *      in flight get a few seconds) and the listeners, and returns.
 *   4. loop_free()
 *
 * Other threads may call loop_post(), loop_serve(), the sink, loop_stop() and
 * loop_health().
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
/* Takes a turn for a call that is not deferred yet; on its handler's thread. False: another
 * thread has the turn, defer and post it. True: it was answered, or is deferred and held. */
bool loop_serve(struct loop *loop, struct extender_call *call);
struct cluster_sink loop_sink(struct loop *loop);
/* Takes them over, to be closed by loop_run() or loop_abandon(). Either may be NULL. */
void loop_attach(struct loop *loop, struct http *verbs, struct http *ops);
void loop_attach_cluster(struct loop *loop, struct cluster *cluster);
/* Every step is recorded; the recorder stays the caller's and outlives loop_run(). */
void loop_record(struct loop *loop, struct recorder *recorder);
/* SIGTERM and SIGINT end loop_run(), a second one the process. They must be blocked in every
 * thread. */
int loop_watch_signals(struct loop *loop, struct err *err);
void loop_run(struct loop *loop);
/* Instead of loop_run(), when something else failed: closes the listeners. */
void loop_abandon(struct loop *loop);
void loop_stop(struct loop *loop);

struct loop_health {
    bool synced;   /* every list has been read */
    bool stopping; /* no new work */
    usec_t late;   /* by how much the core thread is later than it meant to be back */
};
struct loop_health loop_health(const struct loop *loop);

#endif
