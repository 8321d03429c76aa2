/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/share_history.h"

#include "base/map.h"

#define FIRST_WIDTH (100 * USEC_PER_MSEC)
#define ONE         1e9 /* a part of gang_core_each_queue_part() that is the whole cluster */

struct share_history {
    usec_t width, end;
    struct share_row all;
    struct map rows; /* "API group/namespace/name" -> struct share_row */
};

struct share_history *share_history_new(void)
{
    struct share_history *h = xcalloc(1, sizeof *h);
    h->width = FIRST_WIDTH;
    return h;
}

struct share_history *share_history_free(struct share_history *h)
{
    if (!h)
        return NULL;
    map_for_each (e, &h->rows) {
        struct share_row *row = e->value;
        free(row->name);
        free(row);
    }
    map_done(&h->rows);
    free(h);
    return NULL;
}

static struct share_row *row_of(struct share_history *h, const struct gang_ref *ref)
{
    cleanup_free char *key = gang_ref_key(ref);
    struct share_row *row = map_get(&h->rows, key);
    if (row)
        return row;
    row = xcalloc(1, sizeof *row);
    row->name = xasprintf("%s%s%s", ref->ns, *ref->ns ? "/" : "", ref->name);
    map_set(&h->rows, key, row);
    return row;
}

/* ---- columns ---- */

static void fold(struct share_row *row)
{
    for (size_t i = 0; i < SHARE_COLUMNS; i++) {
        double both = 2 * i < SHARE_COLUMNS ? row->columns[2 * i] + row->columns[2 * i + 1] : 0;
        row->columns[i] = both;
    }
}

static void widen(struct share_history *h)
{
    h->width *= 2;
    fold(&h->all);
    map_for_each (e, &h->rows)
        fold(e->value);
}

struct span {
    struct share_history *h;
    usec_t from, to;
};

static void add_part(void *arg, const struct gang_ref *ref, bool has_children, int64_t part)
{
    const struct span *s = arg;
    double share = (double)part / ONE;
    if (!part)
        return;
    struct share_row *row = ref ? row_of(s->h, ref) : &s->h->all;
    row->leaf = !has_children;
    row->sum += share * (double)(s->to - s->from);
    for (usec_t at = s->from, next; at < s->to; at = next) {
        usec_t column = at / s->h->width, border = (column + 1) * s->h->width;
        next = border < s->to ? border : s->to;
        row->columns[column] += share * (double)(next - at);
    }
}

void share_history_add(struct share_history *h, const struct gang_core *core, usec_t from,
                       usec_t to)
{
    struct span span = {h, from, to};
    while (to > h->width * SHARE_COLUMNS)
        widen(h);
    h->end = to;
    gang_core_each_queue_part(core, add_part, &span);
}

/* ---- results ---- */

usec_t share_history_end(const struct share_history *h)
{
    return h->end;
}

usec_t share_history_width(const struct share_history *h)
{
    return h->width;
}

const struct share_row *share_history_all(const struct share_history *h)
{
    return &h->all;
}

static int by_sum(const void *a, const void *b)
{
    const struct share_row *x = *(const struct share_row *const *)a;
    const struct share_row *y = *(const struct share_row *const *)b;
    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    return strcmp(x->name, y->name);
}

const struct share_row **share_history_rows(const struct share_history *h, size_t *ret_n)
{
    const struct share_row **rows = xcalloc(map_count(&h->rows) + 1, sizeof *rows);
    size_t n = 0;
    map_for_each (e, &h->rows)
        if (((struct share_row *)e->value)->leaf)
            rows[n++] = e->value;
    qsort(rows, n, sizeof *rows, by_sum);
    *ret_n = n;
    return rows;
}

double share_history_mean(const struct share_history *h, const struct gang_ref *ref)
{
    cleanup_free char *key = gang_ref_key(ref);
    const struct share_row *row = map_get(&h->rows, key);
    return row && h->end ? row->sum / (double)h->end : 0;
}
