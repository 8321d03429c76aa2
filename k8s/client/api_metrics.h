/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_metrics.h - the metrics of the API client, in the Prometheus text format.
 *
 * api_metrics_new() makes an empty set, api_metrics_free() frees it. The API thread counts, and any
 * thread may print: the functions take an internal lock. Label values are constants of the program
 * or HTTP status codes, so the number of series is bounded.
 */
#ifndef MUSTER_K8S_CLIENT_API_METRICS_H
#define MUSTER_K8S_CLIENT_API_METRICS_H

#include "base/buf.h"
#include "base/usec.h"

struct api_metrics;

struct api_metrics *api_metrics_new(void);
/* Accepts NULL; returns NULL. */
struct api_metrics *api_metrics_free(struct api_metrics *m);

/* Counts a request that has ended. status 0: there was no reply. */
void api_metrics_request(struct api_metrics *m, const char *verb, const char *resource, long status,
                         usec_t took);
/* Increases the counter muster_<name>{<label>="<value>"} by 1. */
void api_metrics_count(struct api_metrics *m, const char *name, const char *label,
                       const char *value);
/* Changes the gauge muster_<name>{<label>="<value>"} by a difference. */
void api_metrics_change(struct api_metrics *m, const char *name, const char *label,
                        const char *value, int64_t by);
/* Sets the gauge muster_api_queue_length{queue="<queue>"}. */
void api_metrics_queue(struct api_metrics *m, const char *queue, size_t length);
/* Appends all metrics. */
void api_metrics_print(struct api_metrics *m, struct buf *out);

#endif
