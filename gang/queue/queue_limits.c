/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/queue/queue_limits.h"

#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/queue/queues.h"

static bool short_of(struct queue_short *ret, const struct queue *queue, uint32_t resource,
                     enum gang_reason_code code, int64_t limit, int64_t used, int64_t need)
{
    if (limit == GANG_UNLIMITED || need <= limit - used)
        return false;
    *ret = (struct queue_short){queue, resource, code, limit, used, need};
    return true;
}

/* What the queue's siblings have reserved and do not use. */
static int64_t unused_by_siblings(const struct queue *queue, const struct quota *quota, uint32_t r)
{
    __int128 unused = queue_unused_reserves(queue->parent, r);
    int64_t used = amount_of(&queue->used, r);
    if (quota && quota->reserved > used)
        unused -= quota->reserved - used;
    return unused < INT64_MAX ? (int64_t)unused : INT64_MAX;
}

static bool children_reserve(const struct queue *parent)
{
    return parent && (parent->unused_reserves.n || parent->unused_reserves_high.n);
}

/* What the queue uses. `promised`: and what others wait for, for whom muster has evicted pods. */
static int64_t taken(const struct queue *queue, uint32_t r, bool promised)
{
    return amount_of(&queue->used, r) + (promised ? amount_of(&queue->awaited, r) : 0);
}

static bool quota_is_short(const struct queue *queue, const struct quota *quota, bool firm,
                           bool promised, int64_t need, struct queue_short *ret)
{
    uint32_t r = quota->resource;
    return short_of(ret, queue, r, REASON_QUEUE_LIMIT, quota->cap, taken(queue, r, promised),
                    need) ||
           (firm && quota->deserved != GANG_NOT_STATED &&
            short_of(ret, queue, r, REASON_QUEUE_DESERVED, quota->deserved,
                     amount_of(&queue->firm, r), need));
}

/* Whether the need takes what siblings have reserved. */
static bool reserve_is_short(const struct gang_core *core, const struct queue *queue, uint32_t r,
                             bool promised, int64_t need, struct queue_short *ret)
{
    const struct queue *parent = queue->parent;
    int64_t unused = unused_by_siblings(queue, queue_quota(queue, r), r);
    if (unused <= 0)
        return false;
    const struct quota *above = queue_quota(parent, r);
    int64_t most = above ? above->cap : GANG_UNLIMITED, total = queue_total(core, r);
    most = most < total ? most : total;
    return short_of(ret, queue, r, REASON_QUEUE_RESERVED, most > unused ? most - unused : 0,
                    taken(parent, r, promised), need);
}

static bool reserves_are_short(const struct gang_core *core, const struct queue *queue,
                               bool promised, struct need_list needs, struct queue_short *ret)
{
    int64_t need;
    for (size_t i = 0; i < needs.n; i++)
        if (reserve_is_short(core, queue, needs.items[i].resource, promised,
                             needs.items[i].amount * needs.times, ret))
            return true;
    return core->any_gpu != RES_UNKNOWN && needs_list(core, needs, core->any_gpu, &need) &&
           reserve_is_short(core, queue, core->any_gpu, promised, need, ret);
}

static bool is_short(const struct gang_core *core, const struct queue *queue, bool firm,
                     bool promised, struct need_list needs, struct queue_short *ret)
{
    int64_t need = 0;
    uint32_t last = RES_UNKNOWN; /* most queues state the same resources */
    bool any = false;
    for (; queue; queue = queue->parent) {
        for (size_t i = 0; i < queue->n_quotas; i++) {
            uint32_t r = queue->quotas[i].resource;
            any = r == last ? any : needs_list(core, needs, r, &need);
            last = r;
            if (any && quota_is_short(queue, &queue->quotas[i], firm, promised, need, ret))
                return true;
        }
        if (children_reserve(queue->parent) &&
            reserves_are_short(core, queue, promised, needs, ret))
            return true;
    }
    return false;
}

bool queue_is_short(const struct gang_core *core, const struct queue *queue, bool firm,
                    struct need_list needs, struct queue_short *ret)
{
    return is_short(core, queue, firm, /* promised= */ false, needs, ret);
}

bool queue_is_promised(const struct gang_core *core, const struct queue *queue, bool firm,
                       struct need_list needs, struct queue_short *ret)
{
    return is_short(core, queue, firm, core->n_preempted_room > 0, needs, ret);
}

bool queue_freed_since(const struct queue *queue, uint64_t since)
{
    for (; queue; queue = queue->parent)
        if (queue->freed > since)
            return true;
    return false;
}

enum gang_reason_code queue_refuses_pods(const struct gang_core *core, const struct pod *pod, int n,
                                         const struct queue **ret_queue, struct queue_short *ret)
{
    *ret_queue = NULL;
    *ret = (struct queue_short){.queue = NULL};
    if (!core->queues.root)
        return REASON_NONE;
    bool missing = false;
    const struct queue *queue =
        pod->gang ? pod->gang->queue : queue_of_single(core, pod->facts, &missing);
    if (missing)
        return REASON_QUEUE_MISSING;
    *ret_queue = queue;
    enum gang_reason_code code = queue && queue != core->queues.none
                                     ? queue_refusal(core, queue, pod->facts->ns)
                                     : REASON_NONE;
    if (code || !queue)
        return code;
    struct need_list needs = {pod->signature->needs, pod->signature->n_needs, n};
    return queue_is_promised(core, queue, pod_is_firm(pod, queue), needs, ret) ? ret->code
                                                                               : REASON_NONE;
}

bool queue_stops_pod(const struct gang_core *core, const struct pod *pod)
{
    const struct queue *queue;
    struct queue_short s;
    return queue_refuses_pods(core, pod, 1, &queue, &s) != REASON_NONE;
}
