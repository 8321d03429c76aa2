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
    if (ns < 0) /* between clocks that were read a moment apart */
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

/* In order; how many there are. */
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

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help,
                uint64_t value)
{
    head(out, name, type, help);
    buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

static uint64_t load(atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* label: "" or `verb="bind"`. */
static void put_histogram(struct buf *out, const char *name, const char *label, usec_t first,
                          struct histogram *h)
{
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
static void put_summary(struct buf *out, const char *name, const char *label, struct samples *s)
{
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
    head(out, "muster_extender_requests_total", "counter",
         "Calls of kube-scheduler, by verb and how they ended.");
    for (int v = 0; v < EXTENDER_VERB_MAX; v++)
        for (int o = 0; o < METRIC_OUTCOME_MAX; o++)
            buf_printf(
                out, "muster_extender_requests_total{verb=\"%s\",outcome=\"%s\"} %" PRIu64 "\n",
                extender_verb_name((enum extender_verb)v), outcomes[o], load(&m->requests[v][o]));
    head(out, "muster_extender_request_bytes_total", "counter", "Bytes of request bodies.");
    for (int v = 0; v < EXTENDER_VERB_MAX; v++)
        buf_printf(out, "muster_extender_request_bytes_total{verb=\"%s\"} %" PRIu64 "\n",
                   extender_verb_name((enum extender_verb)v), load(&m->request_bytes[v]));
    head(out, "muster_extender_request_duration_seconds", "histogram",
         "From a call's headers to its reply, without the time a bind was held.");
    for (int v = 0; v < EXTENDER_VERB_MAX; v++) {
        char label[32];
        snprintf(label, sizeof label, "verb=\"%s\"", extender_verb_name((enum extender_verb)v));
        put_histogram(out, "muster_extender_request_duration_seconds", label, DURATION_FIRST,
                      &m->duration[v]);
    }
    head(out, "muster_extender_work_seconds", "summary",
         "All that was done for a call, without waiting for its bytes or for its gang; the last "
         "2,048.");
    for (int v = 0; v < EXTENDER_VERB_MAX; v++) {
        char label[32];
        snprintf(label, sizeof label, "verb=\"%s\"", extender_verb_name((enum extender_verb)v));
        put_summary(out, "muster_extender_work_seconds", label, &m->work[v]);
    }
    head(out, "muster_bind_reply_seconds", "summary",
         "From the API server's answer to a Binding to the reply to the bind call that waited for "
         "it; the last 2,048.");
    put_summary(out, "muster_bind_reply_seconds", "", &m->bind_reply);
    head(out, "muster_query_turn_seconds", "summary",
         "CPU that the core spent on the API and on metrics between two steps; the last 2,048.");
    put_summary(out, "muster_query_turn_seconds", "", &m->queries);
    head(out, "muster_bind_held_seconds", "histogram", "How long bind calls were held.");
    put_histogram(out, "muster_bind_held_seconds", "", HELD_FIRST, &m->held);
    head(out, "muster_step_duration_seconds", "histogram",
         "One step of the core: facts, plans, answers.");
    put_histogram(out, "muster_step_duration_seconds", "", STEP_FIRST, &m->step);
}

static void write_core(const struct gang_core *core, struct buf *out)
{
    struct gang_stats s;
    gang_core_stats(core, &s);
    head(out, "muster_gangs", "gauge", "Gangs by state.");
    for (int i = 0; i < GANG_STATE_MAX; i++)
        buf_printf(out, "muster_gangs{state=\"%s\"} %zu\n", gang_state_name((enum gang_state)i),
                   s.gangs[i]);
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } singles[] = {
        {"muster_held_binds", "gauge", "Bind calls held now.", s.held},
        {"muster_holds_total", "counter", "Bind calls that were held.", s.holds},
        {"muster_slots_displaced_total", "counter", "Slots of plans moved to other nodes.",
         s.slots_displaced},
        {"muster_commits_total", "counter", "Gangs whose bindings were begun to be written.",
         s.commits},
        {"muster_hold_timeouts_total", "counter", "Gangs' holds that reached holdSeconds.",
         s.hold_timeouts},
        {"muster_members_rejected_early_total", "counter",
         "Planned members that kube-scheduler refused without asking muster.", s.rejected_early},
        {"muster_attempts_timed_out_total", "counter", "Attempts ended by their schedule timeout.",
         s.attempts_timed_out},
        {"muster_wakes_total", "counter", "Waiting pods woken by a write.", s.wakes},
        {"muster_gated_pods", "gauge", "Pods with muster's own scheduling gate.", s.gated},
        {"muster_invalid_pods", "gauge",
         "Pods that exceed a bound or cannot be read whole; the log names them.", s.invalid},
        {"muster_gates_lifted_total", "counter", "Gates that were asked to be lifted.",
         s.gates_lifted},
        {"muster_express_lane", "gauge", "0 when the express lane is off or closed for all.",
         s.express},
        {"muster_express_closed_namespaces", "gauge",
         "Namespaces that the express lane is closed for by predicate mismatches.",
         s.express_closed},
        {"muster_express_bindings_total", "counter",
         "Bindings sent for members that kube-scheduler had not brought to bind.",
         s.bindings_express},
        {"muster_predicate_checks_total", "counter",
         "Whole lists of nodes that were compared with muster's own rules.", s.predicate_checks},
        {"muster_nodes", "gauge", "Nodes known.", s.nodes},
        {"muster_pods", "gauge", "Pods known.", s.pods},
        {"muster_podgroups", "gauge", "PodGroups known.", s.groups},
        {"muster_synced", "gauge", "1 when every list was read once.", gang_core_synced(core)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(singles); i++)
        one(out, singles[i].name, singles[i].type, singles[i].help, singles[i].value);
    head(out, "muster_plans_total", "counter", "Plans by how they ended.");
    buf_printf(out,
               "muster_plans_total{result=\"made\"} %" PRIu64 "\n"
               "muster_plans_total{result=\"failed\"} %" PRIu64 "\n"
               "muster_plans_total{result=\"dropped\"} %" PRIu64 "\n",
               s.plans_made, s.plans_failed, s.plans_dropped);
    head(out, "muster_predicate_mismatch_total", "counter",
         "Nodes about which kube-scheduler and muster's rules differ, seen twice.");
    for (int p = 0; p < PREDICATE_MAX; p++)
        buf_printf(out, "muster_predicate_mismatch_total{predicate=\"%s\"} %" PRIu64 "\n",
                   gang_predicate_name((enum gang_predicate)p), s.mismatches[p]);
    head(out, "muster_invariant_violations_total", "counter",
         "Gangs that a step left as they should not be, a mistake in muster; the log has the first "
         "of each check.");
    for (int i = 0; i < GANG_INVARIANT_MAX; i++)
        buf_printf(out, "muster_invariant_violations_total{check=\"%s\"} %" PRIu64 "\n",
                   gang_invariant_name((enum gang_invariant)i), s.violations[i]);
    head(out, "muster_binds_turned_away_total", "counter",
         "Bind calls that kube-scheduler should not have made.");
    buf_printf(out,
               "muster_binds_turned_away_total{why=\"not-passed\"} %" PRIu64 "\n"
               "muster_binds_turned_away_total{why=\"node-rule\"} %" PRIu64 "\n",
               s.binds_not_passed, s.binds_unfit);
    head(out, "muster_bindings_total", "counter", "Bindings written for gangs and single pods.");
    buf_printf(out,
               "muster_bindings_total{outcome=\"ok\"} %" PRIu64 "\n"
               "muster_bindings_total{outcome=\"refused\"} %" PRIu64 "\n"
               "muster_bindings_total{outcome=\"unclear\"} %" PRIu64 "\n",
               s.bindings_ok, s.bindings_refused, s.bindings_unclear);
}

/* The cells of docs/states.md: what came to gangs, by the state they were in. */
static void write_triggers(const struct gang_core *core, struct buf *out)
{
    struct gang_stats s;
    gang_core_stats(core, &s);
    head(out, "muster_gang_triggers_total", "counter",
         "Triggers of changes that came to gangs, by their state.");
    for (int i = 0; i < GANG_STATE_MAX; i++)
        for (int h = 0; h < TRIGGER_MAX; h++)
            if (s.cells[i][h])
                buf_printf(out,
                           "muster_gang_triggers_total{state=\"%s\",trigger=\"%s\"} %" PRIu64 "\n",
                           gang_state_name((enum gang_state)i),
                           gang_trigger_name((enum gang_trigger)h), s.cells[i][h]);
}

/* ---- devices, summed over the nodes ---- */

enum { ALLOCATABLE, USED, RESERVED, AMOUNTS };

static const struct device_gauge {
    const char *name, *help;
} device_gauges[AMOUNTS] = {
    [ALLOCATABLE] = {"muster_allocatable_devices", "Devices of all nodes, by resource."},
    [USED] = {"muster_used_devices",
              "Devices charged for assigned pods, on nodes that offer them."},
    [RESERVED] = {"muster_reserved_devices", "Devices reserved by plans."},
};

static void put_label(struct buf *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            buf_putc(out, '\\');
        buf_putc(out, *value == '\n' ? ' ' : *value);
    }
}

static void put_device(void *arg, const char *resource, int64_t allocatable, int64_t used,
                       int64_t reserved)
{
    struct buf *lines = arg;
    const int64_t amounts[AMOUNTS] = {allocatable, used, reserved};
    for (int what = 0; what < AMOUNTS; what++) {
        buf_printf(&lines[what], "%s{resource=\"", device_gauges[what].name);
        put_label(&lines[what], resource);
        buf_printf(&lines[what], "\"} %" PRId64 "\n", amounts[what]);
    }
}

static void write_devices(const struct gang_core *core, struct buf *out)
{
    struct buf lines[AMOUNTS] = {BUF_INIT};
    gang_core_each_device(core, put_device, lines);
    for (int what = 0; what < AMOUNTS; what++) {
        head(out, device_gauges[what].name, "gauge", device_gauges[what].help);
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
    head(out, "muster_http_connections", "gauge", "Open connections, by listener.");
    buf_printf(out, "muster_http_connections{listener=\"verbs\"} %zu\n", v.connections);
    buf_printf(out, "muster_http_connections{listener=\"ops\"} %zu\n", o.connections);
    head(out, "muster_http_connections_cut_total", "counter",
         "Connections closed because a client was too slow.");
    buf_printf(out, "muster_http_connections_cut_total{listener=\"verbs\"} %" PRIu64 "\n", v.cut);
    buf_printf(out, "muster_http_connections_cut_total{listener=\"ops\"} %" PRIu64 "\n", o.cut);
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
    return n - 3; /* ".", ".." and the folder itself */
}

static void write_process(struct buf *out)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    one(out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    one(out, "process_open_fds", "gauge", "Open files.", open_files());
    head(out, "process_cpu_seconds_total", "counter", "CPU time, user and system.");
    buf_printf(out, "process_cpu_seconds_total %.2f\n",
               (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                   (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
    head(out, "muster_build_info", "gauge", "Always 1; the version is the label.");
    buf_printf(out, "muster_build_info{version=\"%s\"} 1\n", MUSTER_VERSION);
}

void metrics_write(struct metrics *m, const struct gang_core *core, struct cluster *cluster,
                   struct http *verbs, struct http *ops, struct buf *out)
{
    write_calls(m, out);
    write_core(core, out);
    write_triggers(core, out);
    write_devices(core, out);
    write_listeners(verbs, ops, out);
    write_process(out);
    if (cluster && cluster->ops->metrics)
        cluster->ops->metrics(cluster, out);
}
