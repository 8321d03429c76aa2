/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - the cluster as server/loop sees it. Facts come from it, and effects go to it.
 *
 * There are two implementations:
 *   - k8s/kube_cluster.c talks to a kube-apiserver. It has its own thread and posts events at any
 *     time.
 *   - simulator/built_in_cluster.c is a cluster in memory. It has no thread and posts events only
 *     from advance() and apply(). Its driver calls the verbs as kube-scheduler would.
 *
 * Only the thread that owns the core calls these functions. post() moves the event: the callee
 * owns it afterwards and calls gang_event_done() on it. kube_cluster.c calls post() from its own
 * thread, so post() must be thread-safe.
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
     * Carries out a BIND, READ_POD, NOMINATE, UNGATE, EVICT, SUSPEND, RESUME, STATUS, QUEUE_STATUS,
     * EVENT or PATCH_CONDITION effect. Copies what it needs and returns at once. An event reports
     * the result of a BIND or READ_POD, and the failure of a SUSPEND. The built-in cluster also
     * takes the REPLY_* effects of its own calls, whose ids have CLUSTER_CALL set.
     */
    void (*apply)(struct cluster *c, usec_t now, const struct gang_effect *effect);
    /* Does what is due at `now`. */
    void (*advance)(struct cluster *c, usec_t now);
    /* The latest time of the next advance(); USEC_NEVER: none is needed. */
    usec_t (*next)(const struct cluster *c);
    /* Finishes queued writes until `deadline`, stops the thread and frees everything. */
    void (*close)(struct cluster *c, usec_t deadline);
    /* Appends the metrics in the Prometheus text format; may be NULL. */
    void (*metrics)(struct cluster *c, struct buf *out);
};

struct cluster {
    const struct cluster_ops *ops;
};

/* Set in the id of a call that the built-in cluster's driver makes, instead of an HTTP client. */
#define CLUSTER_CALL (UINT64_C(1) << 63)

#endif
