/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client/api_metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/map.h"

static const double bounds[] = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30};

struct histogram {
    uint64_t buckets[ARRAY_SIZE(bounds)]; /* not cumulated */
    uint64_t count;
    double sum;
};

struct api_metrics {
    /* shared */
    pthread_mutex_t lock;
    struct map requests;  /* labels -> uint64_t */
    struct map durations; /* verb -> struct histogram */
    struct map counters;  /* name{label="value"} -> int64_t; gauges too */
    struct map queues;    /* queue -> uint64_t */
};

struct api_metrics *api_metrics_new(void)
{
    struct api_metrics *m = xcalloc(1, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

struct api_metrics *api_metrics_free(struct api_metrics *m)
{
    if (!m)
        return NULL;
    struct map *maps[] = {&m->requests, &m->durations, &m->counters, &m->queues};
    for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
        map_for_each (e, maps[i])
            free(e->value);
        map_done(maps[i]);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
    return NULL;
}

static void *value_of(struct map *map, const char *key, size_t size)
{
    void *v = map_get(map, key);
    if (!v) {
        v = xcalloc(1, size);
        map_set(map, key, v);
    }
    return v;
}

void api_metrics_request(struct api_metrics *m, const char *verb, const char *resource, long status,
                         usec_t took)
{
    char labels[128];
    snprintf(labels, sizeof labels, "verb=\"%s\",resource=\"%s\",code=\"%ld\"", verb, resource,
             status);
    double seconds = (double)took / (double)USEC_PER_SEC;
    pthread_mutex_lock(&m->lock);
    ++*(uint64_t *)value_of(&m->requests, labels, sizeof(uint64_t));
    struct histogram *h = value_of(&m->durations, verb, sizeof *h);
    h->count++;
    h->sum += seconds;
    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++)
        if (seconds <= bounds[i]) {
            h->buckets[i]++;
            break;
        }
    pthread_mutex_unlock(&m->lock);
}

void api_metrics_change(struct api_metrics *m, const char *name, const char *label,
                        const char *value, int64_t by)
{
    char key[160];
    snprintf(key, sizeof key, "muster_%s{%s=\"%s\"}", name, label, value);
    pthread_mutex_lock(&m->lock);
    *(int64_t *)value_of(&m->counters, key, sizeof(int64_t)) += by;
    pthread_mutex_unlock(&m->lock);
}

void api_metrics_count(struct api_metrics *m, const char *name, const char *label,
                       const char *value)
{
    api_metrics_change(m, name, label, value, 1);
}

void api_metrics_queue(struct api_metrics *m, const char *queue, size_t length)
{
    pthread_mutex_lock(&m->lock);
    *(uint64_t *)value_of(&m->queues, queue, sizeof(uint64_t)) = length;
    pthread_mutex_unlock(&m->lock);
}

static void print_histogram(struct buf *out, const char *verb, const struct histogram *h)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        sum += h->buckets[i];
        buf_printf(
            out, "muster_api_request_duration_seconds_bucket{verb=\"%s\",le=\"%g\"} %" PRIu64 "\n",
            verb, bounds[i], sum);
    }
    buf_printf(out,
               "muster_api_request_duration_seconds_bucket{verb=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
               "muster_api_request_duration_seconds_sum{verb=\"%s\"} %.6f\n"
               "muster_api_request_duration_seconds_count{verb=\"%s\"} %" PRIu64 "\n",
               verb, h->count, verb, h->sum, verb, h->count);
}

/* What has one name must be printed together. */
static void print_counters(struct buf *out, const struct map *counters, const char *name,
                           const char *type, const char *help)
{
    buf_printf(out, "# HELP muster_%s %s\n# TYPE muster_%s %s\n", name, help, name, type);
    size_t len = strlen(name);
    map_for_each (e, counters)
        if (strncmp(e->key + strlen("muster_"), name, len) == 0 &&
            e->key[strlen("muster_") + len] == '{')
            buf_printf(out, "%s %" PRId64 "\n", e->key, *(const int64_t *)e->value);
}

void api_metrics_print(struct api_metrics *m, struct buf *out)
{
    static const char *const counters[][3] = {
        {"watch_events_total", "counter", "Events received from watches of the API server."},
        {"watch_restarts_total", "counter", "Watches that were begun again."},
        {"watch_lists_total", "counter", "Lists read whole from the API server."},
        {"watch_errors_total", "counter",
         "Objects and lines from the API server that could not be read."},
        {"podgroups_created_total", "counter", "PodGroups created for workloads that had none."},
        {"podgroup_failures_total", "counter", "Failed steps in the creation of PodGroups."},
        {"api_dropped_total", "counter", "Writes given up because their queue was full."},
        {"unreadable_objects", "gauge", "Objects that cannot be read, or only in part."},
    };
    pthread_mutex_lock(&m->lock);
    buf_puts(out, "# HELP muster_api_requests_total Requests to the API server that have ended; "
                  "code 0: without an answer.\n# TYPE muster_api_requests_total counter\n");
    map_for_each (e, &m->requests)
        buf_printf(out, "muster_api_requests_total{%s} %" PRIu64 "\n", e->key,
                   *(const uint64_t *)e->value);
    buf_puts(out, "# HELP muster_api_request_duration_seconds Duration of requests to the API "
                  "server.\n# TYPE muster_api_request_duration_seconds histogram\n");
    map_for_each (e, &m->durations)
        print_histogram(out, e->key, e->value);
    for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
        print_counters(out, &m->counters, counters[i][0], counters[i][1], counters[i][2]);
    buf_puts(out, "# HELP muster_api_queue_length Writes waiting or under way.\n"
                  "# TYPE muster_api_queue_length gauge\n");
    map_for_each (e, &m->queues)
        buf_printf(out, "muster_api_queue_length{queue=\"%s\"} %" PRIu64 "\n", e->key,
                   *(const uint64_t *)e->value);
    pthread_mutex_unlock(&m->lock);
}
