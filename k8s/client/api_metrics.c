/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client/api_metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/map.h"
#include "k8s/client/api_metrics_table.h"

static const double bounds[] = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30};

struct histogram {
    uint64_t buckets[ARRAY_SIZE(bounds)]; /* not cumulative */
    uint64_t count;
    double sum;
};

struct api_metrics {
    /* shared */
    pthread_mutex_t lock;
    struct map requests;  /* labels -> uint64_t */
    struct map durations; /* verb -> struct histogram */
    struct map counters;  /* name{label="value"} -> int64_t; also gauges */
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

enum family {
#define X(id, section, name, type, labels, help, note) FAMILY_##id,
    API_METRICS(X)
#undef X
};

static const struct family_row {
    const char *name, *type, *help;
} families[] = {
#define X(id, section, name, type, labels, help, note) {name, type, help},
    API_METRICS(X)
#undef X
};

static const char *head(struct buf *out, enum family f)
{
    const struct family_row *row = &families[f];
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name, row->type);
    return row->name;
}

static void print_histogram(struct buf *out, const char *name, const char *verb,
                            const struct histogram *h)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        sum += h->buckets[i];
        buf_printf(out, "%s_bucket{verb=\"%s\",le=\"%g\"} %" PRIu64 "\n", name, verb, bounds[i],
                   sum);
    }
    buf_printf(out,
               "%s_bucket{verb=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
               "%s_sum{verb=\"%s\"} %.6f\n"
               "%s_count{verb=\"%s\"} %" PRIu64 "\n",
               name, verb, h->count, name, verb, h->sum, name, verb, h->count);
}

/* Prometheus requires all series of a metric to be printed together. */
static void print_counters(struct buf *out, const struct map *counters, enum family f)
{
    const char *name = head(out, f);
    size_t len = strlen(name);
    map_for_each (e, counters)
        if (strncmp(e->key, name, len) == 0 && e->key[len] == '{')
            buf_printf(out, "%s %" PRId64 "\n", e->key, *(const int64_t *)e->value);
}

void api_metrics_print(struct api_metrics *m, struct buf *out)
{
    pthread_mutex_lock(&m->lock);
    const char *name = head(out, FAMILY_REQUESTS);
    map_for_each (e, &m->requests)
        buf_printf(out, "%s{%s} %" PRIu64 "\n", name, e->key, *(const uint64_t *)e->value);
    name = head(out, FAMILY_DURATION);
    map_for_each (e, &m->durations)
        print_histogram(out, name, e->key, e->value);
    for (enum family f = FAMILY_WATCH_EVENTS; f < FAMILY_QUEUE_LENGTH; f++)
        print_counters(out, &m->counters, f);
    name = head(out, FAMILY_QUEUE_LENGTH);
    map_for_each (e, &m->queues)
        buf_printf(out, "%s{queue=\"%s\"} %" PRIu64 "\n", name, e->key,
                   *(const uint64_t *)e->value);
    pthread_mutex_unlock(&m->lock);
}
