/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - turns effects of the core into calls of the API server.
 *
 *   1. write_request_new() copies an effect, on the core's thread; the request travels by mail.
 *   2. writer_take() puts it into its lane, on the API thread; writer_pump() starts what may start.
 *   3. BIND and READ_POD end in an event to the sink; the others end silently or in a log line.
 *
 * Lanes: bindings (first in, first out, a bounded number in flight: gang after gang), reads,
 * nominations and gates (newest per pod), evictions (retried while a budget forbids them), statuses
 * (newest per PodGroup and phase; in a backlog, newest per PodGroup), events of PodGroups and of
 * pods (rate limited, the oldest is dropped), pod conditions (rate limited, newest per pod; dropped
 * when the pod is ungated or bound).
 *
 * Statuses, events and conditions wait for bindings, nominations and gates. One that has waited for
 * a second is sent, one at a time per lane. So text for people never delays a commit. Every lane is
 * bounded and serves namespaces in turn (base/fair_queue.h): a namespace with many requests delays
 * its own, and loses its own when the lane is full.
 */
#ifndef MUSTER_K8S_WRITE_WRITE_H
#define MUSTER_K8S_WRITE_WRITE_H

#include "base/mailbox.h"
#include "k8s/client/client.h"
#include "k8s/interface/cluster.h"
#include "k8s/list_watch/podgroup_cache.h"

struct write_request;
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
struct write_request_about {
    const char *api_version, *kind, *ns, *name, *uid;
};

/* NULL when the effect asks for no write. */
struct write_request *write_request_new(const struct gang_effect *effect);
/* A warning, as an event. */
struct write_request *write_request_event(const struct write_request_about *about,
                                          const char *reason, const char *text);
struct write_request *write_request_free(struct write_request *o);
struct mail *write_request_mail(struct write_request *o);
struct write_request *write_request_of_mail(struct mail *m);

struct writer *writer_new(const struct writer_options *options);
/* Drops what is not written yet, without events. Before client_free(). */
struct writer *writer_free(struct writer *w);
/* Takes the request. */
void writer_take(struct writer *w, struct write_request *o);
void writer_pump(struct writer *w);
/* Something waits or is under way. */
bool writer_busy(const struct writer *w);
/* Something that members wait for is under way. */
bool writer_urgent(const struct writer *w);
/* The same as writer_busy() without events: words for people do not keep the program from ending.
 */
bool writer_owes(const struct writer *w);

#endif
