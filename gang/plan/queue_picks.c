/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/queue_picks.h"

#include "gang/cluster/queue_usage.h"
#include "gang/podgroup/gang_order.h"
#include "gang/queue/queue_order.h"
#include "gang/queue/queues.h"

/* ---- a queue's children with due gangs, the first in order on top ---- */

static void put(struct queue *parent, size_t at, struct queue *child)
{
    parent->due_gangs.heap[at] = child;
    child->due_gangs.at = at;
}

static void rise(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    size_t at = child->due_gangs.at;
    for (; at > 0; at = (at - 1) / 2) {
        struct queue *up = parent->due_gangs.heap[(at - 1) / 2];
        if (siblings_order(core, up, child) < 0)
            break;
        put(parent, at, up);
    }
    put(parent, at, child);
}

static void sink(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    struct queue_due_gangs *d = &parent->due_gangs;
    size_t at = child->due_gangs.at;
    for (size_t low; (low = 2 * at + 1) < d->n; at = low) {
        if (low + 1 < d->n && siblings_order(core, d->heap[low + 1], d->heap[low]) < 0)
            low++;
        if (siblings_order(core, child, d->heap[low]) < 0)
            break;
        put(parent, at, d->heap[low]);
    }
    put(parent, at, child);
}

static void join(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    struct queue_due_gangs *d = &parent->due_gangs;
    GROW(d->heap, d->cap, d->n + 1);
    put(parent, d->n++, child);
    rise(core, parent, child);
}

static void leave(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    struct queue_due_gangs *d = &parent->due_gangs;
    struct queue *last = d->heap[--d->n];
    if (last == child)
        return;
    put(parent, child->due_gangs.at, last);
    rise(core, parent, last);
    sink(core, parent, last);
}

/* ---- due gangs ---- */

static bool has_due(const struct queue *queue)
{
    return queue->due_gangs.first || queue->due_gangs.n;
}

static void begin(const struct gang_core *core, struct queue *queue)
{
    if (queue->due_gangs.pass == core->queue_passes)
        return;
    queue->due_gangs.pass = core->queue_passes;
    queue->due_gangs.first = queue->due_gangs.last = 0;
    queue->due_gangs.n = 0;
}

/* The gang is the last in its queue so far. */
static void add(const struct gang_core *core, struct queue_picks *p, size_t i, struct queue *queue)
{
    begin(core, queue);
    bool had = has_due(queue);
    if (queue->due_gangs.last)
        p->next[queue->due_gangs.last - 1] = i + 1;
    else
        queue->due_gangs.first = i + 1;
    queue->due_gangs.last = i + 1;
    for (; !had && queue->parent; queue = queue->parent) {
        begin(core, queue->parent);
        had = has_due(queue->parent);
        join(core, queue->parent, queue);
    }
}

struct queue_picks queue_picks_begin(struct gang_core *core, struct due due)
{
    struct queue_picks p = {.due = due};
    if (!core->queues.root)
        return p;
    p.next = xcalloc(due.n + 1, sizeof *p.next);
    core->queue_passes++;
    begin(core, core->queues.root);
    while (p.singly < due.n && gang_began_commit(due.items[p.singly]))
        p.singly++;
    for (size_t i = p.singly; i < due.n; i++)
        add(core, &p, i, queue_of_gang(core, due.items[i]));
    return p;
}

/* The plan of a picked gang may have changed the order of its branch, and of no other. */
static void settle(const struct gang_core *core, struct queue *queue, bool changed)
{
    for (; queue->parent && (changed || !has_due(queue)); queue = queue->parent) {
        if (!has_due(queue)) {
            leave(core, queue->parent, queue);
            continue;
        }
        rise(core, queue->parent, queue);
        sink(core, queue->parent, queue);
    }
}

/* The queue that was picked last may be elsewhere in the order now, so it is settled first. */
static struct gang *next_by_queue(struct gang_core *core, struct queue_picks *p)
{
    if (p->picked) {
        settle(core, p->picked, core->queue_changes != p->changes);
        p->picked = NULL;
    }
    struct queue *queue = core->queues.root;
    while (!queue->due_gangs.first && queue->due_gangs.n)
        queue = queue->due_gangs.heap[0];
    if (!queue->due_gangs.first)
        return NULL;
    size_t i = queue->due_gangs.first - 1;
    queue->due_gangs.first = p->next[i];
    if (!queue->due_gangs.first)
        queue->due_gangs.last = 0;
    p->picked = queue;
    p->changes = core->queue_changes;
    return STEAL(p->due.items[i]);
}

struct gang *queue_picks_next(struct gang_core *core, struct queue_picks *p)
{
    if (!p->next || p->at < p->singly)
        return p->at < p->due.n ? p->due.items[p->at++] : NULL;
    return next_by_queue(core, p);
}

struct due queue_picks_rest(struct queue_picks *p)
{
    struct due rest = p->due;
    rest.n = 0;
    for (size_t i = p->at; i < p->due.n; i++)
        if (p->due.items[i])
            rest.items[rest.n++] = p->due.items[i];
    free(p->next);
    return rest;
}

void queue_picks_end(struct queue_picks *p)
{
    free(p->next);
    free(p->due.items);
}

/* ---- first in, first out ---- */

static bool may_use(const struct gang_core *core, const struct gang *gang)
{
    return queue_refuses_gang(core, gang) == REASON_NONE;
}

static void line_up(const struct gang_core *core, struct queue *queue)
{
    struct queue_due_gangs *d = &queue->due_gangs;
    d->line_pass = core->queue_passes;
    d->n_line = d->line_at = 0;
    list_for_each (gang, &queue->gangs, struct gang, in_queue)
        if (gang->order.queue && !gang->n_slots && may_use(core, gang)) {
            GROW(d->line, d->cap_line, d->n_line + 1);
            d->line[d->n_line++] = gang;
        }
    if (d->n_line > 1)
        qsort(d->line, d->n_line, sizeof *d->line, by_order);
}

void queue_picks_forget(struct gang_core *core)
{
    core->queue_passes++;
}

const struct gang *queue_picks_blocker(const struct gang_core *core, const struct gang *gang)
{
    struct queue *queue = gang->queue;
    if (!queue || !queue->facts || !queue->facts->fifo || gang->n_slots || !may_use(core, gang))
        return NULL;
    struct queue_due_gangs *d = &queue->due_gangs;
    if (d->line_pass != core->queue_passes)
        line_up(core, queue);
    while (d->line_at < d->n_line && d->line[d->line_at]->n_slots)
        d->line_at++; /* it has got its plan in this pass */
    const struct gang *head = d->line_at < d->n_line ? d->line[d->line_at] : NULL;
    return head && head != gang && by_order(&head, &gang) < 0 ? head : NULL;
}
