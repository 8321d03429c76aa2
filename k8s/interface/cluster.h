/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - the cluster as the loop sees it: facts come from it, effects go to it.
 *
 * Two implementations: k8s/kube_cluster.c talks to a kube-apiserver (own thread, events may be
 * posted at any time), simulator/built_in_cluster.c is a cluster in memory (no thread, events are
 * posted from advance() and apply(); its own driver asks the verbs as a kube-scheduler would).
 *
 * All functions are called by the thread that owns the core. `post` moves the event: the callee
 * owns it afterwards (and calls gang_event_done on it). `post` of an api cluster is called from
 * its thread and must be thread-safe.
 */
#ifndef MUSTER_K8S_INTERFACE_CLUSTER_H
#define MUSTER_K8S_INTERFACE_CLUSTER_H

#include "base/buf.h"
#include "gang/effect.h"
#include "gang/event.h"

struct cluster;

struct cluster_sink {
    void (*post)(void *arg, struct gang_event *ev);
    void *arg;
};

struct cluster_ops {
    /*
     * Carries out a BIND, READ_POD, NOMINATE, UNGATE, EVICT, TELL, STATUS or EVENT effect; copies
     * what it needs and returns at once. BIND and READ_POD are answered by an event. The built-in
     * cluster also takes the REPLY_* effects of calls it asked itself (their ids have CLUSTER_CALL
     * set).
     */
    void (*apply)(struct cluster *c, usec_t now, const struct gang_effect *effect);
    /* Does what is due at `now`. */
    void (*advance)(struct cluster *c, usec_t now);
    /* When it wants advance() at the latest; USEC_NEVER: never. */
    usec_t (*next)(const struct cluster *c);
    /* Ends writes already queued (bounded by `deadline`), stops its thread, frees everything. */
    void (*close)(struct cluster *c, usec_t deadline);
    /* Appends its metrics in Prometheus text form; may be NULL. */
    void (*metrics)(struct cluster *c, struct buf *out);
};

struct cluster {
    const struct cluster_ops *ops;
};

/* Calls asked by the cluster itself (the driver of the built-in one), not over HTTP. */
#define CLUSTER_CALL (UINT64_C(1) << 63)

#endif
