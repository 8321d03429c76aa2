/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views/metrics_queues.h"

#include <inttypes.h>

#include "gang/gang.h"
#include "server/views/metrics_text.h"

/* Where the names are long, fewer queues have series than the setting allows. */
#define MOST_BYTES ((size_t)1 << 20)
/* About the length of a series without its labels. */
#define SERIES_BYTES 50

/* The families with one series for each queue, and those with one for each of its resources. */
static const enum metric_family of_queue[] = {FAMILY_QUEUE_WAITING, FAMILY_QUEUE_PLANNED,
                                              FAMILY_QUEUE_RUNNING, FAMILY_QUEUE_OLDEST_WAIT};
static const enum metric_family of_resource[] = {FAMILY_QUEUE_USED,       FAMILY_QUEUE_REQUESTED,
                                                 FAMILY_QUEUE_DESERVED,   FAMILY_QUEUE_LIMIT,
                                                 FAMILY_QUEUE_FAIR_SHARE, FAMILY_QUEUE_BORROWED};

/* Labels are owned, and have no braces. Value -1: no series. */
struct resource_row {
    char *labels; /* with those of the queue */
    bool is_cpu;
    int64_t values[ARRAY_SIZE(of_resource)];
};
struct queue_row {
    char *labels;
    const struct gang_ref *parent; /* the core's; NULL: none */
    enum gang_queue_state state;
    int64_t values[ARRAY_SIZE(of_queue)];
    struct resource_row resources[METRIC_QUEUE_RESOURCES];
    size_t n_resources;
};
struct page {
    usec_t now;
    struct queue_row *rows;
    size_t n, resources_left_out, bytes;
};

/* ---- the rows ---- */

/* Names that a pod merely requests come last, because any tenant of a queue can request them. */
static int rank_of(const struct gang_queue_amount *a)
{
    static const char *const first[] = {"cpu", "memory", GANG_ANY_GPU};
    for (size_t i = 0; i < ARRAY_SIZE(first); i++)
        if (str_eq(a->resource, first[i]))
            return (int)i;
    bool stated = a->deserved != GANG_NOT_STATED || a->cap != GANG_UNLIMITED || a->reserved;
    return (int)ARRAY_SIZE(first) + (stated ? 0 : a->used ? 1 : 2);
}

struct choice {
    int rank;
    const struct gang_queue_amount *amount;
};

static bool precedes(const struct choice *x, const struct choice *y)
{
    return x->rank != y->rank ? x->rank < y->rank
                              : strcmp(x->amount->resource, y->amount->resource) < 0;
}

/* The first resources by rank and name. Returns their number. */
static size_t pick_resources(const struct gang_queue_status *s,
                             struct choice picked[METRIC_QUEUE_RESOURCES])
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_amounts; i++) {
        const struct choice next = {rank_of(&s->amounts[i]), &s->amounts[i]};
        size_t at = n;
        while (at > 0 && precedes(&next, &picked[at - 1]))
            at--;
        if (at == METRIC_QUEUE_RESOURCES)
            continue;
        n += n < METRIC_QUEUE_RESOURCES;
        memmove(&picked[at + 1], &picked[at], (n - 1 - at) * sizeof *picked);
        picked[at] = next;
    }
    return n;
}

static void take_amount(const struct gang_queue_amount *a, const char *queue_labels,
                        struct resource_row *row)
{
    bool deserves = a->deserved != GANG_NOT_STATED && a->deserved != GANG_UNLIMITED;
    int64_t borrowed = a->used > a->deserved ? a->used - a->deserved : 0;
    struct buf labels = BUF_INIT;
    buf_printf(&labels, "%s,resource=\"", queue_labels);
    metric_label(&labels, a->resource);
    buf_putc(&labels, '"');
    *row = (struct resource_row){.labels = buf_steal(&labels),
                                 .is_cpu = str_eq(a->resource, "cpu"),
                                 .values = {a->used, a->requested, deserves ? a->deserved : -1,
                                            a->cap != GANG_UNLIMITED ? a->cap : -1, a->share,
                                            deserves ? borrowed : -1}};
}

static char *labels_of(const struct gang_ref *ref)
{
    struct buf labels = BUF_INIT;
    buf_puts(&labels, "api_group=\"");
    metric_label(&labels, ref->api_group);
    buf_puts(&labels, "\",queue_namespace=\"");
    metric_label(&labels, ref->ns);
    buf_puts(&labels, "\",queue=\"");
    metric_label(&labels, ref->name);
    buf_putc(&labels, '"');
    return buf_steal(&labels);
}

/* The bytes depend only on names, so that a queue keeps its series while its use changes. */
static size_t bytes_of(const struct queue_row *row)
{
    size_t each = SERIES_BYTES + strlen(row->labels);
    size_t bytes =
        (ARRAY_SIZE(of_queue) + 1) * each + (row->parent ? strlen(row->parent->name) : 0);
    for (size_t i = 0; i < row->n_resources; i++)
        bytes += ARRAY_SIZE(of_resource) * (SERIES_BYTES + strlen(row->resources[i].labels));
    return bytes;
}

static bool take_queue(void *arg, const struct gang_queue_figures *f)
{
    struct page *page = arg;
    const struct gang_queue_status *s = &f->status;
    struct choice picked[METRIC_QUEUE_RESOURCES];
    struct queue_row *row = &page->rows[page->n];
    usec_t waited = f->waiting_since ? page->now - f->waiting_since : 0;
    *row =
        (struct queue_row){.labels = labels_of(s->ref),
                           .parent = f->parent,
                           .state = f->state,
                           .values = {s->waiting, s->planned, s->running, waited / USEC_PER_MSEC},
                           .n_resources = pick_resources(s, picked)};
    for (size_t i = 0; i < row->n_resources; i++)
        take_amount(picked[i].amount, row->labels, &row->resources[i]);
    page->resources_left_out += s->n_amounts - row->n_resources;
    page->bytes += bytes_of(row);
    page->n++;
    return page->bytes < MOST_BYTES;
}

/* ---- the series ---- */

/* value / 10^decimals */
static void put_decimal(struct buf *out, int64_t value, int decimals)
{
    int64_t one = 1;
    for (int i = 0; i < decimals; i++)
        one *= 10;
    buf_printf(out, "%" PRId64, value / one);
    int64_t rest = value % one;
    if (rest)
        buf_putc(out, '.');
    for (; rest; rest %= one) {
        one /= 10;
        buf_putc(out, (char)('0' + rest / one));
    }
}

static void put_series(struct buf *out, enum metric_family f, const char *labels, int64_t value,
                       int decimals)
{
    buf_printf(out, "%s{%s} ", metric_families[f].name, labels);
    put_decimal(out, value, decimals);
    buf_putc(out, '\n');
}

static void put_info(const struct page *page, struct buf *out)
{
    metric_head(out, FAMILY_QUEUE_INFO);
    for (size_t i = 0; i < page->n; i++) {
        const struct queue_row *row = &page->rows[i];
        buf_printf(out, "%s{%s,parent=\"", metric_families[FAMILY_QUEUE_INFO].name, row->labels);
        metric_label(out, row->parent ? row->parent->name : "");
        buf_printf(out, "\",state=\"%s\"} 1\n", gang_queue_state_name(row->state));
    }
}

static void put_of_queue(const struct page *page, size_t nth, struct buf *out)
{
    enum metric_family f = of_queue[nth];
    metric_head(out, f);
    for (size_t i = 0; i < page->n; i++)
        put_series(out, f, page->rows[i].labels, page->rows[i].values[nth],
                   f == FAMILY_QUEUE_OLDEST_WAIT ? 3 : 0);
}

static void put_of_resource(const struct page *page, size_t nth, struct buf *out)
{
    enum metric_family f = of_resource[nth];
    int decimals = f == FAMILY_QUEUE_FAIR_SHARE ? 3 : 0;
    metric_head(out, f);
    for (size_t i = 0; i < page->n; i++) {
        const struct queue_row *row = &page->rows[i];
        for (size_t r = 0; r < row->n_resources; r++) {
            const struct resource_row *resource = &row->resources[r];
            if (resource->values[nth] >= 0)
                put_series(out, f, resource->labels, resource->values[nth],
                           decimals + (resource->is_cpu ? 3 : 0));
        }
    }
}

static void put_totals(const struct page *page, const size_t *counts, struct buf *out)
{
    size_t objects = 0;
    metric_head(out, FAMILY_QUEUES);
    for (int i = 0; i < GANG_QUEUE_STATE_MAX; i++) {
        objects += i == GANG_QUEUE_MISSING ? 0 : counts[i];
        buf_printf(out, "%s{state=\"%s\"} %zu\n", metric_families[FAMILY_QUEUES].name,
                   gang_queue_state_name((enum gang_queue_state)i), counts[i]);
    }
    metric_head(out, FAMILY_QUEUES_LEFT_OUT);
    buf_printf(out, "%s %zu\n", metric_families[FAMILY_QUEUES_LEFT_OUT].name, objects - page->n);
    metric_head(out, FAMILY_QUEUE_RESOURCES_LEFT_OUT);
    buf_printf(out, "%s %zu\n", metric_families[FAMILY_QUEUE_RESOURCES_LEFT_OUT].name,
               page->resources_left_out);
}

static void put_rows(const struct page *page, struct buf *out)
{
    put_info(page, out);
    for (size_t i = 0; i < ARRAY_SIZE(of_queue); i++)
        put_of_queue(page, i, out);
    for (size_t i = 0; i < ARRAY_SIZE(of_resource); i++)
        put_of_resource(page, i, out);
}

static void row_done(struct queue_row *row)
{
    for (size_t i = 0; i < row->n_resources; i++)
        free(row->resources[i].labels);
    free(row->labels);
}

void metrics_queues(const struct gang_core *core, size_t most, usec_t now, struct buf *out)
{
    struct page page = {.now = now, .rows = xcalloc(most + 1, sizeof *page.rows)};
    size_t counts[GANG_QUEUE_STATE_MAX];
    if (gang_core_top_queues(core, most, take_queue, &page, counts)) {
        put_totals(&page, counts, out);
        if (page.n)
            put_rows(&page, out);
    }
    for (size_t i = 0; i < page.n; i++)
        row_done(&page.rows[i]);
    free(page.rows);
}
