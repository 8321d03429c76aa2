/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - muster's counters, and their text format for Prometheus.
 *
 * The counters here are atomic, because the listener's threads and the core thread write them. The
 * core and the cluster have counters of their own, which metrics_write() adds on the core thread.
 * No label grows with the cluster: names of gangs, pods and nodes are not labels, and the number of
 * queues is limited. The caller owns the struct, which starts as zeros.
 */
#ifndef MUSTER_SERVER_VIEWS_METRICS_H
#define MUSTER_SERVER_VIEWS_METRICS_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/usec.h"
#include "server/extender/extender_request.h"

struct gang_core;
struct cluster;
struct http;

/* The outcome of a call, as kube-scheduler sees it. */
#define METRIC_OUTCOMES(X)                                                                         \
    X(OK, "ok")           /* a node passed, or a Binding was written */                            \
    X(REFUSED, "refused") /* no node passed, or no Binding was written */                          \
    X(ERROR, "error")     /* filter replied with an Error, or muster is stopping */                \
    X(BROKEN, "broken")   /* the request could not be read */                                      \
    X(TOO_LARGE, "too_large") X(METHOD, "wrong_method") X(OVERLOAD, "overload")

enum metric_outcome {
#define X(id, name) METRIC_##id,
    METRIC_OUTCOMES(X)
#undef X
        METRIC_OUTCOME_MAX
};

#define METRIC_BUCKETS 15
struct histogram {
    atomic_uint_fast64_t buckets[METRIC_BUCKETS + 1]; /* the last one is above all bounds */
    atomic_int_fast64_t sum;                          /* microseconds */
};
/* The bounds of the buckets are first, first * 2, first * 4 …, in microseconds. Any thread. */
void histogram_add(struct histogram *h, usec_t first, usec_t value);

/* The last METRIC_SAMPLES durations of an action, for exact quantiles. */
#define METRIC_SAMPLES 2048
struct samples {
    atomic_uint_fast32_t ns[METRIC_SAMPLES]; /* nanoseconds; at most 4.29 s */
    atomic_uint_fast64_t count, sum;         /* since the start; the sum is in nanoseconds */
};
/* Any thread. */
void samples_add(struct samples *s, int64_t ns);
/* A quantile of the last METRIC_SAMPLES durations, in nanoseconds; 0: there are none. */
int64_t samples_quantile(struct samples *s, double quantile);
/* Removes all samples. */
void samples_clear(struct samples *s);

struct metrics {
    size_t max_queues; /* how many queues have series of their own; loop_new() sets it */
    atomic_uint_fast64_t requests[EXTENDER_VERB_MAX][METRIC_OUTCOME_MAX];
    atomic_uint_fast64_t request_bytes[EXTENDER_VERB_MAX];
    struct histogram duration[EXTENDER_VERB_MAX]; /* without the time that a bind call was held */
    struct samples work[EXTENDER_VERB_MAX];       /* without waiting for the body or the gang */
    struct samples bind_reply; /* from the result of a Binding to the reply that waited for it */
    struct samples queries;    /* CPU time that a turn spent on a query */
    struct histogram held;
    struct histogram step;
};

/* Counts a call that is answered. `held` is the part of `duration` for which the core held the
 * call; -1: not held. `work` is in nanoseconds and includes the time in `held`; -1: not measured.
 * Any thread. */
void metrics_call(struct metrics *m, enum extender_verb verb, enum metric_outcome outcome,
                  size_t bytes, usec_t duration, usec_t held, int64_t work);
void metrics_step(struct metrics *m, usec_t duration);

/* Writes all metrics in the text format. On the core thread. cluster, verbs and ops may be NULL. */
void metrics_write(struct metrics *m, const struct gang_core *core, struct cluster *cluster,
                   struct http *verbs, struct http *ops, struct buf *out);

#endif
