/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/queue/queue_order.h"

#include "gang/cluster/compare.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/node_predicates.h"
#include "gang/queue/fair_share.h"
#include "gang/queue/queue_tree.h"

/* It states what it deserves, and uses less of each resource. A resource of which it deserves
 * nothing does not count while it uses none. */
static bool is_under(const struct queue *queue)
{
    bool any = false;
    for (size_t i = 0; i < queue->n_quotas; i++) {
        const struct quota *quota = &queue->quotas[i];
        int64_t used = amount_of(&queue->used, quota->resource);
        if (quota->deserved == GANG_NOT_STATED || (quota->deserved == 0 && used == 0))
            continue;
        if (used >= quota->deserved)
            return false;
        any = true;
    }
    return any;
}

/* The shares of queues with a weight are at most this, and those without one begin here. */
#define SHARE_MOST (INT64_MAX / 4)

static int64_t by_weight(int64_t part, int64_t weight)
{
    int64_t share = weight > 0 ? share_scaled(part, 1000000, weight) : part;
    int64_t most = share > SHARE_MOST ? SHARE_MOST : share;
    return weight > 0 ? most : SHARE_MOST + most;
}

/* If weights are amounts, a resource without one does not count: nothing says how much is much. */
static bool counts(const struct queue *queue, uint32_t resource)
{
    return !queue->facts || !queue->facts->weighs_amounts || queue_quota(queue, resource);
}

static int64_t share_of(const struct gang_core *core, const struct queue *queue)
{
    int64_t most = by_weight(0, queue_weight(queue));
    for (size_t i = 0; i < queue->used.n; i++) {
        const struct need *used = &queue->used.items[i];
        int64_t part = counts(queue, used->resource) ? cluster_part(core, used) : 0;
        int64_t share = part ? by_weight(part, order_weight(core, queue, used)) : 0;
        most = share > most ? share : most;
    }
    return queue->share.oversize ? most - queue->share.credit : most;
}

/* Computed again only for queues that have changed: after a plan, those above its gang. */
static const struct queue_standing *standing(const struct gang_core *core, struct queue *queue)
{
    struct queue_standing *s = &queue->standing;
    if (s->as_of <= queue->changed || s->as_of <= core->queues_reordered)
        *s = (struct queue_standing){.as_of = core->queue_changes + 1,
                                     .under = is_under(queue),
                                     .priority = queue_priority(queue),
                                     .share = share_of(core, queue),
                                     .created = queue->facts ? queue->facts->created : 0};
    return s;
}

int siblings_order(const struct gang_core *core, struct queue *a, struct queue *b)
{
    const struct queue_standing *x = standing(core, a), *y = standing(core, b);
    int order = compare(y->under, x->under);
    if (!order)
        order = compare(y->priority, x->priority);
    if (!order)
        order = compare(x->share, y->share);
    if (!order)
        order = compare(x->created, y->created);
    return order ? order : strcmp(a->key, b->key);
}

int queues_order(const struct gang_core *core, struct queue *a, struct queue *b)
{
    struct queue *x = a, *y = b;
    if (a == b)
        return 0;
    if (!queue_branches(&x, &y))
        return compare(a->level, b->level);
    return siblings_order(core, x, y);
}
