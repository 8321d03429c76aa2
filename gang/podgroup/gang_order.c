/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/gang_order.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static bool began_commit(const struct gang *gang)
{
    return gang->state == GANG_COMMITTING ||
           (gang->state == GANG_RECOVERING && gang->partial_first);
}

/*
 * Those whose commit is unfinished first, then priority; of equals those that have waited too long,
 * the longest first; those that failed go behind the others, then by age.
 */
static int by_merit(const struct gang *g, const struct gang *h)
{
    const struct gang_group_facts *gf = g->head->facts, *hf = h->head->facts;
    int order = compare(began_commit(h), began_commit(g));
    if (!order)
        order = compare(h->priority, g->priority);
    if (!order)
        order = compare(h->starved, g->starved);
    if (!order)
        order =
            g->starved ? compare(g->waits, h->waits) : compare(g->last_failure, h->last_failure);
    if (!order)
        order = compare(gf ? gf->created : 0, hf ? hf->created : 0);
    return order ? order : strcmp(g->head->key, h->head->key);
}

static int in_line(const struct gang *g, const struct gang *h)
{
    int order = compare(h->own_priority, g->own_priority);
    return order ? order : by_merit(g, h);
}

int by_order(const void *a, const void *b)
{
    const struct gang *g = *(struct gang *const *)a, *h = *(struct gang *const *)b;
    int order = g->order.behind == h->order.behind ? 0 : by_merit(g->order.behind, h->order.behind);
    return order ? order : in_line(g, h);
}

/* A gang with a plan stands in no line: beside those of its namespace it counts as if it stood
 * there, so that it finds the same place when it looks for one again. */
bool order_after(const struct gang *g, const struct gang *h)
{
    bool one_line = strcmp(g->head->ref.ns, h->head->ref.ns) == 0;
    return (one_line ? in_line(g, h) : by_order(&g, &h)) > 0;
}

/* ---- the lines ---- */

static int by_line(const void *a, const void *b)
{
    return in_line(*(struct gang *const *)a, *(struct gang *const *)b);
}

/* It waits for a plan that could be made. */
static bool stands_in_line(const struct gang *gang)
{
    bool open = gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF ||
                (gang->state == GANG_ASSEMBLING && gang->expecting) ||
                (gang->state == GANG_RECOVERING && !gang->partial_first);
    return open && !gang->halted && !gang->n_slots;
}

/* All that in_line() goes by while the gang stands in line. */
static struct order_key order_key_of(const struct gang *gang)
{
    const struct gang_group_facts *facts = gang->head->facts;
    return (struct order_key){.head = gang->head,
                              .priority = gang->priority,
                              .own_priority = gang->own_priority,
                              .starved = gang->starved,
                              .since = gang->starved ? gang->waits : gang->last_failure,
                              .created = facts ? facts->created : 0};
}

static bool order_key_equal(const struct order_key *a, const struct order_key *b)
{
    return a->head == b->head && a->priority == b->priority && a->own_priority == b->own_priority &&
           a->starved == b->starved && a->since == b->since && a->created == b->created;
}

static struct namespace_queue *line_get(struct gang_core *core, const char *ns)
{
    struct namespace_queue *line = map_get(&core->namespace_queues, ns);
    if (line)
        return line;
    line = xcalloc(1, sizeof *line);
    line->ns = xstrdup(ns);
    list_init(&line->in_unsettled);
    map_set(&core->namespace_queues, line->ns, line);
    return line;
}

static void line_free(struct gang_core *core, struct namespace_queue *line)
{
    list_remove(&line->in_unsettled);
    map_remove(&core->namespace_queues, line->ns);
    free(line->gangs);
    free(line->ns);
    free(line);
}

static void unsettle(struct gang_core *core, struct namespace_queue *line)
{
    if (list_empty(&line->in_unsettled))
        list_push(&core->unsettled, &line->in_unsettled);
}

static void join(struct gang_core *core, struct gang *gang, struct namespace_queue *line)
{
    gang->order.queue = line;
    gang->order.stands = order_key_of(gang);
    GROW(line->gangs, line->cap, line->n + 1);
    gang->order.at = line->n;
    line->gangs[line->n++] = gang;
    unsettle(core, line);
}

/* The gap that it leaves is closed before the line is read again: many may leave at once. */
static void leave(struct gang_core *core, struct gang *gang)
{
    if (!gang->order.queue)
        return;
    gang->order.queue->gangs[gang->order.at] = NULL;
    unsettle(core, gang->order.queue);
    gang->order.queue = NULL;
    gang->order.behind = gang;
}

static void close_gaps(struct namespace_queue *line)
{
    size_t kept = 0, sorted = 0;
    for (size_t i = 0; i < line->n; i++) {
        struct gang *gang = line->gangs[i];
        if (!gang)
            continue;
        sorted += i < line->n_sorted;
        gang->order.at = kept;
        line->gangs[kept++] = gang;
    }
    line->n = kept;
    line->n_sorted = sorted;
}

/* The sorted part keeps its order: whoever changed has left it and stands at the end. */
static void sort(struct namespace_queue *line)
{
    size_t old = line->n_sorted, i = 0, j = old;
    qsort(line->gangs + old, line->n - old, sizeof *line->gangs, by_line);
    struct gang **all = xcalloc(line->n, sizeof *all);
    for (size_t k = 0; k < line->n; k++) {
        bool first = j == line->n || (i < old && in_line(line->gangs[i], line->gangs[j]) < 0);
        all[k] = line->gangs[first ? i++ : j++];
    }
    free(line->gangs);
    line->gangs = all;
    line->cap = line->n_sorted = line->n;
}

static void settle(struct namespace_queue *line)
{
    close_gaps(line);
    if (line->n_sorted < line->n)
        sort(line);
    struct gang *last = NULL;
    for (size_t i = 0; i < line->n; i++) {
        struct gang *gang = line->gangs[i];
        last = !last || by_merit(gang, last) > 0 ? gang : last;
        gang->order.at = i;
        gang->order.behind = last;
    }
}

/* ---- who changed ---- */

/* The gang is freed: until the line is settled, those behind it stand for themselves. */
void order_forget(struct gang_core *core, struct gang *gang)
{
    struct namespace_queue *line = gang->order.queue;
    leave(core, gang);
    if (line)
        close_gaps(line);
    for (size_t i = 0; line && i < line->n; i++)
        if (line->gangs[i]->order.behind == gang)
            line->gangs[i]->order.behind = line->gangs[i];
}

void order_settle(struct gang_core *core)
{
    struct gang *gang;
    while ((gang = order_changed_take(core)) != NULL) {
        struct namespace_queue *line =
            stands_in_line(gang) ? line_get(core, gang->head->ref.ns) : NULL;
        struct order_key now = order_key_of(gang);
        if (line == gang->order.queue && (!line || order_key_equal(&now, &gang->order.stands)))
            continue;
        leave(core, gang);
        if (line)
            join(core, gang, line);
    }
    while (!list_empty(&core->unsettled)) {
        struct namespace_queue *line =
            CONTAINER_OF(core->unsettled.next, struct namespace_queue, in_unsettled);
        list_remove(&line->in_unsettled);
        settle(line);
        if (!line->n)
            line_free(core, line);
    }
}

void order_done(struct gang_core *core)
{
    map_for_each (e, &core->namespace_queues)
        line_free(core, e->value);
    map_done(&core->namespace_queues);
}

/* ---- the invariants ---- */

static int check_gang(const struct gang *gang, struct err *err)
{
    struct order_key now = order_key_of(gang);
    if (!gang->order.queue == stands_in_line(gang))
        return err_set(err, ERR_INTERNAL, "gang %s: %s the line of its namespace", gang->head->key,
                       gang->order.queue ? "still stands in" : "does not stand in");
    if (gang->order.queue ? strcmp(gang->order.queue->ns, gang->head->ref.ns) != 0 ||
                                !order_key_equal(&now, &gang->order.stands)
                          : gang->order.behind != gang)
        return err_set(err, ERR_INTERNAL, "gang %s: stands where it stood before it changed",
                       gang->head->key);
    return 0;
}

static int check_line(const struct namespace_queue *line, struct err *err)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct gang *gang = line->gangs[i], *before = i ? line->gangs[i - 1] : NULL;
        if (before && (in_line(before, gang) >= 0 || by_order(&before, &gang) >= 0))
            return err_set(err, ERR_INTERNAL, "gang %s is not behind %s", gang->head->key,
                           before->head->key);
        if (by_merit(gang->order.behind, gang) < 0)
            return err_set(err, ERR_INTERNAL, "gang %s comes earlier than by its own merit",
                           gang->head->key);
    }
    return 0;
}

int order_check(const struct gang_core *core, struct err *err)
{
    list_for_each (gang, &core->gangs, struct gang, in_core)
        if (core->synced && !core->stopping && check_gang(gang, err) < 0)
            return -1;
    map_for_each (e, &core->namespace_queues)
        if (core->synced && !core->stopping && check_line(e->value, err) < 0)
            return -1;
    return 0;
}
