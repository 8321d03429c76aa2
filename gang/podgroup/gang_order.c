/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/gang_order.h"

#include "gang/cluster/compare.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/step_work.h"
#include "gang/queue/queue_order.h"

bool gang_began_commit(const struct gang *gang)
{
    return gang->state == GANG_COMMITTING ||
           (gang->state == GANG_RECOVERING && gang->partial_first);
}

/*
 * The merit of two gangs: unfinished commits first, then higher priority, then starved gangs. Of
 * starved gangs, the longest wait comes first; of other gangs, those that have not failed, then
 * those that failed longest ago. Then the oldest, then the first by name.
 */
static int by_merit(const struct gang *g, const struct gang *h)
{
    const struct gang_group_facts *gf = g->head->facts, *hf = h->head->facts;
    int order = compare(gang_began_commit(h), gang_began_commit(g));
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

static int own_priority_then_merit(const struct gang *g, const struct gang *h)
{
    int order = compare(h->own_priority, g->own_priority);
    return order ? order : by_merit(g, h);
}

/* Between gangs of different queues, the queues decide. */
static int by_queue(const struct gang *g, const struct gang *h)
{
    const struct gang_core *core = g->core;
    if (g->queue == h->queue || !core->queues.root)
        return 0;
    int order = compare(gang_began_commit(h), gang_began_commit(g));
    struct queue *a = g->queue ? g->queue : core->queues.none;
    struct queue *b = h->queue ? h->queue : core->queues.none;
    return order ? order : queues_order(core, a, b);
}

int by_order(const void *a, const void *b)
{
    const struct gang *g = *(struct gang *const *)a, *h = *(struct gang *const *)b;
    int order = by_queue(g, h);
    if (!order && g->order.behind != h->order.behind)
        order = by_merit(g->order.behind, h->order.behind);
    return order ? order : own_priority_then_merit(g, h);
}

/* A gang with a plan is not in a queue. It is compared with gangs of its namespace as if it were in
 * the queue, so it gets the same position back if it loses the plan. */
bool order_after(const struct gang *g, const struct gang *h)
{
    bool same_namespace = g->queue == h->queue && strcmp(g->head->ref.ns, h->head->ref.ns) == 0;
    return (same_namespace ? own_priority_then_merit(g, h) : by_order(&g, &h)) > 0;
}

/* ---- namespace queues ---- */

static int by_queue_order(const void *a, const void *b)
{
    return own_priority_then_merit(*(struct gang *const *)a, *(struct gang *const *)b);
}

/* Whether the gang waits for a plan, and planning it may succeed. */
static bool is_queued(const struct gang *gang)
{
    bool open = gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF ||
                (gang->state == GANG_ASSEMBLING && gang->expecting) ||
                (gang->state == GANG_RECOVERING && !gang->partial_first);
    return open && !gang->halted && !gang->n_slots;
}

/* Everything that own_priority_then_merit() compares, for a gang in a queue. */
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

/* Gangs of one namespace in different queues do not wait for each other. */
static char *line_key(const struct gang *gang)
{
    return gang_key(gang->head->ref.ns, gang->queue ? gang->queue->key : "", "");
}

static bool is_line_of(const struct namespace_queue *line, const struct gang *gang)
{
    const char *ns = gang->head->ref.ns, *queue = gang->queue ? gang->queue->key : "";
    size_t n = strlen(ns), m = strlen(queue);
    const char *rest = &line->key[n + 1];
    return strncmp(line->key, ns, n) == 0 && line->key[n] == '/' && strncmp(rest, queue, m) == 0 &&
           strcmp(&rest[m], "/") == 0;
}

/* Most gangs stay where they are. */
static struct namespace_queue *queue_get(struct gang_core *core, const struct gang *gang)
{
    if (gang->order.queue && is_line_of(gang->order.queue, gang))
        return gang->order.queue;
    char *key = line_key(gang);
    struct namespace_queue *queue = map_get(&core->namespace_queues, key);
    if (queue) {
        free(key);
        return queue;
    }
    queue = xcalloc(1, sizeof *queue);
    queue->key = key;
    list_init(&queue->in_unsettled);
    map_set(&core->namespace_queues, queue->key, queue);
    return queue;
}

static void queue_free(struct gang_core *core, struct namespace_queue *queue)
{
    list_remove(&queue->in_unsettled);
    map_remove(&core->namespace_queues, queue->key);
    free(queue->gangs);
    free(queue->key);
    free(queue);
}

static void unsettle(struct gang_core *core, struct namespace_queue *queue)
{
    if (list_empty(&queue->in_unsettled))
        list_push(&core->unsettled, &queue->in_unsettled);
}

static void enqueue(struct gang_core *core, struct gang *gang, struct namespace_queue *queue)
{
    gang->order.queue = queue;
    gang->order.stands = order_key_of(gang);
    GROW(queue->gangs, queue->cap, queue->n + 1);
    gang->order.at = queue->n;
    queue->gangs[queue->n++] = gang;
    unsettle(core, queue);
}

/* Leaves a gap, because many gangs may leave at once. close_gaps() closes it before the queue is
 * read. */
static void dequeue(struct gang_core *core, struct gang *gang)
{
    if (!gang->order.queue)
        return;
    gang->order.queue->gangs[gang->order.at] = NULL;
    unsettle(core, gang->order.queue);
    if (gang->queue && gang->queue->facts && gang->queue->facts->fifo)
        room_grew(core); /* the next one may be planned */
    gang->order.queue = NULL;
    gang->order.behind = gang;
}

static void close_gaps(struct namespace_queue *queue)
{
    size_t kept = 0, sorted = 0;
    for (size_t i = 0; i < queue->n; i++) {
        struct gang *gang = queue->gangs[i];
        if (!gang)
            continue;
        sorted += i < queue->n_sorted;
        gang->order.at = kept;
        queue->gangs[kept++] = gang;
    }
    queue->n = kept;
    queue->n_sorted = sorted;
}

/* Merges the new gangs at the end into the sorted part. Gangs that changed have left it, and are at
 * the end too. */
static void sort(struct namespace_queue *queue)
{
    size_t old = queue->n_sorted, i = 0, j = old;
    if (queue->n - old > 1)
        qsort(queue->gangs + old, queue->n - old, sizeof *queue->gangs, by_queue_order);
    queue->n_sorted = queue->n;
    if (!old)
        return;
    struct gang **all = xcalloc(queue->n, sizeof *all);
    for (size_t k = 0; k < queue->n; k++) {
        bool first = j == queue->n ||
                     (i < old && own_priority_then_merit(queue->gangs[i], queue->gangs[j]) < 0);
        all[k] = queue->gangs[first ? i++ : j++];
    }
    free(queue->gangs);
    queue->gangs = all;
    queue->cap = queue->n;
}

static void settle(struct namespace_queue *queue)
{
    close_gaps(queue);
    if (queue->n_sorted < queue->n)
        sort(queue);
    struct gang *last = NULL;
    for (size_t i = 0; i < queue->n; i++) {
        struct gang *gang = queue->gangs[i];
        last = !last || by_merit(gang, last) > 0 ? gang : last;
        gang->order.at = i;
        gang->order.behind = last;
    }
}

/* ---- gangs that changed ---- */

/* Gangs behind the freed one are ordered by their own merit until the queue is settled. */
void order_forget(struct gang_core *core, struct gang *gang)
{
    struct namespace_queue *queue = gang->order.queue;
    dequeue(core, gang);
    if (queue)
        close_gaps(queue);
    for (size_t i = 0; queue && i < queue->n; i++)
        if (queue->gangs[i]->order.behind == gang)
            queue->gangs[i]->order.behind = queue->gangs[i];
}

/* See step_work.h: to move a gang in the order. */
#define WORK_PER_MOVE 8

void order_settle(struct gang_core *core)
{
    struct gang *gang;
    while ((gang = order_changed_take(core)) != NULL) {
        struct namespace_queue *queue = is_queued(gang) ? queue_get(core, gang) : NULL;
        struct order_key now = order_key_of(gang);
        if (queue == gang->order.queue && (!queue || order_key_equal(&now, &gang->order.stands)))
            continue;
        step_work_spend(core, WORK_PER_MOVE);
        dequeue(core, gang);
        if (queue)
            enqueue(core, gang, queue);
    }
    while (!list_empty(&core->unsettled)) {
        struct namespace_queue *queue =
            CONTAINER_OF(core->unsettled.next, struct namespace_queue, in_unsettled);
        list_remove(&queue->in_unsettled);
        settle(queue);
        if (!queue->n)
            queue_free(core, queue);
    }
}

void order_done(struct gang_core *core)
{
    map_for_each (e, &core->namespace_queues)
        queue_free(core, e->value);
    map_done(&core->namespace_queues);
}

/* ---- the invariants ---- */

static int check_gang(const struct gang *gang, struct err *err)
{
    struct order_key now = order_key_of(gang);
    if (!gang->order.queue == is_queued(gang))
        return err_set(err, ERR_INTERNAL, "gang %s %s the queue of its namespace", gang->head->key,
                       gang->order.queue ? "is still in" : "is not in");
    cleanup_free char *key = line_key(gang);
    if (gang->order.queue ? strcmp(gang->order.queue->key, key) != 0 ||
                                !order_key_equal(&now, &gang->order.stands)
                          : gang->order.behind != gang)
        return err_set(err, ERR_INTERNAL, "gang %s: its position in the order is out of date",
                       gang->head->key);
    return 0;
}

static int check_queue(const struct namespace_queue *queue, struct err *err)
{
    for (size_t i = 0; i < queue->n; i++) {
        const struct gang *gang = queue->gangs[i], *before = i ? queue->gangs[i - 1] : NULL;
        if (before && (own_priority_then_merit(before, gang) >= 0 || by_order(&before, &gang) >= 0))
            return err_set(err, ERR_INTERNAL, "gang %s is not behind %s", gang->head->key,
                           before->head->key);
        if (by_merit(gang->order.behind, gang) < 0)
            return err_set(err, ERR_INTERNAL, "gang %s is ordered above its own merit",
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
        if (core->synced && !core->stopping && check_queue(e->value, err) < 0)
            return -1;
    return 0;
}
