/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_cluster.h - a real cluster behind the interface of cluster.h.
 *
 * kube_cluster_open() reads the credentials and starts a thread that owns the connections. The
 * thread posts to the sink:
 *   - the facts of nodes, pods, PodGroups, queues, claims, PriorityClasses, disruption budgets
 *     and Jobs, as they change
 *   - SYNCED after it has read every list once
 *   - WATCH when the watch of nodes or pods falls behind or has caught up
 *   - the result of each BIND and READ_POD
 *
 * advance() and next() do nothing. close() waits for queued writes until its deadline. The sink
 * must be thread-safe, and must exist until close() has returned.
 */
#ifndef MUSTER_K8S_KUBE_CLUSTER_H
#define MUSTER_K8S_KUBE_CLUSTER_H

#include "base/err.h"
#include "k8s/interface/cluster.h"
#include "workload/workload.h"

struct kube_cluster_options {
    const char *kubeconfig; /* NULL: use the service account of muster's own Pod */
    const char *version;    /* muster's version, for the user agent */
    int bindings;           /* maximum number of Bindings in flight; 0: 32 */
    bool gates;             /* the setting gates.enabled */
    bool preemption;        /* watch PodDisruptionBudgets and Jobs: the setting `preemption` */
    /* For which pods muster creates PodGroups; NULL: for none. Borrowed until close(). */
    const struct workload_rules *rules;
};

/* -1: the credentials are missing or invalid, or the client could not start. */
int kube_cluster_open(const struct kube_cluster_options *options, const struct cluster_sink *sink,
                      struct cluster **ret, struct err *err);

#endif
