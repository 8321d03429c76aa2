/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspended_pods.h - the pods that a suspended workload creates after it is resumed, as facts.
 *
 * They stand for the new pods in the core (gang/lifecycle/suspension.h). Their names contain ':',
 * so that no real pod has the same name, and no write reaches the API server for them.
 *
 * A tenant writes the workload, so the cost is bounded: GANG_DRY_PODS, SUSPENDED_BYTES and
 * SUSPENDED_WORK. No state, any thread.
 */
#ifndef MUSTER_K8S_DECODE_SUSPENDED_PODS_H
#define MUSTER_K8S_DECODE_SUSPENDED_PODS_H

#include <jansson.h>

#include "base/err.h"
#include "gang/facts.h"
#include "k8s/decode/priority_classes.h"
#include "workload/workload.h"

#define SUSPENDED_BYTES ((size_t)8 << 20) /* memory of the facts of a workload */
#define SUSPENDED_WORK  1000000           /* values of the workload, for each pod */

struct suspended_pods {
    struct gang_pod_facts **facts;
    size_t n, cap;
    size_t bytes;
};

struct suspended_pods_options {
    const struct workload_rules *rules; /* NULL: muster creates no PodGroups */
    const struct priority_classes *classes;
    const struct gang_ref *group; /* the PodGroup that the workload owns */
};

/*
 * The workload is of this kind. It may run or be suspended. 0: *ret is filled, with at least one
 * pod; free it with suspended_pods_done(). -1: the workload is invalid or creates too many pods, or
 * its pods are not members of this PodGroup.
 */
int suspended_pods(const struct workload_suspendable *of, const json_t *workload,
                   const struct suspended_pods_options *options, struct suspended_pods *ret,
                   struct err *err);
void suspended_pods_done(struct suspended_pods *p);

#endif
