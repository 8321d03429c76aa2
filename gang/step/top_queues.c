/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_queues.c - the queues that have metrics of their own.
 *
 * A cluster may have far more queues than one page of metrics can show. The choice depends only on
 * the level and the key of a queue, so that a queue keeps its series while its use changes.
 */
#include "gang/cluster/lookup.h"
#include "gang/messages/queue_status.h"

/* The first queues so far, in order. */
struct top {
    const struct queue **queues;
    size_t n, limit;
};

static int compare(const struct queue *a, const struct queue *b)
{
    return a->level != b->level ? a->level - b->level : strcmp(a->key, b->key);
}

/* How many of the first queues come before the queue. */
static size_t position_of(const struct top *top, const struct queue *queue)
{
    size_t from = 0, to = top->n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (compare(top->queues[middle], queue) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void pick(struct top *top, const struct queue *queue)
{
    bool full = top->n == top->limit;
    if (full && (!top->n || compare(top->queues[top->n - 1], queue) < 0))
        return;
    size_t at = position_of(top, queue), after = top->n - full - at;
    memmove(&top->queues[at + 1], &top->queues[at], after * sizeof *top->queues);
    top->queues[at] = queue;
    top->n += !full;
}

/* The queues above have a longer wait already if this one has. */
static void note_wait(struct queue *queue, usec_t since)
{
    for (; queue->parent && (!queue->waiting_since || since < queue->waiting_since);
         queue = queue->parent)
        queue->waiting_since = since;
}

static void find_waits(const struct gang_core *core)
{
    map_for_each (e, &core->queues.all) {
        struct queue *queue = e->value;
        if (!queue->own_gangs[GANGS_WAITING])
            continue;
        list_for_each (gang, &queue->gangs, struct gang, in_queue)
            if (gang->shown_as == GANGS_WAITING && gang->waits)
                note_wait(queue, gang->waits);
    }
}

static bool show(const struct gang_core *core, const struct queue *queue, gang_queue_figures_fn *fn,
                 void *arg)
{
    struct gang_queue_figures figures = {.status = queue_status_quick(core, queue),
                                         .state = queue_state(queue),
                                         .parent = queue->level > 1 ? &queue->parent->ref : NULL,
                                         .waiting_since = queue->waiting_since};
    bool more = fn(arg, &figures);
    queue_status_done(&figures.status);
    return more;
}

bool gang_core_top_queues(const struct gang_core *core, size_t limit, gang_queue_figures_fn *fn,
                          void *arg, size_t counts[static GANG_QUEUE_STATE_MAX])
{
    if (!core->queues.root)
        return false;
    cleanup_free const struct queue **queues = xcalloc(limit + 1, sizeof(struct queue *));
    struct top top = {.queues = queues, .limit = limit};
    memset(counts, 0, GANG_QUEUE_STATE_MAX * sizeof *counts);
    map_for_each (e, &core->queues.all) {
        struct queue *queue = e->value;
        queue->waiting_since = 0;
        counts[queue_state(queue)] += queue_is_shown(queue);
        if (queue->facts)
            pick(&top, queue);
    }
    find_waits(core);
    for (size_t i = 0; i < top.n && show(core, top.queues[i], fn, arg); i++)
        ;
    return true;
}
