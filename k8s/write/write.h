/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - effects of the core as calls of the API server.
 *
 *   1. order_new() copies an effect, on the core's thread; the order travels by mail.
 *   2. writer_take() on the API thread puts it into its lane; writer_pump() starts what may start.
 *   3. BIND and READ_POD end in an event to the sink; the others end silently or in a log line.
 *
 * Lanes: bindings (first come, first served, a bounded number under way: gang after gang), reads,
 * nominations (newest per pod), evictions (asked for again while a budget forbids them), statuses
 * (newest per PodGroup and phase; where many wait, newest per PodGroup), events (rate bounded, the
 * oldest is dropped), words for the conditions of pods (rate bounded, newest per pod; dropped when
 * the pod is let go or bound). While bindings or nominations are to be written, statuses and events
 * wait; one that has waited for a second goes, one at a time: words never stand in the way of a
 * commit. Every lane is bounded, and serves namespaces in turn (base/fair.h): who has most
 * waiting is who waits, and whose orders are dropped when there is no room.
 */
#ifndef MUSTER_K8S_WRITE_WRITE_H
#define MUSTER_K8S_WRITE_WRITE_H

#include "base/mailbox.h"
#include "k8s/client/client.h"
#include "k8s/interface/cluster.h"
#include "k8s/list_watch/podgroup_cache.h"

struct order;
struct writer;

struct writer_options {
    struct client *client; /* all borrowed; must outlive the writer */
    struct podgroups *groups;
    struct api_metrics *metrics;
    const struct cluster_sink *sink;
    int bindings; /* under way at once; 0: 32 */
    /* 0: the defaults. */
    double events_per_second;
    double events_burst;
};

/* An object that is no PodGroup. */
struct order_about {
    const char *api_version, *kind, *ns, *name, *uid;
};

/* NULL when the effect asks for no write. */
struct order *order_new(const struct gang_effect *effect);
/* A warning, as an event. */
struct order *order_event(const struct order_about *about, const char *reason, const char *text);
struct order *order_free(struct order *o);
struct mail *order_mail(struct order *o);
struct order *order_of_mail(struct mail *m);

struct writer *writer_new(const struct writer_options *options);
/* Drops what is not written yet, without events. Before client_free(). */
struct writer *writer_free(struct writer *w);
/* Takes the order. */
void writer_take(struct writer *w, struct order *o);
void writer_pump(struct writer *w);
/* Something waits or is under way. */
bool writer_busy(const struct writer *w);
/* Something that members wait for is under way. */
bool writer_urgent(const struct writer *w);
/* The same as writer_busy() without events: words for people do not keep the program from ending.
 */
bool writer_owes(const struct writer *w);

#endif
