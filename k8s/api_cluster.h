/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_cluster.h - a real cluster, behind the interface of cluster.h.
 *
 * api_cluster_open() reads the credentials and starts a thread that owns the connection: it posts
 * facts of nodes, pods and PodGroups to the sink as they change, SYNCED once when every list has
 * been read, and the results of what apply() asked for. advance() and next() have nothing to do.
 * close() first lets the writes that wait be written, until its deadline. The sink must be
 * thread-safe and live until close() has returned.
 */
#ifndef MUSTER_K8S_API_CLUSTER_H
#define MUSTER_K8S_API_CLUSTER_H

#include "base/err.h"
#include "k8s/interface/cluster.h"
#include "workload/workload.h"

struct api_options {
    const char *kubeconfig; /* NULL: the service account of the Pod we run in */
    const char *version;    /* of this program, for the user agent */
    int bindings;           /* written at once; 0: 32 */
    bool gates;             /* pods are expected to get muster's scheduling gate */
    /* Whose pods get PodGroups made for them; NULL: nobody's. Borrowed until close(). */
    const struct workload_rules *rules;
};

int api_cluster_open(const struct api_options *options, const struct cluster_sink *sink,
                     struct cluster **ret, struct err *err);

#endif
