/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_requests.h - the resources that kube-scheduler counts for a pod, from the pod's JSON. They
 * are for the ledger (k8s/decode) and for minResources (min_resources.c).
 *
 * It sets the defaults of an API server: a missing request equals the limit. The sums are exact for
 * any number of requests. An invalid amount counts as more than any node has, so that resources
 * that the pod may use never look free. (The API server does not accept such a pod.)
 *
 * Pure: no I/O, no state, any thread. Source: component-helpers/resource PodRequests,
 * AggregateContainerRequests; SetDefaults_Pod.
 */
#ifndef MUSTER_WORKLOAD_POD_REQUESTS_H
#define MUSTER_WORKLOAD_POD_REQUESTS_H

#include "workload/json_field.h"
#include "workload/request_sums.h"

enum pod_requests_of {
    REQUESTS_OF_SPEC,     /* only the spec counts */
    REQUESTS_OF_IN_FORCE, /* the status counts too, for pods that are resized in place */
};

/* Fills *ret, which must be empty. Always call request_sums_done() on it afterwards. -1: a field is
 * invalid; the error names the first such field by its path. */
int pod_requests_read(const json_t *pod, enum pod_requests_of of, struct request_sums *ret,
                      struct err *err);

/* The condition of this type, borrowed; NULL: there is none. */
const json_t *pod_condition(const json_t *pod, const char *type);

#endif
