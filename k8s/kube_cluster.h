/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_cluster.h - a real cluster behind the interface of cluster.h.
 *
 * kube_cluster_open() reads the credentials and starts a thread that owns the connection. The
 * thread posts facts of nodes, pods and PodGroups to the sink as they change, SYNCED once every
 * list has been read, and the result of each apply() that has one. advance() and next() do
 * nothing. close() waits for pending writes until its deadline. The sink must be thread-safe and
 * live until close() has returned.
 */
#ifndef MUSTER_K8S_KUBE_CLUSTER_H
#define MUSTER_K8S_KUBE_CLUSTER_H

#include "base/err.h"
#include "k8s/interface/cluster.h"
#include "workload/workload.h"

struct kube_cluster_options {
    const char *kubeconfig; /* NULL: the service account of the Pod we run in */
    const char *version;    /* of this program, for the user agent */
    int bindings;           /* written at once; 0: 32 */
    bool gates;             /* pods are expected to get muster's scheduling gate */
    /* The pods for which muster creates PodGroups; NULL: none. Borrowed until close(). */
    const struct workload_rules *rules;
};

int kube_cluster_open(const struct kube_cluster_options *options, const struct cluster_sink *sink,
                      struct cluster **ret, struct err *err);

#endif
