/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_fixture.h - a writer with a scripted API server, for tests of the requests that it sends.
 */
#ifndef MUSTER_TEST_WRITER_FIXTURE_H
#define MUSTER_TEST_WRITER_FIXTURE_H

#include "api_fixture.h"
#include "k8s/decode/priority_classes.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/write/write.h"
#include "log_capture.h"

#define POD(p)  "/api/v1/namespaces/ns/pods/" p
#define BINDING "POST " POD("p") "/binding"
#define GROUP   "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/g"
#define GROUP_OF(version, rest)                                                                    \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"gu\",\"resourceVersion\":"       \
    "\"" version "\"}" rest "}"
#define EVENTS "POST /api/v1/namespaces/ns/events"

struct fixture {
    struct fake_api *api;
    struct api_metrics *metrics;
    struct client *client;
    struct podgroups *groups;
    struct queue_cache *queues;
    struct priority_classes *classes;
    struct writer *writer;
    struct cluster_sink sink;
    struct buf heard;     /* "bind:uid:node:outcome ", "read:…" and "refused:ns/podgroup " */
    usec_t eviction_time; /* for the next make_writer() */
    int fd;
};

int set_up(void **state);
int tear_down(void **state);
/* 0: the defaults. */
void make_writer(struct fixture *x, int bindings, double rate, double burst);
void apply(struct fixture *x, const struct gang_effect *e);
void pod_effect(struct fixture *x, enum gang_effect_kind kind, const char *name, const char *uid,
                const char *node);
/* The body of the n-th request of the route; the caller owns it. */
json_t *body_of(struct fixture *x, const char *route, size_t n);
char *letters(const char *s);

#endif
