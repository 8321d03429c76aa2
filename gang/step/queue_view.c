/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_view.c - queues for the API and the commands, in tree order.
 */
#include "gang/cluster/lookup.h"
#include "gang/messages/queue_status.h"
#include "gang/queue/fair_share.h"

struct walk {
    const struct gang_core *core;
    size_t at, skip, limit;
    gang_queue_fn *fn;
    void *arg;
};

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct queue *const *)a)->key, (*(struct queue *const *)b)->key);
}

static void show(const struct walk *w, const struct queue *queue)
{
    struct gang_queue_view view = {.status = queue_status(w->core, queue),
                                   .state = queue_state(queue),
                                   .facts = queue->facts,
                                   .parent = queue->level > 1 ? &queue->parent->ref : NULL,
                                   .depth = queue->level - 1,
                                   .credit = queue->share.oversize ? queue->share.credit : 0};
    if (!queue->facts) {
        view.status.reason = REASON_QUEUE_MISSING;
        view.status.text = "the queue does not exist";
    }
    w->fn(w->arg, &view);
    queue_status_done(&view.status);
}

static void walk_below(struct walk *w, const struct queue *queue)
{
    cleanup_free struct queue **children = xcalloc(queue->n_children + 1, sizeof *children);
    size_t n = 0;
    list_for_each (child, &queue->children, struct queue, in_parent)
        if (child != w->core->queues.none && queue_is_shown(child))
            children[n++] = child;
    qsort(children, n, sizeof *children, by_key);
    for (size_t i = 0; i < n; i++) {
        if (w->at >= w->skip && w->at - w->skip < w->limit)
            show(w, children[i]);
        w->at++;
        walk_below(w, children[i]);
    }
}

size_t gang_core_queues(const struct gang_core *core, size_t skip, size_t limit, gang_queue_fn *fn,
                        void *arg)
{
    struct walk w = {core, 0, skip, limit, fn, arg};
    if (!core->queues.root)
        return 0;
    walk_below(&w, core->queues.root);
    return w.at;
}

void gang_core_each_queue_part(const struct gang_core *core, gang_queue_part_fn *fn, void *arg)
{
    if (!core->queues.root)
        return;
    fn(arg, NULL, /* has_children= */ true, dominant_part(core, &core->queues.root->used));
    map_for_each (e, &core->queues.all) {
        const struct queue *queue = e->value;
        if (queue_is_shown(queue))
            fn(arg, &queue->ref, queue->n_children > 0, dominant_part(core, &queue->used));
    }
}
