/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_sums.h - what kube-scheduler charges for a pod, summed while its containers are read.
 *
 *     struct request_sums sums = {0};
 *     for each container, init containers first:
 *         request_sums_ask(&sums, "cpu", 500);       as often as it names resources
 *         request_sums_container(&sums, kind);       it ends
 *     request_sums_set(&sums, "cpu", 4000);          pod-level requests replace the sum
 *     request_sums_add(&sums, "cpu", 50);            overhead
 *     for each of sums.items: request_sums_charged(&sums.items[i]), the amount of .resource
 *     request_sums_done(&sums);
 *
 * The cost grows with the number of requests, whatever their names are. Sums that overflow stay at
 * INT64_MAX. "pods" is not among them: that is always one. Source: component-helpers/resource
 * PodRequests, AggregateContainerRequests of k8s.io/kubernetes v1.36. Pure, any thread.
 */
#ifndef MUSTER_WORKLOAD_REQUEST_SUMS_H
#define MUSTER_WORKLOAD_REQUEST_SUMS_H

#include <stdint.h>

#include "base/map.h"

enum container_kind {
    CONTAINER_REGULAR,
    CONTAINER_SIDECAR, /* an init container with restartPolicy Always */
    CONTAINER_INIT,    /* a step that ends before the next begins */
};

struct request_sums {
    struct request_sum {
        char *resource;
        int64_t total, sidecars, peak; /* peak: of the init steps, each with the sidecars before */
        int64_t own;                   /* of the container at hand */
        bool asked;                    /* own is set */
    } * items;
    size_t n, cap;
    size_t largest;   /* place of the name that is last in order */
    struct map index; /* resource -> place + 1, of the first n_indexed */
    size_t n_indexed;
    size_t *asked; /* places that the container at hand asks for */
    size_t n_asked, cap_asked;
};

/* The largest counts where the container at hand names a resource twice (its spec and status). */
void request_sums_ask(struct request_sums *r, const char *resource, int64_t amount);
void request_sums_container(struct request_sums *r, enum container_kind kind);
/* -1: nobody asked for it. */
int64_t request_sums_get(struct request_sums *r, const char *resource);
void request_sums_set(struct request_sums *r, const char *resource, int64_t amount);
void request_sums_add(struct request_sums *r, const char *resource, int64_t amount);
int64_t request_sums_charged(const struct request_sum *sum);
/* Leaves r empty. A name that the caller took is NULL by then. */
void request_sums_done(struct request_sums *r);

#endif
