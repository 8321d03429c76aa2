/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/queue/fair_share.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/step_work.h"
#include "gang/cluster/timers.h"
#include "gang/node_predicates.h"
#include "gang/queue/queues.h"

#define UPDATE_EVERY USEC_PER_SEC
/* Amounts above this have no share: thousandths of them would overflow. */
#define AMOUNT_MAX (INT64_MAX / 1000)

/* ---- parts of the cluster ---- */

/* GANG_ANY_GPU stands for the single kinds. */
static bool counts_as_share(const struct gang_core *core, uint32_t r)
{
    if (r == RES_CPU || r == RES_MEMORY || r == core->any_gpu)
        return true;
    return resource_is(core, r, RESOURCE_DEVICE) && queue_alias(core, r) == RES_UNKNOWN;
}

/* The sum of two results does not overflow. */
static int64_t saturate(__int128 x)
{
    const int64_t most = INT64_MAX / 2;
    return x > most ? most : x < -most ? -most : (int64_t)x;
}

static int64_t part_of(int64_t amount, int64_t total)
{
    return total > 0 && amount > 0 ? share_scaled(amount, SHARE_ONE, total) : 0;
}

int64_t cluster_part(const struct gang_core *core, const struct need *need)
{
    return counts_as_share(core, need->resource)
               ? part_of(need->amount, queue_total(core, need->resource))
               : 0;
}

int64_t dominant_part(const struct gang_core *core, const struct amounts *amounts)
{
    int64_t most = 0;
    for (size_t i = 0; i < amounts->n; i++) {
        int64_t part = cluster_part(core, &amounts->items[i]);
        most = part > most ? part : most;
    }
    return most;
}

static bool is_beyond_share(const struct queue *queue, uint32_t r, int64_t need)
{
    return need > amount_of(&queue->share.fair, r) / 1000 - amount_of(&queue->used, r);
}

bool queue_is_owed(const struct gang_core *core, const struct queue *queue, struct need_list needs)
{
    int64_t need;
    bool any = false;
    if (!queue || queue == core->queues.none)
        return false;
    for (size_t i = 0; i < needs.n; i++) {
        uint32_t r = needs.items[i].resource;
        if (!counts_as_share(core, r))
            continue;
        if (is_beyond_share(queue, r, needs.items[i].amount * needs.times))
            return false;
        any = true;
    }
    if (core->any_gpu == RES_UNKNOWN || !needs_list(core, needs, core->any_gpu, &need))
        return any;
    return !is_beyond_share(queue, core->any_gpu, need);
}

/* 2^-f for a fraction f of 2^16, as a part of 2^32: 1 - f ln 2 + (f ln 2)^2 / 2 - (f ln 2)^3 / 6,
 * with the last factor fitted so that f = 1 gives one half. */
static int64_t half_to(int64_t f)
{
    const int64_t one = INT64_C(1) << 32;
    int64_t x = f * 45426; /* ln 2 in 2^-16: x is in 2^-32 */
    int64_t x2 = (int64_t)((__int128)x * x >> 32), x3 = (int64_t)((__int128)x2 * x >> 32);
    return one - x + x2 / 2 - x3 * 1423 / 10000;
}

int64_t share_fade(int64_t x, usec_t dt, usec_t half_life)
{
    if (!x || half_life <= 0 || dt <= 0)
        return x;
    int64_t halves = dt / half_life, rest = dt % half_life;
    if (halves >= 62)
        return 0;
    int64_t fraction = (int64_t)((__int128)rest * 65536 / half_life);
    return (int64_t)((__int128)(x >> halves) * half_to(fraction) >> 32);
}

/* ---- what is wanted ---- */

/* It waits for room, and for nothing else that may never come. */
static bool waits(const struct gang_core *core, const struct gang *gang)
{
    return !passes_singly(gang) && !gang->n_slots && !gang->halted && !gang->over &&
           queue_refuses_gang(core, gang) == REASON_NONE;
}

/* Sums do not overflow, whatever waits. */
static void add_wanted(struct gang_core *core, struct amounts *to, uint32_t r, int64_t amount)
{
    int64_t left = AMOUNT_MAX - amount_of(to, r);
    amounts_change(core, to, r, amount < left ? amount : left);
}

static void add_all_wanted(struct gang_core *core, struct amounts *to, const struct amounts *from)
{
    for (size_t i = 0; i < from->n; i++)
        add_wanted(core, to, from->items[i].resource, from->items[i].amount);
}

static void want(struct gang_core *core, struct amounts *to, uint32_t r, int64_t amount, int64_t n)
{
    int64_t total = queue_total(core, r);
    add_wanted(core, to, r, amount > total / n ? total : amount * n);
}

/* n pods of the signature; each resource at most what the cluster has. */
static void want_pods(struct gang_core *core, struct amounts *to, const struct signature *signature,
                      int64_t n)
{
    for (size_t i = 0; n > 0 && i < signature->n_needs; i++) {
        const struct need *need = &signature->needs[i];
        uint32_t alias = queue_alias(core, need->resource);
        want(core, to, need->resource, need->amount, n);
        if (alias != RES_UNKNOWN)
            want(core, to, alias, need->amount, n);
    }
}

/* Adds what the gang's members without a place need. A gang that its queue can never hold earns no
 * credit, because its queue would use the credit for others. `needs` is empty before and after: the
 * gangs use it in turn. */
static void want_gang(struct gang_core *core, struct queue_share *to, const struct gang *gang,
                      struct amounts *needs)
{
    const struct signature *signature = NULL; /* of the last n members: most are alike */
    int64_t n = 0;
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        if (!pod_plannable(core, pod) || pod->slot)
            continue;
        if (pod->signature != signature) {
            want_pods(core, needs, signature, n);
            n = 0;
        }
        signature = pod->signature;
        n++;
    }
    want_pods(core, needs, signature, n);
    if (!gang->exceeds_queue) {
        int64_t part = dominant_part(core, needs);
        to->largest = part > to->largest ? part : to->largest;
        to->waits = true;
    }
    if (!to->wanted.cap) { /* the first one, which is often the only one */
        to->wanted = *needs;
        *needs = (struct amounts){0};
        return;
    }
    add_all_wanted(core, &to->wanted, needs);
    amounts_clear(core, needs);
}

/* Adds what the queue itself uses and wants, and the sums of the queues below. */
static void sum_queue(struct gang_core *core, const struct queue *queue, struct queue_share *to,
                      struct amounts *needs)
{
    list_for_each (child, &queue->children, struct queue, in_parent) {
        add_all_wanted(core, &to->wanted, &child->share.wanted);
        to->waits |= child->share.waits;
        if (child->share.largest > to->largest)
            to->largest = child->share.largest;
    }
    if (!queue->n_children)
        add_all_wanted(core, &to->wanted, &queue->used);
    list_for_each (gang, &queue->gangs, struct gang, in_queue)
        if (waits(core, gang))
            want_gang(core, to, gang, needs);
}

static bool is_summed(const struct gang_core *core, const struct queue *queue)
{
    uint64_t as_of = queue->share.as_of;
    return as_of > queue->want_changed && as_of > core->all_want_changed;
}

/* Sums from the leaves up, except in branches in which nothing has changed. Statuses show the
 * result. */
static void sum_wanted(struct gang_core *core, struct queue *queue, struct amounts *needs)
{
    struct queue_share *s = &queue->share, sum = {.waits = false};
    if (is_summed(core, queue))
        return;
    list_for_each (child, &queue->children, struct queue, in_parent)
        sum_wanted(core, child, needs);
    sum_queue(core, queue, &sum, needs);
    if (!amounts_equal(&s->wanted, &sum.wanted))
        queue_touch(core, queue);
    amounts_done(core, &s->wanted);
    s->wanted = sum.wanted;
    s->waits = sum.waits;
    s->largest = sum.largest;
    s->as_of = core->want_changes + 1;
}

/* ---- the division of one resource among the children of a queue ---- */

struct part {
    struct queue *queue;
    int32_t priority;
    bool last; /* its weight is 0 */
    int64_t weight, deserved, want, got;
};

/* A larger weight would make all shares 0. */
#define AMOUNT_WEIGHT_MAX 1000

/* In millionths. */
static __int128 stated_weight(const struct gang_core *core, const struct queue *queue, uint32_t r)
{
    const struct quota *quota = queue_quota(queue, r);
    int64_t weight = quota ? quota->weight : queue_weight(queue);
    if (!quota || !queue->facts->weighs_amounts)
        return (__int128)weight * 1000;
    int64_t total = queue_total(core, r);
    if (weight == GANG_UNLIMITED || total <= 0)
        return 1000000;
    __int128 part = (__int128)weight * 1000000 / total, most = AMOUNT_WEIGHT_MAX * 1000000;
    return part > most ? most : part ? part : weight > 0;
}

static int64_t boosted(const struct queue *queue, __int128 weight)
{
    __int128 most = saturate(weight);
    return saturate(queue->share.boost ? most * queue->share.boost / 1000 : most);
}

static int64_t surplus_weight(const struct gang_core *core, const struct queue *queue, uint32_t r)
{
    return boosted(queue, stated_weight(core, queue, r));
}

static __int128 largest_weight(const struct gang_core *core, const struct queue *queue)
{
    __int128 most = 0;
    for (size_t i = 0; i < queue->n_quotas; i++) {
        __int128 weight = stated_weight(core, queue, queue->quotas[i].resource);
        most = weight > most ? weight : most;
    }
    return most;
}

int64_t order_weight(const struct gang_core *core, const struct queue *queue,
                     const struct need *used)
{
    uint32_t r = used->resource;
    const struct quota *quota = queue_quota(queue, r);
    __int128 weight = stated_weight(core, queue, r);
    bool last = r != RES_CPU && r != RES_MEMORY && quota && used->amount > quota->deserved;
    return boosted(queue, weight || last ? weight : largest_weight(core, queue));
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Parts of one tier are divided together, and one tier after the other: higher priority first;
 * inside a priority, weight 0 last. */
static int by_tier(const struct part *x, const struct part *y)
{
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return (int)x->last - (int)y->last;
}

/* Inside a tier, those that are satisfied with the smallest part by weight come first. */
static int by_demand(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (by_tier(x, y))
        return by_tier(x, y);
    __int128 left = (__int128)(x->want - x->got) * y->weight;
    __int128 right = (__int128)(y->want - y->got) * x->weight;
    return left < right ? -1 : left > right;
}

/* If there is enough for all. */
static bool give_all(struct part *parts, size_t n, int64_t amount)
{
    __int128 all = 0;
    for (size_t i = 0; i < n; i++)
        all += parts[i].got = parts[i].want;
    return all <= amount;
}

static void give_rest(struct part *parts, size_t n, int64_t rest)
{
    qsort(parts, n, sizeof *parts, by_demand);
    for (size_t i = 0; i < n && rest > 0;) {
        size_t end = i;
        __int128 weights = 0;
        for (; end < n && by_tier(&parts[i], &parts[end]) == 0; end++)
            weights += parts[end].weight;
        for (; i < end; i++) {
            int64_t fair = (int64_t)((__int128)rest * parts[i].weight / weights);
            int64_t more = lesser(fair, parts[i].want - parts[i].got);
            parts[i].got += more;
            rest -= more;
            weights -= parts[i].weight;
        }
    }
}

/* Divides the amount by what the children deserve. No child gets more than it deserves or wants.
 * Priorities and weights do not count. */
static void divide_deserved(struct part *parts, size_t n, int64_t amount)
{
    for (size_t i = 0; i < n; i++) {
        struct part *p = &parts[i];
        p->priority = 0;
        p->last = p->deserved == 0;
        p->weight = p->deserved ? p->deserved : 1;
        p->want = lesser(p->deserved, p->want);
        p->got = 0;
    }
    give_rest(parts, n, amount);
}

/* Gives each child what it deserves; returns what is left. If all together deserve and want more
 * than there is, each gets its part. */
static int64_t give_deserved(struct part *parts, size_t n, uint32_t r, int64_t amount)
{
    __int128 sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct quota *quota = queue_quota(parts[i].queue, r);
        int64_t deserved = quota && quota->deserved > 0 ? thousandths(quota->deserved) : 0;
        parts[i].deserved = lesser(deserved, amount);
        parts[i].got = lesser(parts[i].deserved, parts[i].want);
        sum += parts[i].got;
    }
    if (sum <= amount)
        return amount - (int64_t)sum;
    divide_deserved(parts, n, amount);
    return 0;
}

static void divide(struct gang_core *core, struct queue *parent, struct part *parts, uint32_t r,
                   int64_t amount)
{
    size_t n = 0;
    list_for_each (child, &parent->children, struct queue, in_parent) {
        const struct quota *quota = queue_quota(child, r);
        int64_t wanted = amount_of(&child->share.wanted, r);
        int64_t most = quota ? lesser(wanted, quota->cap) : wanted;
        int64_t weight = surplus_weight(core, child, r);
        if (most > 0)
            parts[n++] = (struct part){.queue = child,
                                       .priority = queue_priority(child),
                                       .last = weight == 0,
                                       .weight = weight ? weight : 1,
                                       .want = thousandths(most)};
    }
    if (!give_all(parts, n, amount))
        give_rest(parts, n, give_deserved(parts, n, r, amount));
    for (size_t i = 0; i < n; i++)
        amounts_change(core, &parts[i].queue->share.fair, r, parts[i].got);
}

static void share_below(struct gang_core *core, struct queue *queue)
{
    cleanup_free struct part *parts = xcalloc(queue->n_children + 1, sizeof *parts);
    list_for_each (child, &queue->children, struct queue, in_parent)
        amounts_clear(core, &child->share.fair);
    for (size_t i = 0; i < queue->share.fair.n; i++)
        divide(core, queue, parts, queue->share.fair.items[i].resource,
               queue->share.fair.items[i].amount);
    list_for_each (child, &queue->children, struct queue, in_parent)
        if (child->n_children)
            share_below(core, child);
}

static void share_root(struct gang_core *core, struct queue *root)
{
    amounts_clear(core, &root->share.fair);
    for (size_t i = 0; i < root->share.wanted.n; i++) {
        uint32_t r = root->share.wanted.items[i].resource;
        if (counts_as_share(core, r))
            amounts_change(core, &root->share.fair, r, thousandths(queue_total(core, r)));
    }
}

/* ---- over time ---- */

static int64_t clamp(int64_t x, int64_t most)
{
    return x > most ? most : x < -most ? -most : x;
}

/* For the time that has passed, with the share and use during it. */
static void credit(const struct gang_core *core, struct queue *queue, usec_t dt)
{
    struct queue_share *s = &queue->share;
    usec_t half_life = core->config.queue_half_life;
    int64_t use = dominant_part(core, &queue->used);
    s->past = saturate((__int128)share_fade(s->past, dt, half_life) + use -
                       share_fade(use, dt, half_life));
    __int128 grows = s->waits ? (__int128)(s->fraction - use) * dt / USEC_PER_SEC : 0;
    s->credit = saturate(share_fade(s->credit, dt, half_life) + grows);
}

/* The rest of the update, with the new shares. */
static void credit_bound(const struct gang_core *core, struct queue *queue)
{
    struct queue_share *s = &queue->share;
    struct amounts *fair = &s->fair;
    s->fraction = 0;
    for (size_t i = 0; i < fair->n; i++) {
        int64_t total = thousandths(queue_total(core, fair->items[i].resource));
        int64_t part = part_of(fair->items[i].amount, total);
        s->fraction = part > s->fraction ? part : s->fraction;
    }
    s->oversize = s->largest > s->fraction;
    int64_t seconds = core->config.queue_half_life / USEC_PER_SEC;
    s->credit = clamp(s->credit, saturate((__int128)s->largest * (seconds ? seconds : 1)));
}

/* `weight` as a part of `all`, at least the smallest one. */
static int64_t part_of_weights(int64_t weight, __int128 all)
{
    __int128 part = (__int128)weight * SHARE_ONE / all;
    return part > 0 ? (int64_t)part : 1;
}

/* Sets how much past use changes the weights of the children that want anything. */
static void boost(const struct gang_core *core, struct queue *parent)
{
    int64_t k = core->config.queue_time_factor;
    __int128 all = 0;
    list_for_each (child, &parent->children, struct queue, in_parent)
        all += child->share.wanted.n ? queue_weight(child) : 0;
    list_for_each (child, &parent->children, struct queue, in_parent) {
        int64_t weight = queue_weight(child);
        child->share.boost = 0;
        if (!k || !weight || !child->share.wanted.n)
            continue;
        int64_t part = part_of_weights(weight, all);
        int64_t now = saturate(part + (__int128)(part - child->share.past) * k / 1000);
        child->share.boost = now > 0 ? saturate((__int128)now * 1000 / part) : 0;
        child->share.boost += child->share.boost == 0; /* 0 means: unchanged */
    }
}

static void update_all(struct gang_core *core)
{
    struct queue *root = core->queues.root;
    struct amounts needs = {0};
    sum_wanted(core, root, &needs);
    amounts_done(core, &needs);
    boost(core, root);
    map_for_each (e, &core->queues.all)
        if (((struct queue *)e->value)->n_children)
            boost(core, e->value);
    share_root(core, root);
    share_below(core, root);
    map_for_each (e, &core->queues.all)
        credit_bound(core, e->value);
    credit_bound(core, core->queues.none);
}

/* Something that changes shares has happened since the update, perhaps. */
static void update_later(struct gang_core *core)
{
    bool changed = !list_empty(&core->touched) || !list_empty(&core->queues_changed);
    if (changed && !core->due.shares.node.pos)
        timer_set(core, &core->due.shares, core->shared_at + UPDATE_EVERY);
}

void shares_pass_time(struct gang_core *core)
{
    usec_t dt = core->now - core->credited_at;
    if (core->queues.root && dt < UPDATE_EVERY)
        return;
    core->credited_at = core->now;
    if (!core->queues.root)
        return;
    map_for_each (e, &core->queues.all)
        credit(core, e->value, dt);
    credit(core, core->queues.none, dt);
    queues_reorder(core);
}

/* See step_work.h. */
#define WORK_PER_QUEUE 12

void shares_update(struct gang_core *core)
{
    struct queue *root = core->queues.root;
    usec_t dt = core->now - core->shared_at;
    if (!root)
        return;
    if (core->shared_at && dt < UPDATE_EVERY) {
        update_later(core);
        return;
    }
    step_work_spend(core, WORK_PER_QUEUE * (int64_t)map_count(&core->queues.all));
    update_all(core);
    core->shared_at = core->now;
    queues_reorder(core);
    if (core->earmark_gang)
        room_grew(core); /* for gangs that come before it in the new order */
    if (root->share.waits)
        timer_set(core, &core->due.shares, core->now + UPDATE_EVERY);
}

/* ---- the invariants ---- */

static bool is_right(const struct gang_core *is, const struct queue *queue)
{
    struct gang_core *core = (void *)(uintptr_t)is; /* temporary sums use resource numbers */
    struct queue_share sum = {.waits = false};
    struct amounts needs = {0};
    sum_queue(core, queue, &sum, &needs);
    bool same = sum.waits == queue->share.waits && sum.largest == queue->share.largest &&
                amounts_equal(&sum.wanted, &queue->share.wanted);
    amounts_done(core, &sum.wanted);
    amounts_done(core, &needs);
    return same;
}

int shares_check(const struct gang_core *core, struct err *err)
{
    if (!core->queues.root)
        return 0;
    map_for_each (e, &core->queues.all) {
        const struct queue *queue = e->value;
        if (is_summed(core, queue) && !is_right(core, queue))
            return err_set(err, ERR_INTERNAL, "queue %s: what its gangs want is outdated",
                           queue->key);
    }
    return 0;
}
