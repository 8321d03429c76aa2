/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/queue_usage_check.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"

/* ---- counted again, from the pods and slots ---- */

/* What pods and slots count in one queue, without the queues below it. */
struct recount {
    const struct queue *queue;
    size_t n;
    uint64_t used, firm, awaited; /* all resources together, see weighted() */
};

/* Amounts of different resources do not cancel each other. */
static uint64_t weighted(uint32_t resource, int64_t amount)
{
    return (uint64_t)amount * (2 * (uint64_t)resource + 1);
}

static uint64_t weighted_sum(const struct amounts *a)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += weighted(a->items[i].resource, a->items[i].amount);
    return sum;
}

static struct recount recount_one(const struct gang_core *core, const struct queue *queue,
                                  bool firm, const struct signature *signature,
                                  const struct node *node)
{
    uint64_t used = 0;
    for (size_t i = 0; i < signature->n_needs; i++) {
        const struct need *need = &signature->needs[i];
        uint32_t alias = queue_alias(core, need->resource);
        int64_t has = amount_of(&node->allocatable, need->resource);
        int64_t amount = need->amount < has ? need->amount : has;
        used += weighted(need->resource, amount);
        used += alias != RES_UNKNOWN ? weighted(alias, amount) : 0;
    }
    return (struct recount){queue, 1, used, firm ? used : 0, 0};
}

static int by_address(const void *a, const void *b)
{
    const struct recount *x = a, *y = b;
    return (x->queue > y->queue) - (x->queue < y->queue);
}

static void recount_slots(const struct gang_core *core, const struct node *node,
                          const struct list *slots, struct recount *all, size_t *n)
{
    list_for_each (slot, slots, struct slot, in_node)
        if (slot->counted_in) {
            struct recount is =
                recount_one(core, slot->counted_in, slot->counted_firm, slot->signature, node);
            all[(*n)++] = slot->awaits ? (struct recount){is.queue, 1, 0, 0, is.used} : is;
        }
}

/* One item for each queue in which something counts, sorted by address. */
static struct recount *recount_all(const struct gang_core *core, size_t *ret_n)
{
    size_t n = 0, cap = 0, last = 0;
    struct recount *all = NULL;
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        GROW(all, cap, n + node->n_pods + node->n_slots + node->n_preempted_room);
        list_for_each (pod, &node->pods, struct pod, in_node)
            if (pod->counted_in)
                all[n++] =
                    recount_one(core, pod->counted_in, pod->counted_firm, pod->signature, node);
        recount_slots(core, node, &node->slots, all, &n);
        recount_slots(core, node, &node->preempted_room, all, &n);
    }
    if (n)
        qsort(all, n, sizeof *all, by_address);
    for (size_t i = 1; i < n; i++)
        if (all[i].queue == all[last].queue) {
            all[last].n += all[i].n;
            all[last].used += all[i].used;
            all[last].firm += all[i].firm;
            all[last].awaited += all[i].awaited;
        } else {
            all[++last] = all[i];
        }
    *ret_n = n ? last + 1 : 0;
    return all;
}

/* ---- one queue ---- */

static int check_sums(const struct recount *all, size_t n, const struct queue *queue,
                      struct err *err)
{
    const struct recount key = {.queue = queue};
    const struct recount *own = n ? bsearch(&key, all, n, sizeof *all, by_address) : NULL;
    uint64_t used = own ? own->used : 0, firm = own ? own->firm : 0;
    uint64_t awaited = own ? own->awaited : 0;
    list_for_each (child, &queue->children, struct queue, in_parent) {
        used += weighted_sum(&child->used);
        firm += weighted_sum(&child->firm);
        awaited += weighted_sum(&child->awaited);
    }
    if (queue->n_counted != (own ? own->n : 0) || used != weighted_sum(&queue->used) ||
        firm != weighted_sum(&queue->firm) || awaited != weighted_sum(&queue->awaited))
        return err_set(err, ERR_INTERNAL,
                       "queue %s: its use differs from that of its %zu pods and slots and of the "
                       "queues below it",
                       queue->key, own ? own->n : 0);
    return 0;
}

static int check_gangs(const struct queue *queue, struct err *err)
{
    int gangs[QUEUE_GANGS];
    memcpy(gangs, queue->own_gangs, sizeof gangs);
    list_for_each (child, &queue->children, struct queue, in_parent)
        for (int k = 0; k < QUEUE_GANGS; k++)
            gangs[k] += child->gangs_below[k];
    if (memcmp(gangs, queue->gangs_below, sizeof gangs) != 0)
        return err_set(err, ERR_INTERNAL, "queue %s: the numbers of gangs are wrong", queue->key);
    return 0;
}

static int check_unused_reserves(const struct queue *queue, struct err *err)
{
    __int128 unused = 0;
    for (size_t i = 0; i < queue->unused_reserves.n; i++)
        unused += queue->unused_reserves.items[i].amount;
    for (size_t i = 0; i < queue->unused_reserves_high.n; i++)
        unused += (__int128)queue->unused_reserves_high.items[i].amount << 32;
    list_for_each (child, &queue->children, struct queue, in_parent)
        for (size_t i = 0; i < child->n_quotas; i++) {
            int64_t left =
                child->quotas[i].reserved - amount_of(&child->used, child->quotas[i].resource);
            unused -= child->quotas[i].reserved > 0 && left > 0 ? left : 0;
        }
    if (unused)
        return err_set(err, ERR_INTERNAL, "queue %s: the unused reserves are wrong", queue->key);
    return 0;
}

static bool is_right(const struct recount *all, size_t n, const struct queue *queue,
                     struct err *err)
{
    return check_sums(all, n, queue, err) == 0 && check_gangs(queue, err) == 0 &&
           check_unused_reserves(queue, err) == 0;
}

int queue_usage_check(const struct gang_core *core, struct err *err)
{
    size_t n;
    cleanup_free struct recount *all = recount_all(core, &n);
    if (!is_right(all, n, core->queues.root, err) || !is_right(all, n, core->queues.none, err))
        return -1;
    map_for_each (e, &core->queues.all)
        if (!is_right(all, n, e->value, err))
            return -1;
    return 0;
}
