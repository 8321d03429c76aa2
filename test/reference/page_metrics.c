/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/gang.h"
#include "gang/node_predicates.h"
#include "server/extender/extender_request.h"
#include "server/views/metrics.h"
#include "server/views/metrics_table.h"
#include "test/reference/reference.h"

enum section {
#define X(id, title) SECTION_##id,
    METRIC_SECTIONS(X)
#undef X
        SECTION_MAX
};

static const char *const titles[] = {
#define X(id, title) title,
    METRIC_SECTIONS(X)
#undef X
};

static const struct row {
    enum section section;
    const char *name, *type, *labels, *help, *note;
} rows[] = {
#define X(id, section, name, type, labels, help, note)                                             \
    {SECTION_##section, name, type, labels, help, note},
    SERVER_METRICS(X) API_METRICS(X)
#undef X
};

/* "`verb`, `outcome`" */
static void print_labels(const char *labels)
{
    const char *from = labels;
    while (*from) {
        size_t len = strcspn(from, ",");
        printf("%s `%.*s`", from == labels ? "" : ",", (int)len, from);
        from += len + strspn(from + len, ", ");
    }
    printf(" |");
}

static void print_section(enum section section)
{
    printf("\n## %s\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n", titles[section]);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (rows[i].section != section)
            continue;
        printf("| `%s` | %s |", rows[i].name, rows[i].type);
        print_labels(rows[i].labels);
        page_cell("%s%s%s", rows[i].help, *rows[i].note ? " " : "", rows[i].note);
        putchar('\n');
    }
}

/* ---- the values of labels that come from tables ---- */

static const char *verb(int i)
{
    return extender_verb_name((enum extender_verb)i);
}

static const char *outcome(int i)
{
    static const char *const names[] = {
#define X(id, name) name,
        METRIC_OUTCOMES(X)
#undef X
    };
    return names[i];
}

static const char *state(int i)
{
    return gang_state_name((enum gang_state)i);
}

static const char *queue_state(int i)
{
    return gang_queue_state_name((enum gang_queue_state)i);
}

static const char *trigger(int i)
{
    return gang_trigger_name((enum gang_trigger)i);
}

static const char *check(int i)
{
    return gang_invariant_name((enum gang_invariant)i);
}

static const char *predicate(int i)
{
    return gang_predicate_name((enum gang_predicate)i);
}

static void print_values(const char *label, const char *of, const char *(*name)(int), int n)
{
    printf("| `%s` | %s |", label, of);
    for (int i = 0; i < n; i++)
        printf("%s `%s`", i ? "," : "", name(i));
    printf(" |\n");
}

void page_metrics(const char *root)
{
    (void)root;
    page_title("Metrics",
               "This page is for engineers who monitor muster. It lists each metric with its type, "
               "labels and meaning.",
               "`server/views/metrics_table.h` and `k8s/client/api_metrics_table.h`");
    printf("The ops port serves the metrics at `GET /metrics`. [Operate "
           "muster](../operate.md#metrics) "
           "describes how to\nscrape them, which ones to look at, and alerts.\n\n"
           "- No label has the name of a gang, pod or node as its value.\n"
           "- The metrics under [Queues](#queues) appear when the first queue object exists. The "
           "metrics of single queues\n  have series for at most `maxMetricsQueues` queues, and at "
           "most 8 resources per queue, in this order: cpu, memory,\n  gpu, other resources that "
           "the queue states, resources that it uses. The queues directly below the cluster\n  "
           "come first, then those below them. In each level, queues are sorted by API group, "
           "namespace and name.\n  After about 1 MiB, muster adds no more queues to the reply.\n"
           "- Amounts of cpu are in cores. All other amounts have the unit of the resource, for "
           "example bytes or devices.\n"
           "- Counters start at 0 when muster starts.\n"
           "- Histograms have the series `_bucket`, `_sum` and `_count`.\n"
           "- Summaries have the label `quantile` (0.5, 0.9, 0.99), and the series `_sum` and "
           "`_count`. The quantiles cover\n  the last 2,048 values. `_sum` and `_count` cover all "
           "values since the start.\n"
           "- The series of `muster_gang_triggers_total` and of the metrics under "
           "[API server](#api-server) appear when\n  they get their first value. `muster serve "
           "--cluster` does not print the metrics under API server.\n");
    for (int s = 0; s < SECTION_MAX; s++)
        print_section((enum section)s);
    printf("\n## Values of labels\n\n| label | of | values |\n|---|---|---|\n");
    print_values("verb", "`muster_extender_*`", verb, EXTENDER_VERB_MAX);
    printf("| `verb` | `muster_api_*` | `list`, `watch`, `get`, `create`, `patch` |\n");
    print_values("outcome", "`muster_extender_requests_total`", outcome, METRIC_OUTCOME_MAX);
    printf("| `outcome` | `muster_bindings_total` | `ok`, `refused`, `unclear` |\n");
    print_values("state", "`muster_gangs`, `muster_gang_triggers_total`", state, GANG_STATE_MAX);
    print_values("state", "`muster_queues`, `muster_queue_info`", queue_state,
                 GANG_QUEUE_STATE_MAX);
    print_values("trigger", "`muster_gang_triggers_total`", trigger, TRIGGER_MAX);
    print_values("check", "`muster_invariant_violations_total`", check, GANG_INVARIANT_MAX);
    print_values("predicate", "`muster_predicate_mismatch_total`", predicate, PREDICATE_MAX);
    printf(
        "| `resource` | `muster_*_devices` | names of extended resources, such as "
        "`nvidia.com/gpu` |\n"
        "| `resource` | `muster_queue_*` | names of resources, such as `cpu` and "
        "`nvidia.com/gpu`. `gpu`: all resources named `VENDOR/gpu` together, as KAI counts "
        "them |\n"
        "| `api_group` | `muster_queue_*` | the API group of the queue object |\n"
        "| `queue_namespace` | `muster_queue_*` | the namespace of an ElasticQuota of "
        "scheduler-plugins. Empty for other queues |\n"
        "| `queue`, `parent` | `muster_queue_*` | names of queue objects |\n"
        "| `resource` | `muster_api_*`, `muster_watch_*`, `muster_unreadable_objects` | names of "
        "API resources, such as `pods` |\n"
        "| `listener` | `muster_http_*` | `verbs` (the extender port), `ops` (metrics, health and "
        "API) |\n");
}
