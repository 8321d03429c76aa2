/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - turns effects of the core into requests to the API server.
 *
 *   1. write_request_new() copies an effect on the core's thread. The request travels by mail.
 *   2. writer_take() puts the request into its lane on the API thread. writer_pump() sends all
 *      requests that may be sent now.
 *   3. A BIND or READ_POD ends with an event to the sink, and so does a SUSPEND that fails. Other
 *      requests end without one; if they fail, muster logs it.
 *
 * These are the lanes:
 *   - Bindings: first in, first out, so that gangs are bound one after the other.
 *   - Reads.
 *   - Nominations and gates: only the newest of each pod.
 *   - Evictions: retried while a disruption budget forbids them.
 *   - Suspensions: suspends and resumes workloads.
 *   - Statuses: the newest of each PodGroup and phase; in a backlog, the newest of each PodGroup.
 *   - Statuses of queues: the newest of each queue.
 *   - Events of PodGroups and queues, and events of pods: rate limited. A full lane drops the
 *     oldest.
 *   - Pod conditions: rate limited, the newest of each pod. Dropped when the pod is ungated or
 *     bound.
 *
 * Statuses, events and conditions wait for Bindings, nominations and gates. After one second they
 * are sent anyway, one at a time in each lane. So they never delay a commit much. Every lane has a
 * bound and serves the namespaces in turn (base/fair_queue.h). A namespace with many requests
 * therefore delays only its own requests, and a full lane drops only its requests.
 */
#ifndef MUSTER_K8S_WRITE_WRITE_H
#define MUSTER_K8S_WRITE_WRITE_H

#include "base/mailbox.h"
#include "k8s/client/client.h"
#include "k8s/interface/cluster.h"
#include "k8s/list_watch/podgroup_cache.h"
#include "k8s/list_watch/queue_cache.h"

struct write_request;
struct writer;

struct writer_options {
    struct client *client; /* the pointers are borrowed and must outlive the writer */
    struct podgroups *groups;
    struct queue_cache *queues; /* NULL: no status of a queue is written */
    /* How the pods of a suspended workload would look, see suspended_pods.h. rules may be NULL. */
    const struct workload_rules *rules;
    const struct priority_classes *classes; /* NULL: no workload is suspended */
    struct api_metrics *metrics;
    const struct cluster_sink *sink;
    int bindings; /* maximum number of Bindings in flight; 0: 32 */
    /* For tests: replace all rates and the time. 0: the defaults. */
    double events_per_second;
    double events_burst;
    usec_t eviction_time; /* how long an eviction is tried */
};

/* An object that is not a PodGroup. ns NULL: it has no namespace. */
struct write_request_about {
    const char *api_version, *kind, *ns, *name, *uid;
};

/*
 * The events that k8s/ itself sends, all of type Warning: the reason, the object and when the event
 * is sent. Those of the core are in GANG_KUBE_EVENTS. docs/reference/events.md lists both.
 */
#define WRITER_EVENTS(X)                                                                           \
    X(PODGROUP_NOT_CREATED, "PodGroupNotCreated",                                                  \
      "first owner of the pod, or the pod if it has no owner",                                     \
      "muster has been unable for 30 s to create a PodGroup or to link the pod to it")             \
    X(NOT_SUSPENDED, "NotSuspended", "the workload that owns the PodGroup",                        \
      "muster has evicted the pods of the workload, although it asks to be suspended instead; "    \
      "the "                                                                                       \
      "message is the reason")                                                                     \
    X(QUEUE_INVALID, "InvalidQueue", "Volcano Queue, ElasticQuota",                                \
      "muster finds an error in the queue, or the error changes; the message is the error")        \
    X(QUEUE_OVER_LIMIT, "OverLimit", "Volcano Queue, ElasticQuota",                                \
      "the queue uses more than its limit, for example because the limit was lowered")

enum writer_event {
#define X(id, reason, object, when) WRITER_EVENT_##id,
    WRITER_EVENTS(X)
#undef X
        WRITER_EVENT_MAX
};

/* NULL if the effect needs no write. */
struct write_request *write_request_new(const struct gang_effect *effect);
struct write_request *write_request_event(const struct write_request_about *about,
                                          enum writer_event what, const char *text);
/* Resumes this workload, if muster has suspended it. */
struct write_request *write_request_resume(const struct write_request_about *workload);
struct write_request *write_request_free(struct write_request *o);
struct mail *write_request_mail(struct write_request *o);
struct write_request *write_request_of_mail(struct mail *m);

struct writer *writer_new(const struct writer_options *options);
/* Drops all requests without posting events. Call it before client_free(). Accepts NULL; returns
 * NULL. */
struct writer *writer_free(struct writer *w);
/* Takes ownership of the request. */
void writer_take(struct writer *w, struct write_request *o);
void writer_pump(struct writer *w);
/* Whether a request waits or is in flight. */
bool writer_busy(const struct writer *w);
/* Whether a Binding, nomination or gate waits or is in flight, or was a moment ago. */
bool writer_urgent(const struct writer *w);
/* As writer_busy(), but without events and pod conditions: muster does not wait for them when it
 * stops. */
bool writer_owes(const struct writer *w);

#endif
