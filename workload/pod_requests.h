/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_requests.h - what kube-scheduler charges for a pod, read from the pod's JSON: for the ledger
 * (k8s/decode) and for minResources (min_resources.c).
 *
 * The defaults of an API server are filled in: a missing request is the limit. However many
 * requests there are, the charge is exact. Whatever cannot be read is charged as more than any node
 * has, so that what the pod may use never looks free; the API server takes no such pod. Pure, any
 * thread.
 *
 * Source: component-helpers/resource PodRequests, AggregateContainerRequests; SetDefaults_Pod.
 */
#ifndef MUSTER_WORKLOAD_POD_REQUESTS_H
#define MUSTER_WORKLOAD_POD_REQUESTS_H

#include "workload/json_field.h"
#include "workload/request_sums.h"

enum pod_requests_of {
    REQUESTS_OF_SPEC,     /* as if the pod had no status */
    REQUESTS_OF_IN_FORCE, /* a resize in place counts, by the status */
};

/* Into *ret, which is empty and the caller's to end, whatever is returned. -1: not everything could
 * be read; the error names the first such field by its path. */
int pod_requests_read(const json_t *pod, enum pod_requests_of of, struct request_sums *ret,
                      struct err *err);

/* The condition of that type; NULL: there is none. Borrowed. */
const json_t *pod_condition(const json_t *pod, const char *type);

#endif
