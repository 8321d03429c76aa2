/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/queue/reclaim.h"

#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/queue/queue_tree.h"

/* False: there are too many resources. */
static bool add(struct reclaimed *what, uint32_t resource)
{
    if (what->n == ARRAY_SIZE(what->resources))
        return false;
    what->resources[what->n++] = resource;
    return true;
}

struct reclaimed reclaimed_for(const struct gang_core *core, struct need_list needs)
{
    struct reclaimed devices = {.devices = true}, others = {.n = 0};
    for (size_t i = 0; i < needs.n; i++) {
        uint32_t r = needs.items[i].resource;
        struct reclaimed *to = resource_is(core, r, RESOURCE_DEVICE) ? &devices : &others;
        if (r != RES_PODS && !add(to, r))
            return (struct reclaimed){.n = 0}; /* it takes nothing back */
    }
    return devices.n ? devices : others;
}

static bool states_deserved(const struct queue *queue, uint32_t resource)
{
    const struct quota *quota = queue_quota(queue, resource);
    return quota && quota->deserved != GANG_NOT_STATED;
}

/* The resource under which the queue counts it: all kinds of GPUs together, if it states only
 * those. */
static uint32_t counted_as(const struct gang_core *core, const struct queue *queue, uint32_t r)
{
    uint32_t alias = queue_alias(core, r);
    return !states_deserved(queue, r) && alias != RES_UNKNOWN && states_deserved(queue, alias)
               ? alias
               : r;
}

/* How much of the resource the queue deserves; 0: it states nothing. */
static int64_t deserved_of(const struct queue *queue, uint32_t resource)
{
    return states_deserved(queue, resource) ? queue_quota(queue, resource)->deserved : 0;
}

/* ---- the side that takes ---- */

static bool deserves(const struct gang_core *core, const struct queue *queue,
                     struct need_list needs, const struct reclaimed *what)
{
    for (size_t i = 0; i < what->n; i++) {
        uint32_t r = counted_as(core, queue, what->resources[i]);
        int64_t need, deserved = deserved_of(queue, r);
        if (deserved == GANG_UNLIMITED || !needs_list(core, needs, r, &need))
            continue;
        if (need > deserved - amount_of(&queue->used, r))
            return false;
    }
    return what->n > 0;
}

bool queue_deserves_more(const struct queue *queue)
{
    for (size_t i = 0; i < queue->n_quotas; i++) {
        const struct quota *quota = &queue->quotas[i];
        if (quota->deserved > amount_of(&queue->used, quota->resource))
            return true;
    }
    return false;
}

const struct queue *queue_entitled(const struct gang_core *core, const struct queue *queue,
                                   struct need_list needs)
{
    const struct queue *top = NULL;
    struct reclaimed what = reclaimed_for(core, needs);
    for (; queue && queue->parent && deserves(core, queue, needs, &what); queue = queue->parent)
        top = queue;
    return top;
}

/* ---- the side that gives ---- */

static bool is_reclaimable(const struct queue *queue, const struct queue *up_to)
{
    for (; queue; queue = queue->parent) {
        if (!queue->facts || !queue->facts->reclaimable)
            return false;
        if (queue == up_to)
            return true;
    }
    return false;
}

struct queue *queue_that_lends(const struct queue *mine, struct queue *theirs,
                               const struct queue *entitled)
{
    struct queue *a = (struct queue *)(uintptr_t)mine, *b = theirs;
    if (!entitled || !queue_branches(&a, &b) || a->level < entitled->level)
        return NULL;
    return is_reclaimable(theirs, b) ? b : NULL;
}

struct reclaimed queue_lent(const struct gang_core *core, const struct queue *branch,
                            const struct reclaimed *what)
{
    struct reclaimed lent = {.devices = what->devices};
    for (size_t i = 0; i < what->n; i++) {
        uint32_t r = counted_as(core, branch, what->resources[i]);
        if (amount_of(&branch->used, r) > deserved_of(branch, r))
            add(&lent, what->resources[i]);
    }
    return lent;
}

__int128 queue_uses(const struct gang_core *core, const struct queue *branch,
                    const struct reclaimed *what)
{
    __int128 sum = 0;
    for (size_t i = 0; i < what->n; i++)
        sum += amount_of(&branch->used, counted_as(core, branch, what->resources[i]));
    return sum;
}

/* The first queue from `queue` up to `branch` that uses less than it deserves of the resource. */
static const struct queue *below_deserved(const struct gang_core *core, const struct queue *queue,
                                          const struct queue *branch, uint32_t resource)
{
    for (; queue; queue = queue == branch ? NULL : queue->parent) {
        uint32_t r = counted_as(core, queue, resource);
        if (amount_of(&queue->used, r) < deserved_of(queue, r))
            return queue;
    }
    return NULL;
}

const struct queue *queue_below_deserved(const struct gang_core *core, const struct queue *queue,
                                         const struct queue *branch, const struct reclaimed *what)
{
    const struct queue *below = NULL;
    for (size_t i = 0; i < what->n && !below; i++)
        below = below_deserved(core, queue, branch, what->resources[i]);
    return below;
}

const struct queue *queue_below_devices(const struct gang_core *core, const struct queue *queue,
                                        const struct queue *branch,
                                        const struct signature *signature)
{
    const struct queue *below = NULL;
    for (size_t i = 0; i < signature->n_needs && !below; i++)
        if (resource_is(core, signature->needs[i].resource, RESOURCE_DEVICE))
            below = below_deserved(core, queue, branch, signature->needs[i].resource);
    return below;
}

usec_t queue_min_runtime(const struct queue *queue, bool reclaim)
{
    for (; queue; queue = queue->parent) {
        if (!queue->facts)
            continue;
        usec_t is = reclaim ? queue->facts->reclaim_min_runtime : queue->facts->preempt_min_runtime;
        if (is != GANG_NOT_STATED)
            return is;
    }
    return 0;
}

/* ---- the limit on reclaim ---- */

#define LIMIT_PERIOD (600 * USEC_PER_SEC)

static usec_t longest_pause(const struct gang_core *core)
{
    return LIMIT_PERIOD * 100 / core->config.reclaim_limit;
}

static int64_t most_used(const struct queue *queue, uint32_t r)
{
    int64_t used = thousandths(amount_of(&queue->used, r)), of = amount_of(&queue->losses.of, r);
    return used > of ? used : of;
}

/* What still counts as lost of the resource: at most all that the queue has used. */
static int64_t still_lost(const struct gang_core *core, const struct queue *queue, uint32_t r)
{
    int64_t lost = amount_of(&queue->losses.lost, r);
    usec_t passed = core->now - queue->losses.as_of, all = longest_pause(core);
    if (!lost || passed >= all)
        return 0;
    int64_t faded = (int64_t)((__int128)most_used(queue, r) * passed / all);
    return faded < lost ? lost - faded : 0;
}

static void fade_losses(struct gang_core *core, struct queue *queue)
{
    struct queue_losses *losses = &queue->losses;
    for (size_t i = losses->lost.n; i-- > 0;) {
        uint32_t r = losses->lost.items[i].resource;
        int64_t left = still_lost(core, queue, r);
        amount_set(core, &losses->of, r, left ? most_used(queue, r) : 0);
        amount_set(core, &losses->lost, r, left);
    }
    losses->as_of = core->now;
}

void queue_loses(struct gang_core *core, struct queue *branch, const struct signature *signature)
{
    if (!core->config.reclaim_limit)
        return;
    fade_losses(core, branch);
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = counted_as(core, branch, signature->needs[i].resource);
        int64_t need = thousandths(signature->needs[i].amount), of = most_used(branch, r);
        int64_t lost = amount_of(&branch->losses.lost, r), rest = of - lost;
        if (need <= 0 || rest <= 0)
            continue;
        amount_set(core, &branch->losses.of, r, of);
        amount_set(core, &branch->losses.lost, r, lost + (need < rest ? need : rest));
    }
}

usec_t queue_rests_until(const struct gang_core *core, const struct queue *branch,
                         const struct reclaimed *what)
{
    usec_t first = USEC_NEVER;
    for (size_t i = 0; core->config.reclaim_limit && i < what->n; i++) {
        uint32_t r = counted_as(core, branch, what->resources[i]);
        int64_t lost = still_lost(core, branch, r);
        if (!lost)
            return 0;
        __int128 pause = (__int128)lost * longest_pause(core) / most_used(branch, r);
        usec_t until = core->now + (usec_t)pause + 1;
        first = until < first ? until : first;
    }
    return first == USEC_NEVER ? 0 : first;
}
