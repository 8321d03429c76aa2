/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_sums.h - sums up the resources that kube-scheduler counts for a pod.
 *
 *     struct request_sums sums = {0};
 *     for each container, init containers first:
 *         request_sums_ask(&sums, "cpu", 500);       once for each resource
 *         request_sums_container(&sums, kind);       at the end of the container
 *     request_sums_set(&sums, "cpu", 4000);          pod-level requests replace the sum
 *     request_sums_add(&sums, "cpu", 50);            overhead
 *     for each of sums.items: request_sums_charged(&sums.items[i]), the amount of .resource
 *     request_sums_done(&sums);
 *
 * The cost grows linearly with the number of requests, for any names. A sum that overflows stays at
 * INT64_MAX. "pods" is not among the resources, because its amount is always 1.
 *
 * Pure: no I/O, no state, any thread. Source: component-helpers/resource PodRequests,
 * AggregateContainerRequests of k8s.io/kubernetes v1.36.
 */
#ifndef MUSTER_WORKLOAD_REQUEST_SUMS_H
#define MUSTER_WORKLOAD_REQUEST_SUMS_H

#include <stdint.h>

#include "base/map.h"

enum container_kind {
    CONTAINER_REGULAR,
    CONTAINER_SIDECAR, /* an init container with restartPolicy Always */
    CONTAINER_INIT,    /* an init container that ends before the next one begins */
};

struct request_sums {
    struct request_sum {
        char *resource;
        int64_t total;    /* regular containers and sidecars */
        int64_t sidecars; /* sidecars so far */
        int64_t peak;     /* the largest init container, together with the sidecars before it */
        int64_t own;      /* the current container */
        bool asked;       /* own is set */
    } * items;
    size_t n, cap;
    size_t largest;   /* index of the resource whose name is last in strcmp order */
    struct map index; /* resource -> index + 1, for the first n_indexed */
    size_t n_indexed;
    size_t *asked; /* indexes of the resources that the current container requests */
    size_t n_asked, cap_asked;
};

/* If the current container requests a resource twice (in its spec and status), the larger amount
 * counts. */
void request_sums_ask(struct request_sums *r, const char *resource, int64_t amount);
/* Ends the current container. */
void request_sums_container(struct request_sums *r, enum container_kind kind);
/* The amount of a resource; -1: there is no request for it. */
int64_t request_sums_get(struct request_sums *r, const char *resource);
void request_sums_set(struct request_sums *r, const char *resource, int64_t amount);
void request_sums_add(struct request_sums *r, const char *resource, int64_t amount);
int64_t request_sums_charged(const struct request_sum *sum);
/* Frees the content and leaves r empty. If the caller has taken over a name, it must be NULL. */
void request_sums_done(struct request_sums *r);

#endif
