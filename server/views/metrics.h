/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what is counted, and its text form for Prometheus.
 *
 * The counters here are written by the listener's threads and the core thread at once, so they are
 * atomic; what the core and the cluster count themselves is added when the text is rendered, on
 * the core thread. No labels that grow with the cluster: no gang, pod or node names.
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

/* How a call of a verb ended, from kube-scheduler's point of view. */
#define METRIC_OUTCOMES(X)                                                                         \
    X(OK, "ok")           /* a node passed, a binding was written */                               \
    X(REFUSED, "refused") /* no node passed, no binding */                                         \
    X(ERROR, "error")     /* an Error in filter's reply, or the program is ending */               \
    X(BROKEN, "broken")   /* the request could not be understood */                                \
    X(TOO_LARGE, "too_large") X(METHOD, "wrong_method") X(OVERLOAD, "overload")

enum metric_outcome {
#define X(id, name) METRIC_##id,
    METRIC_OUTCOMES(X)
#undef X
        METRIC_OUTCOME_MAX
};

#define METRIC_BUCKETS 15
struct histogram {
    atomic_uint_fast64_t buckets[METRIC_BUCKETS + 1]; /* the last: above all bounds */
    atomic_int_fast64_t sum;                          /* microseconds */
};
/* Buckets are at first, first * 2, first * 4 …; see metrics.c. */
void histogram_add(struct histogram *h, usec_t first, usec_t value);

/* The last durations of something, in microseconds, for exact quantiles. */
#define METRIC_SAMPLES 2048
struct samples {
    atomic_uint_fast32_t ns[METRIC_SAMPLES]; /* at most 4.29 s */
    atomic_uint_fast64_t count, sum;         /* since the start; nanoseconds */
};
void samples_add(struct samples *s, int64_t ns);
/* Of the last METRIC_SAMPLES; nanoseconds, 0 when there are none. */
int64_t samples_quantile(struct samples *s, double quantile);
/* As if nothing had been added. */
void samples_clear(struct samples *s);

struct metrics {
    atomic_uint_fast64_t requests[EXTENDER_VERB_MAX][METRIC_OUTCOME_MAX];
    atomic_uint_fast64_t request_bytes[EXTENDER_VERB_MAX];
    struct histogram duration[EXTENDER_VERB_MAX]; /* without the time a bind was held */
    struct samples work[EXTENDER_VERB_MAX];       /* all that was done for a call, see http.h */
    struct samples bind_reply; /* from the API server's answer to the reply that waited for it */
    struct samples queries;    /* CPU that a turn of the core spent on queries */
    struct histogram held;
    struct histogram step;
};

/* A call answered: `held` is the part of `duration` for which the core held it; -1: not at all.
 * `work` in nanoseconds, with the time it was held; -1: it came to no work. */
void metrics_call(struct metrics *m, enum extender_verb verb, enum metric_outcome outcome,
                  size_t bytes, usec_t duration, usec_t held, int64_t work);
void metrics_step(struct metrics *m, usec_t duration);

/* Everything, in the text format. On the core thread. verbs and ops may be NULL. */
void metrics_write(struct metrics *m, const struct gang_core *core, struct cluster *cluster,
                   struct http *verbs, struct http *ops, struct buf *out);

#endif
