/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/turns.h"

#include "gang/cluster/queue_usage.h"
#include "gang/podgroup/gang_order.h"
#include "gang/queue/queue_order.h"
#include "gang/queue/queues.h"

/* ---- a queue's children with due gangs, the first in order on top ---- */

static void put(struct queue *parent, size_t at, struct queue *child)
{
    parent->turns.heap[at] = child;
    child->turns.at = at;
}

static void rise(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    size_t at = child->turns.at;
    for (; at > 0; at = (at - 1) / 2) {
        struct queue *up = parent->turns.heap[(at - 1) / 2];
        if (siblings_order(core, up, child) < 0)
            break;
        put(parent, at, up);
    }
    put(parent, at, child);
}

static void sink(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    struct queue_turns *t = &parent->turns;
    size_t at = child->turns.at;
    for (size_t low; (low = 2 * at + 1) < t->n; at = low) {
        if (low + 1 < t->n && siblings_order(core, t->heap[low + 1], t->heap[low]) < 0)
            low++;
        if (siblings_order(core, child, t->heap[low]) < 0)
            break;
        put(parent, at, t->heap[low]);
    }
    put(parent, at, child);
}

static void join(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    struct queue_turns *t = &parent->turns;
    GROW(t->heap, t->cap, t->n + 1);
    put(parent, t->n++, child);
    rise(core, parent, child);
}

static void leave(const struct gang_core *core, struct queue *parent, struct queue *child)
{
    struct queue_turns *t = &parent->turns;
    struct queue *last = t->heap[--t->n];
    if (last == child)
        return;
    put(parent, child->turns.at, last);
    rise(core, parent, last);
    sink(core, parent, last);
}

/* ---- due gangs ---- */

static bool has_due(const struct queue *queue)
{
    return queue->turns.first || queue->turns.n;
}

static void begin(const struct gang_core *core, struct queue *queue)
{
    if (queue->turns.pass == core->queue_passes)
        return;
    queue->turns.pass = core->queue_passes;
    queue->turns.first = queue->turns.last = 0;
    queue->turns.n = 0;
}

/* The gang is the last in its queue so far. */
static void add(const struct gang_core *core, struct turns *t, size_t i, struct queue *queue)
{
    begin(core, queue);
    bool had = has_due(queue);
    if (queue->turns.last)
        t->next[queue->turns.last - 1] = i + 1;
    else
        queue->turns.first = i + 1;
    queue->turns.last = i + 1;
    for (; !had && queue->parent; queue = queue->parent) {
        begin(core, queue->parent);
        had = has_due(queue->parent);
        join(core, queue->parent, queue);
    }
}

struct turns turns_begin(struct gang_core *core, struct due due)
{
    struct turns t = {.due = due};
    if (!core->queues.root)
        return t;
    t.next = xcalloc(due.n + 1, sizeof *t.next);
    core->queue_passes++;
    begin(core, core->queues.root);
    while (t.singly < due.n && gang_began_commit(due.items[t.singly]))
        t.singly++;
    for (size_t i = t.singly; i < due.n; i++)
        add(core, &t, i, queue_of_gang(core, due.items[i]));
    return t;
}

/* A turn may have changed the order of the branch, and of no other. */
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

/* A queue whose turn has just been may be elsewhere in the order now, so that comes first. */
static struct gang *next_by_queue(struct gang_core *core, struct turns *t)
{
    if (t->turn) {
        settle(core, t->turn, core->queue_changes != t->changes);
        t->turn = NULL;
    }
    struct queue *queue = core->queues.root;
    while (!queue->turns.first && queue->turns.n)
        queue = queue->turns.heap[0];
    if (!queue->turns.first)
        return NULL;
    size_t i = queue->turns.first - 1;
    queue->turns.first = t->next[i];
    if (!queue->turns.first)
        queue->turns.last = 0;
    t->turn = queue;
    t->changes = core->queue_changes;
    return t->due.items[i];
}

struct gang *turns_next(struct gang_core *core, struct turns *t)
{
    if (!t->next || t->at < t->singly)
        return t->at < t->due.n ? t->due.items[t->at++] : NULL;
    return next_by_queue(core, t);
}

void turns_end(struct turns *t)
{
    free(t->next);
    free(t->due.items);
}

/* ---- first in, first out ---- */

static bool may_use(const struct gang_core *core, const struct gang *gang)
{
    return queue_refuses_gang(core, gang) == REASON_NONE;
}

static void line_up(const struct gang_core *core, struct queue *queue)
{
    struct queue_turns *t = &queue->turns;
    t->line_pass = core->queue_passes;
    t->n_line = t->line_at = 0;
    list_for_each (gang, &queue->gangs, struct gang, in_queue)
        if (gang->order.queue && !gang->n_slots && may_use(core, gang)) {
            GROW(t->line, t->cap_line, t->n_line + 1);
            t->line[t->n_line++] = gang;
        }
    if (t->n_line > 1)
        qsort(t->line, t->n_line, sizeof *t->line, by_order);
}

void turns_forget(struct gang_core *core)
{
    core->queue_passes++;
}

const struct gang *turns_blocker(const struct gang_core *core, const struct gang *gang)
{
    struct queue *queue = gang->queue;
    if (!queue || !queue->facts || !queue->facts->fifo || gang->n_slots || !may_use(core, gang))
        return NULL;
    struct queue_turns *t = &queue->turns;
    if (t->line_pass != core->queue_passes)
        line_up(core, queue);
    while (t->line_at < t->n_line && t->line[t->line_at]->n_slots)
        t->line_at++; /* it has got its plan in this pass */
    const struct gang *head = t->line_at < t->n_line ? t->line[t->line_at] : NULL;
    return head && head != gang && by_order(&head, &gang) < 0 ? head : NULL;
}
