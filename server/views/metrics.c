/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/map.h"
#include "gang/gang.h"
#include "gang/node_predicates.h"
#include "k8s/interface/cluster.h"
#include "server/http/http.h"
#include "server/views/metrics_queues.h"
#include "server/views/metrics_text.h"

#define DURATION_FIRST (100)   /* 0.1 ms … 1.6 s */
#define HELD_FIRST     (10000) /* 10 ms … 164 s */
#define STEP_FIRST     (10)    /* 10 us … 164 ms */

void histogram_add(struct histogram *h, usec_t first, usec_t value)
{
    size_t i = 0;
    for (usec_t bound = first; i < METRIC_BUCKETS && value > bound; bound *= 2)
        i++;
    atomic_fetch_add_explicit(&h->buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum, value, memory_order_relaxed);
}

void samples_add(struct samples *s, int64_t ns)
{
    if (ns < 0) /* possible, because the clocks are not read at the same moment */
        ns = 0;
    uint64_t nth = atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->sum, (uint64_t)ns, memory_order_relaxed);
    atomic_store_explicit(&s->ns[nth % METRIC_SAMPLES],
                          ns > UINT32_MAX ? UINT32_MAX : (uint_fast32_t)ns, memory_order_relaxed);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Copies the samples in order, and returns their number. */
static size_t sort_samples(struct samples *s, uint32_t sorted[static METRIC_SAMPLES])
{
    uint64_t count = atomic_load_explicit(&s->count, memory_order_relaxed);
    size_t n = count < METRIC_SAMPLES ? (size_t)count : METRIC_SAMPLES;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (uint32_t)atomic_load_explicit(&s->ns[i], memory_order_relaxed);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n;
}

static int64_t quantile_of(const uint32_t *sorted, size_t n, double quantile)
{
    return n ? sorted[(size_t)((double)(n - 1) * quantile + 0.5)] : 0;
}

int64_t samples_quantile(struct samples *s, double quantile)
{
    uint32_t sorted[METRIC_SAMPLES];
    size_t n = sort_samples(s, sorted);
    return quantile_of(sorted, n, quantile);
}

void samples_clear(struct samples *s)
{
    atomic_store_explicit(&s->count, 0, memory_order_relaxed);
    atomic_store_explicit(&s->sum, 0, memory_order_relaxed);
}

void metrics_call(struct metrics *m, enum extender_verb verb, enum metric_outcome outcome,
                  size_t bytes, usec_t duration, usec_t held, int64_t work)
{
    atomic_fetch_add_explicit(&m->requests[verb][outcome], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->request_bytes[verb], bytes, memory_order_relaxed);
    histogram_add(&m->duration[verb], DURATION_FIRST, held > 0 ? duration - held : duration);
    if (work >= 0)
        samples_add(&m->work[verb], held > 0 ? work - held * 1000 : work);
    if (held >= 0)
        histogram_add(&m->held, HELD_FIRST, held);
}

void metrics_step(struct metrics *m, usec_t duration)
{
    histogram_add(&m->step, STEP_FIRST, duration);
}

/* ---- text ---- */

/* A metric without labels. */
static void one(struct buf *out, enum metric_family f, uint64_t value)
{
    metric_head(out, f);
    buf_printf(out, "%s %" PRIu64 "\n", metric_families[f].name, value);
}

/* A series of a metric with one label. */
static void put(struct buf *out, enum metric_family f, const char *label, const char *value,
                uint64_t n)
{
    buf_printf(out, "%s{%s=\"%s\"} %" PRIu64 "\n", metric_families[f].name, label, value, n);
}

static uint64_t load(atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* label: "" or `verb="bind"`. */
static void put_histogram(struct buf *out, enum metric_family f, const char *label, usec_t first,
                          struct histogram *h)
{
    const char *name = metric_families[f].name;
    uint64_t count = 0;
    const char *comma = *label ? "," : "";
    usec_t bound = first;
    for (size_t i = 0; i < METRIC_BUCKETS; i++, bound *= 2) {
        count += load(&h->buckets[i]);
        buf_printf(out, "%s_bucket{%s%sle=\"%g\"} %" PRIu64 "\n", name, label, comma,
                   (double)bound / 1e6, count);
    }
    count += load(&h->buckets[METRIC_BUCKETS]);
    buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, label, comma, count);
    const char *open = *label ? "{" : "", *close = *label ? "}" : "";
    buf_printf(out, "%s_sum%s%s%s %.6f\n", name, open, label, close,
               (double)atomic_load_explicit(&h->sum, memory_order_relaxed) / 1e6);
    buf_printf(out, "%s_count%s%s%s %" PRIu64 "\n", name, open, label, close, count);
}

/* label: "" or `verb="bind"`. */
static void put_summary(struct buf *out, enum metric_family f, const char *label, struct samples *s)
{
    const char *name = metric_families[f].name;
    static const double quantiles[] = {0.5, 0.9, 0.99};
    const char *comma = *label ? "," : "", *open = *label ? "{" : "", *close = *label ? "}" : "";
    uint32_t sorted[METRIC_SAMPLES];
    size_t n = sort_samples(s, sorted);
    for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
        buf_printf(out, "%s{%s%squantile=\"%g\"} %.9f\n", name, label, comma, quantiles[i],
                   (double)quantile_of(sorted, n, quantiles[i]) / 1e9);
    buf_printf(out, "%s_sum%s%s%s %.9f\n", name, open, label, close, (double)load(&s->sum) / 1e9);
    buf_printf(out, "%s_count%s%s%s %" PRIu64 "\n", name, open, label, close, load(&s->count));
}

static void write_calls(struct metrics *m, struct buf *out)
{
    static const char *const outcomes[] = {
#define X(id, name) name,
        METRIC_OUTCOMES(X)
#undef X
    };
    metric_head(out, FAMILY_REQUESTS);
    for (int v = 0; v < EXTENDER_VERB_MAX; v++)
        for (int o = 0; o < METRIC_OUTCOME_MAX; o++)
            buf_printf(out, "%s{verb=\"%s\",outcome=\"%s\"} %" PRIu64 "\n",
                       metric_families[FAMILY_REQUESTS].name,
                       extender_verb_name((enum extender_verb)v), outcomes[o],
                       load(&m->requests[v][o]));
    metric_head(out, FAMILY_REQUEST_BYTES);
    for (int v = 0; v < EXTENDER_VERB_MAX; v++)
        put(out, FAMILY_REQUEST_BYTES, "verb", extender_verb_name((enum extender_verb)v),
            load(&m->request_bytes[v]));
    metric_head(out, FAMILY_DURATION);
    for (int v = 0; v < EXTENDER_VERB_MAX; v++) {
        char label[32];
        snprintf(label, sizeof label, "verb=\"%s\"", extender_verb_name((enum extender_verb)v));
        put_histogram(out, FAMILY_DURATION, label, DURATION_FIRST, &m->duration[v]);
    }
    metric_head(out, FAMILY_WORK);
    for (int v = 0; v < EXTENDER_VERB_MAX; v++) {
        char label[32];
        snprintf(label, sizeof label, "verb=\"%s\"", extender_verb_name((enum extender_verb)v));
        put_summary(out, FAMILY_WORK, label, &m->work[v]);
    }
    metric_head(out, FAMILY_BIND_REPLY);
    put_summary(out, FAMILY_BIND_REPLY, "", &m->bind_reply);
    metric_head(out, FAMILY_QUERY_TURN);
    put_summary(out, FAMILY_QUERY_TURN, "", &m->queries);
    metric_head(out, FAMILY_BIND_HELD);
    put_histogram(out, FAMILY_BIND_HELD, "", HELD_FIRST, &m->held);
    metric_head(out, FAMILY_STEP);
    put_histogram(out, FAMILY_STEP, "", STEP_FIRST, &m->step);
}

static void put_preempted(struct buf *out, enum metric_family f, const uint64_t *by_reason)
{
    static const char *const reasons[] = {
#define X(id, name) [GANG_PREEMPTION_##id] = (name),
        GANG_PREEMPTION_REASONS(X)
#undef X
    };
    metric_head(out, f);
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        put(out, f, "reason", reasons[i], by_reason[i]);
}

static void write_preemptions(const struct gang_stats *s, struct buf *out)
{
    const char *wait = metric_families[FAMILY_PREEMPTION_WAIT].name;
    put_preempted(out, FAMILY_PREEMPTED_GANGS, s->preempted_gangs);
    put_preempted(out, FAMILY_PREEMPTED_PODS, s->preempted_pods);
    metric_head(out, FAMILY_PREEMPTION_WAIT);
    buf_printf(out, "%s_sum %.6f\n%s_count %" PRIu64 "\n", wait, (double)s->preemption_waits / 1e6,
               wait, s->preemptions_done);
}

static void write_core(const struct gang_core *core, struct buf *out)
{
    struct gang_stats s;
    gang_core_stats(core, &s);
    metric_head(out, FAMILY_GANGS_BY_STATE);
    for (int i = 0; i < GANG_STATE_MAX; i++)
        put(out, FAMILY_GANGS_BY_STATE, "state", gang_state_name((enum gang_state)i), s.gangs[i]);
    const struct {
        enum metric_family family;
        uint64_t value;
    } singles[] = {
        {FAMILY_HELD, s.held},
        {FAMILY_HOLDS, s.holds},
        {FAMILY_SLOTS_DISPLACED, s.slots_displaced},
        {FAMILY_COMMITS, s.commits},
        {FAMILY_HOLD_TIMEOUTS, s.hold_timeouts},
        {FAMILY_REJECTED_EARLY, s.rejected_early},
        {FAMILY_ATTEMPTS_TIMED_OUT, s.attempts_timed_out},
        {FAMILY_PREEMPTIONS, s.preemptions},
        {FAMILY_PREEMPTED_SECONDS, s.preempted_lost},
        {FAMILY_PREEMPTIONS_SPOILED, s.preemptions_spoiled},
        {FAMILY_PREEMPTED_ROOM, s.preempted_room},
        {FAMILY_VICTIM_SEARCHES, s.searches},
        {FAMILY_VICTIM_SEARCHES_STOPPED, s.searches_stopped},
        {FAMILY_WAKES, s.wakes},
        {FAMILY_GATED, s.gated},
        {FAMILY_INVALID, s.invalid},
        {FAMILY_GATES_LIFTED, s.gates_lifted},
        {FAMILY_EXPRESS, s.express},
        {FAMILY_EXPRESS_CLOSED, s.express_closed},
        {FAMILY_EXPRESS_BINDINGS, s.bindings_express},
        {FAMILY_PREDICATE_CHECKS, s.predicate_checks},
        {FAMILY_NODES, s.nodes},
        {FAMILY_PODS, s.pods},
        {FAMILY_PODGROUPS, s.groups},
        {FAMILY_SYNCED, gang_core_synced(core)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(singles); i++)
        one(out, singles[i].family, singles[i].value);
    write_preemptions(&s, out);
    metric_head(out, FAMILY_PLANS);
    put(out, FAMILY_PLANS, "result", "made", s.plans_made);
    put(out, FAMILY_PLANS, "result", "failed", s.plans_failed);
    put(out, FAMILY_PLANS, "result", "dropped", s.plans_dropped);
    metric_head(out, FAMILY_PREDICATE_MISMATCH);
    for (int p = 0; p < PREDICATE_MAX; p++)
        put(out, FAMILY_PREDICATE_MISMATCH, "predicate",
            gang_predicate_name((enum gang_predicate)p), s.mismatches[p]);
    metric_head(out, FAMILY_INVARIANTS);
    for (int i = 0; i < GANG_INVARIANT_MAX; i++)
        put(out, FAMILY_INVARIANTS, "check", gang_invariant_name((enum gang_invariant)i),
            s.violations[i]);
    metric_head(out, FAMILY_TURNED_AWAY);
    put(out, FAMILY_TURNED_AWAY, "why", "not-passed", s.binds_not_passed);
    put(out, FAMILY_TURNED_AWAY, "why", "node-rule", s.binds_unfit);
    metric_head(out, FAMILY_BINDINGS);
    put(out, FAMILY_BINDINGS, "outcome", "ok", s.bindings_ok);
    put(out, FAMILY_BINDINGS, "outcome", "refused", s.bindings_refused);
    put(out, FAMILY_BINDINGS, "outcome", "unclear", s.bindings_unclear);
}

/* The cells of docs/reference/states.md: what came to gangs, by the state they were in. */
static void write_triggers(const struct gang_core *core, struct buf *out)
{
    struct gang_stats s;
    gang_core_stats(core, &s);
    metric_head(out, FAMILY_TRIGGERS);
    for (int i = 0; i < GANG_STATE_MAX; i++)
        for (int h = 0; h < TRIGGER_MAX; h++)
            if (s.cells[i][h])
                buf_printf(out, "%s{state=\"%s\",trigger=\"%s\"} %" PRIu64 "\n",
                           metric_families[FAMILY_TRIGGERS].name,
                           gang_state_name((enum gang_state)i),
                           gang_trigger_name((enum gang_trigger)h), s.cells[i][h]);
}

/* ---- devices, summed over the nodes ---- */

static const enum metric_family device_gauges[] = {FAMILY_ALLOCATABLE, FAMILY_USED,
                                                   FAMILY_RESERVED};
#define AMOUNTS ARRAY_SIZE(device_gauges)

static void put_device(void *arg, const char *resource, int64_t allocatable, int64_t used,
                       int64_t reserved)
{
    struct buf *lines = arg;
    const int64_t amounts[AMOUNTS] = {allocatable, used, reserved};
    for (size_t what = 0; what < AMOUNTS; what++) {
        buf_printf(&lines[what], "%s{resource=\"", metric_families[device_gauges[what]].name);
        metric_label(&lines[what], resource);
        buf_printf(&lines[what], "\"} %" PRId64 "\n", amounts[what]);
    }
}

static void write_devices(const struct gang_core *core, struct buf *out)
{
    struct buf lines[AMOUNTS] = {BUF_INIT};
    gang_core_each_device(core, put_device, lines);
    for (size_t what = 0; what < AMOUNTS; what++) {
        metric_head(out, device_gauges[what]);
        buf_append(out, lines[what].data, lines[what].len);
        buf_done(&lines[what]);
    }
}

/* ---- listeners and the process ---- */

static void write_listeners(struct http *verbs, struct http *ops, struct buf *out)
{
    struct http_stats v = {0}, o = {0};
    if (verbs)
        http_stats(verbs, &v);
    if (ops)
        http_stats(ops, &o);
    metric_head(out, FAMILY_CONNECTIONS);
    put(out, FAMILY_CONNECTIONS, "listener", "verbs", v.connections);
    put(out, FAMILY_CONNECTIONS, "listener", "ops", o.connections);
    metric_head(out, FAMILY_CONNECTIONS_CUT);
    put(out, FAMILY_CONNECTIONS_CUT, "listener", "verbs", v.cut);
    put(out, FAMILY_CONNECTIONS_CUT, "listener", "ops", o.cut);
}

static uint64_t resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f) {
        if (fscanf(f, "%*u %lu", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t open_files(void)
{
    uint64_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n - 3; /* without ".", ".." and the descriptor of the folder */
}

static void write_process(struct buf *out)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    one(out, FAMILY_MEMORY, resident_bytes());
    one(out, FAMILY_OPEN_FILES, open_files());
    metric_head(out, FAMILY_CPU);
    buf_printf(out, "%s %.2f\n", metric_families[FAMILY_CPU].name,
               (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                   (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
    metric_head(out, FAMILY_BUILD_INFO);
    put(out, FAMILY_BUILD_INFO, "version", MUSTER_VERSION, 1);
}

void metrics_write(struct metrics *m, const struct gang_core *core, struct cluster *cluster,
                   struct http *verbs, struct http *ops, struct buf *out)
{
    write_calls(m, out);
    write_core(core, out);
    write_triggers(core, out);
    write_devices(core, out);
    metrics_queues(core, m->max_queues, usec_now(), out);
    write_listeners(verbs, ops, out);
    write_process(out);
    if (cluster && cluster->ops->metrics)
        cluster->ops->metrics(cluster, out);
}
