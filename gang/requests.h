/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h - what kube-scheduler charges for a pod, summed while its containers are read.
 *
 *     struct gang_requests r = {0};
 *     for each container, init containers first:
 *         gang_requests_ask(&r, "cpu", 500);         as often as it names resources
 *         gang_requests_container(&r, kind);         it ends
 *     gang_requests_set(&r, "cpu", 4000);            pod-level requests replace the sum
 *     gang_requests_add(&r, "cpu", 50);              overhead
 *     gang_requests_end(&r, &facts->requests);
 *
 * The cost grows with the number of requests, whatever their names are. Sums that overflow stay at
 * INT64_MAX. "pods" is not among them: that is always one. Source: component-helpers/resource
 * PodRequests, AggregateContainerRequests of k8s.io/kubernetes v1.36. Pure, any thread.
 */
#ifndef MUSTER_GANG_REQUESTS_H
#define MUSTER_GANG_REQUESTS_H

#include "base/map.h"
#include "gang/facts.h"

enum gang_container_kind {
    CONTAINER_REGULAR,
    CONTAINER_SIDECAR, /* an init container with restartPolicy Always */
    CONTAINER_INIT,    /* a step that ends before the next begins */
};

struct gang_requests {
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
void gang_requests_ask(struct gang_requests *r, const char *resource, int64_t amount);
void gang_requests_container(struct gang_requests *r, enum gang_container_kind kind);
/* -1: nobody asked for it. */
int64_t gang_requests_get(struct gang_requests *r, const char *resource);
void gang_requests_set(struct gang_requests *r, const char *resource, int64_t amount);
void gang_requests_add(struct gang_requests *r, const char *resource, int64_t amount);
/* Moves the sums into *ret, which is empty, and leaves r empty; ret NULL: drops them. */
void gang_requests_end(struct gang_requests *r, struct gang_amounts *ret);

#endif
