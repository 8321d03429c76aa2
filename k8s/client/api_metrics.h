/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_metrics.h - what the API client counts, for Prometheus.
 *
 * The API thread counts, any thread prints: one lock inside. Labels are words from our own tables,
 * and HTTP status codes, so the number of series is bounded.
 */
#ifndef MUSTER_K8S_CLIENT_API_METRICS_H
#define MUSTER_K8S_CLIENT_API_METRICS_H

#include "base/buf.h"
#include "base/usec.h"

struct api_metrics;

struct api_metrics *api_metrics_new(void);
struct api_metrics *api_metrics_free(struct api_metrics *m);

/* A request has ended; status 0: without an answer. */
void api_metrics_request(struct api_metrics *m, const char *verb, const char *resource, long status,
                         usec_t took);
/* muster_<name>{<label>="<value>"}: counts one up. */
void api_metrics_count(struct api_metrics *m, const char *name, const char *label,
                       const char *value);
/* The same, a gauge: what it was changes by that much. */
void api_metrics_change(struct api_metrics *m, const char *name, const char *label,
                        const char *value, int64_t by);
/* muster_api_queue_length{queue="<queue>"} */
void api_metrics_queue(struct api_metrics *m, const char *queue, size_t length);
void api_metrics_print(struct api_metrics *m, struct buf *out);

#endif
