/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/queue_usage.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"

/* ---- which queue ---- */

struct queue *queue_find(const struct gang_core *core, const struct gang_ref *ref)
{
    return gang_ref_get(&core->queues.all, ref);
}

bool queue_is_default(const char *name)
{
    return strcmp(name, "default") == 0 || strcmp(name, "default-queue") == 0;
}

struct queue *queue_of_namespace(const struct gang_core *core, const char *ns)
{
    const struct queue_claim *claim = map_get(&core->queues.by_namespace, ns);
    return claim ? claim->queue : NULL;
}

struct queue *queue_of_single(const struct gang_core *core, const struct gang_pod_facts *pod,
                              bool *ret_missing)
{
    const struct gang_ref *ref = &pod->queue;
    *ret_missing = false;
    if (!core->queues.root)
        return NULL;
    if (ref->api_group && map_get(&core->queues.objects, ref->api_group)) {
        struct queue *queue = queue_find(core, ref);
        if (queue && queue->facts)
            return queue;
        *ret_missing = !queue_is_default(ref->name);
        if (*ret_missing)
            return NULL;
    }
    return queue_of_namespace(core, pod->ns);
}

struct queue *queue_of_pod(const struct gang_core *core, const struct pod *pod)
{
    bool missing;
    if (!core->queues.root)
        return NULL;
    struct queue *queue =
        pod->gang ? pod->gang->queue : queue_of_single(core, pod->facts, &missing);
    return queue ? queue : core->queues.none;
}

struct queue *queue_that_counts(const struct gang_core *core, const struct pod *pod)
{
    return pod->node ? queue_of_pod(core, pod) : NULL;
}

bool pod_is_firm(const struct pod *pod, const struct queue *queue)
{
    if (pod->gang)
        return pod->gang->firm;
    return pod->facts->preemptible == PREEMPTIBLE_BY_PRIORITY
               ? queue_is_firm(queue, pod->facts->priority)
               : pod->facts->preemptible == PREEMPTIBLE_NO;
}

/* ---- sums ---- */

uint32_t queue_alias_of(const struct gang_core *core, uint32_t resource)
{
    return resource_is(core, resource, RESOURCE_GPU) ? core->any_gpu : RES_UNKNOWN;
}

int64_t queue_total(const struct gang_core *core, uint32_t resource)
{
    if (resource != core->any_gpu)
        return amount_of(&core->capacity, resource);
    int64_t sum = 0;
    for (size_t i = 0; i < core->capacity.n; i++)
        if (queue_alias(core, core->capacity.items[i].resource) != RES_UNKNOWN)
            sum += core->capacity.items[i].amount;
    return sum;
}

bool needs_list(const struct gang_core *core, struct need_list needs, uint32_t r, int64_t *ret)
{
    bool any = false;
    *ret = 0;
    for (size_t i = 0; i < needs.n; i++) {
        uint32_t is = needs.items[i].resource;
        if (is != r && (r != core->any_gpu || queue_alias(core, is) != r))
            continue;
        if (__builtin_add_overflow(*ret, needs.items[i].amount * needs.times, ret))
            *ret = INT64_MAX;
        any = true;
    }
    return any;
}

static int64_t unused_reserve(const struct queue *queue, const struct quota *quota)
{
    int64_t used = amount_of(&queue->used, quota->resource);
    return quota->reserved > used ? quota->reserved - used : 0;
}

static void touch(struct gang_core *core, struct queue *queue)
{
    if (list_empty(&queue->in_changed) && !core->marks.dry)
        list_push(&core->queues_changed, &queue->in_changed);
}

/* The low half of an amount; the high half is the amount >> 32. Sums of halves do not overflow,
 * however many queues reserve whatever amounts. */
#define LOW_HALF INT64_C(0xffffffff)

__int128 queue_unused_reserves(const struct queue *parent, uint32_t resource)
{
    __int128 high = amount_of(&parent->unused_reserves_high, resource);
    return high * (LOW_HALF + 1) + amount_of(&parent->unused_reserves, resource);
}

/* Whether only one child at most keeps some of the resource free. */
static bool one_keeps(const struct queue *parent, uint32_t resource)
{
    int n = 0;
    list_for_each (child, &parent->children, struct queue, in_parent) {
        const struct quota *quota = queue_quota(child, resource);
        n += quota && unused_reserve(child, quota) > 0;
        if (n > 1)
            return false;
    }
    return true;
}

/* When the siblings of a queue keep nothing free any more, they do not limit it. If a node has too
 * many pods, this can be room that it did not have. */
static void change_unused_reserves(struct gang_core *core, struct queue *parent, uint32_t resource,
                                   int64_t from, int64_t to)
{
    if (from == to)
        return;
    amounts_change(core, &parent->unused_reserves, resource, (to & LOW_HALF) - (from & LOW_HALF));
    amounts_change(core, &parent->unused_reserves_high, resource, (to >> 32) - (from >> 32));
    if (to == 0 && !core->marks.paused && one_keeps(parent, resource))
        room_grew(core);
}

/* It has reserved amounts: what it does not use of them changes. */
static void add_reserving(struct gang_core *core, struct queue *queue, uint32_t resource,
                          int64_t by)
{
    const struct quota *quota = queue_quota(queue, resource);
    int64_t before = quota ? unused_reserve(queue, quota) : 0;
    amounts_change(core, &queue->used, resource, by);
    if (quota && queue->parent)
        change_unused_reserves(core, queue->parent, resource, before, unused_reserve(queue, quota));
}

/* To one level. firm: the part by gangs that are not preemptible. */
static inline void add(struct gang_core *core, struct queue *queue, uint32_t resource, int64_t by,
                       int64_t firm)
{
    if (queue->reserves)
        add_reserving(core, queue, resource, by);
    else
        amounts_change(core, &queue->used, resource, by);
    if (firm)
        amounts_change(core, &queue->firm, resource, firm);
}

/* The queue uses something else now. */
static void note_change(struct gang_core *core, struct queue *queue, bool less)
{
    queue->changed = core->queue_changes;
    if (core->marks.paused)
        return;
    touch(core, queue);
    queue->want_changed = core->want_changes;
    if (less)
        queue->freed = clock_next(core);
}

/* At most what the node has. */
static int64_t counted(const struct node *node, const struct need *need)
{
    int64_t has = amount_of(&node->allocatable, need->resource);
    return need->amount < has ? need->amount : has;
}

/* Lists what n pods of the signature count on the node. Returns the number of resources. */
static size_t list_counted(struct gang_core *core, const struct signature *signature,
                           const struct node *node, int n_pods)
{
    size_t n = 0;
    GROW(core->counting, core->cap_counting, 2 * signature->n_needs);
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = signature->needs[i].resource, alias = queue_alias(core, r);
        int64_t by = n_pods * counted(node, &signature->needs[i]);
        if (by)
            core->counting[n++] = (struct need){r, by};
        if (by && alias != RES_UNKNOWN)
            core->counting[n++] = (struct need){alias, by};
    }
    return n;
}

/* Where the queue counts something: in `used`, or also in `firm`, or only in `awaited`. */
enum sum { USED, FIRM, AWAITED };

static enum sum sum_of(bool firm)
{
    return firm ? FIRM : USED;
}

static enum sum sum_of_slot(const struct slot *slot)
{
    return slot->awaits ? AWAITED : sum_of(slot->counted_firm);
}

/* Leaves what core->counting lists to queue_counts_end(), for the queues above this one. */
static void count_later(struct gang_core *core, struct queue *queue, enum sum sum, size_t n,
                        bool less)
{
    for (size_t i = 0; i < n; i++) {
        const struct need *by = &core->counting[i];
        amounts_change(core, &queue->later.used, by->resource, by->amount);
        if (sum == FIRM)
            amounts_change(core, &queue->later.firm, by->resource, by->amount);
    }
    queue->later.less |= less;
    if (list_empty(&queue->in_later))
        list_push(&core->queues_later, &queue->in_later);
}

/* At one level, what the queues below it have left to be counted. */
static void count_rest(struct gang_core *core, struct queue *queue, const struct queue_later *later)
{
    for (size_t i = 0; i < later->used.n; i++)
        add(core, queue, later->used.items[i].resource, later->used.items[i].amount, 0);
    for (size_t i = 0; i < later->firm.n; i++)
        amounts_change(core, &queue->firm, later->firm.items[i].resource,
                       later->firm.items[i].amount);
    note_change(core, queue, later->less);
}

void queue_counts_begin(struct gang_core *core)
{
    core->counts_later = true;
}

void queue_counts_end(struct gang_core *core)
{
    struct list *first;
    core->counts_later = false;
    while ((first = list_pop(&core->queues_later)) != NULL) {
        struct queue *queue = CONTAINER_OF(first, struct queue, in_later);
        for (struct queue *up = queue->parent; up; up = up->parent)
            count_rest(core, up, &queue->later);
        amounts_done(core, &queue->later.used);
        amounts_done(core, &queue->later.firm);
        queue->later.less = false;
    }
}

/* At one level, what core->counting lists. */
static void count_here(struct gang_core *core, struct queue *queue, enum sum sum, size_t n,
                       bool less)
{
    for (size_t i = 0; i < n; i++) {
        const struct need *by = &core->counting[i];
        if (sum == AWAITED)
            amounts_change(core, &queue->awaited, by->resource, by->amount);
        else
            add(core, queue, by->resource, by->amount, sum == FIRM ? by->amount : 0);
    }
    note_change(core, queue, less);
}

/* n more pods, or -n fewer ones, in the queue and all above it. */
static void count(struct gang_core *core, struct queue *queue, enum sum sum,
                  const struct signature *signature, const struct node *node, int n_pods)
{
    size_t n = list_counted(core, signature, node, n_pods);
    core->queue_changes++;
    core->want_changes++;
    queue->n_counted += (size_t)n_pods;
    count_here(core, queue, sum, n, n_pods < 0);
    if (core->counts_later && sum != AWAITED) {
        count_later(core, queue, sum, n, n_pods < 0);
        return;
    }
    for (queue = queue->parent; queue; queue = queue->parent)
        count_here(core, queue, sum, n, n_pods < 0);
}

void queue_uncount_pod(struct gang_core *core, struct pod *pod)
{
    struct queue *queue = STEAL(pod->counted_in);
    if (queue)
        count(core, queue, sum_of(pod->counted_firm), pod->signature, pod->node, -1);
}

/* What moves from one queue to another leaves room for those that wait for the first one. */
static void leaves(struct gang_core *core, const struct queue *queue)
{
    if (queue)
        room_grew(core);
}

void queue_count_pod(struct gang_core *core, struct pod *pod)
{
    struct queue *queue = queue_that_counts(core, pod);
    bool firm = pod_is_firm(pod, queue);
    if (pod->counted_in == queue && pod->counted_firm == firm)
        return;
    leaves(core, pod->counted_in);
    queue_uncount_pod(core, pod);
    pod->counted_in = queue;
    pod->counted_firm = firm;
    if (queue)
        count(core, queue, sum_of(firm), pod->signature, pod->node, 1);
}

void queue_uncount_slot(struct gang_core *core, struct slot *slot)
{
    struct queue *queue = STEAL(slot->counted_in);
    if (queue)
        count(core, queue, sum_of_slot(slot), slot->signature, slot->node, -1);
}

void queue_count_slot(struct gang_core *core, struct slot *slot)
{
    struct queue *queue = queue_of_gang(core, slot->gang);
    if (slot->counted_in == queue && slot->counted_firm == slot->gang->firm)
        return;
    leaves(core, slot->counted_in);
    queue_uncount_slot(core, slot);
    slot->counted_in = queue;
    slot->counted_firm = slot->gang->firm;
    if (queue)
        count(core, queue, sum_of_slot(slot), slot->signature, slot->node, 1);
}

/* ---- many at once ---- */

/* Whether both slots count the same in the same queue. */
static bool are_alike(const struct slot *a, const struct slot *b)
{
    if (a->gang != b->gang || a->signature != b->signature)
        return false;
    for (size_t i = 0; a->node != b->node && i < a->signature->n_needs; i++)
        if (counted(a->node, &a->signature->needs[i]) != counted(b->node, &b->signature->needs[i]))
            return false;
    return true;
}

void queue_batch_end(struct gang_core *core, struct queue_batch *batch)
{
    const struct slot *like = batch->like;
    if (batch->n)
        count(core, like->counted_in, sum_of_slot(like), like->signature, like->node, batch->n);
    batch->n = 0;
}

void queue_batch_add(struct gang_core *core, struct queue_batch *batch, struct slot *slot)
{
    slot->counted_in = queue_of_gang(core, slot->gang);
    slot->counted_firm = slot->gang->firm;
    if (!slot->counted_in)
        return;
    if (batch->n && !are_alike(batch->like, slot))
        queue_batch_end(core, batch);
    batch->like = slot;
    batch->n++;
}

void queue_count_gang(struct gang_core *core, struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        queue_count_pod(core, pod);
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        queue_count_slot(core, slot);
    list_for_each (slot, &gang->preempted_room, struct slot, in_gang)
        queue_count_slot(core, slot);
}

void queue_uncount_node(struct gang_core *core, struct node *node)
{
    if (core->queues.root && (node->n_pods || node->n_slots || node->n_preempted_room))
        room_grew(core); /* they may count less than before */
    list_for_each (pod, &node->pods, struct pod, in_node)
        queue_uncount_pod(core, pod);
    list_for_each (slot, &node->slots, struct slot, in_node)
        queue_uncount_slot(core, slot);
    list_for_each (slot, &node->preempted_room, struct slot, in_node)
        queue_uncount_slot(core, slot);
}

void queue_count_node(struct gang_core *core, struct node *node)
{
    if (!core->queues.root)
        return;
    list_for_each (pod, &node->pods, struct pod, in_node)
        queue_count_pod(core, pod);
    list_for_each (slot, &node->slots, struct slot, in_node)
        queue_count_slot(core, slot);
    list_for_each (slot, &node->preempted_room, struct slot, in_node)
        queue_count_slot(core, slot);
}

void queue_uncount_all(struct gang_core *core)
{
    queue_counts_begin(core);
    map_for_each (e, &core->nodes)
        queue_uncount_node(core, e->value);
    queue_counts_end(core);
}

void queue_count_all(struct gang_core *core)
{
    queue_counts_begin(core);
    map_for_each (e, &core->nodes)
        queue_count_node(core, e->value);
    queue_counts_end(core);
}

/* ---- what pods would use ---- */

/* So that sums do not overflow, whatever waits. */
#define PRETENDED_MAX (INT64_MAX / 2048)

static void pretend(struct gang_core *core, struct queue *queue, uint32_t r, int64_t by, bool firm)
{
    for (; queue; queue = queue->parent)
        add(core, queue, r, by, firm ? by : 0);
}

void queue_pretend(struct gang_core *core, struct queue *queue, bool firm, struct need_list needs,
                   int sign)
{
    for (size_t i = 0; i < needs.n; i++) {
        uint32_t r = needs.items[i].resource, alias = queue_alias(core, r);
        int64_t by;
        if (__builtin_mul_overflow(needs.items[i].amount, needs.times, &by) || by > PRETENDED_MAX)
            by = PRETENDED_MAX;
        by *= sign;
        pretend(core, queue, r, by, firm);
        if (alias != RES_UNKNOWN)
            pretend(core, queue, alias, by, firm);
    }
}

/* ---- the position of a queue in the tree ---- */

void queue_count_reserve(struct gang_core *core, const struct queue *queue, bool counts)
{
    for (size_t i = 0; queue->reserves && i < queue->n_quotas; i++) {
        int64_t unused = unused_reserve(queue, &queue->quotas[i]);
        change_unused_reserves(core, queue->parent, queue->quotas[i].resource, counts ? 0 : unused,
                               counts ? unused : 0);
    }
}

void queue_count_branch(struct gang_core *core, struct queue *queue, int sign)
{
    core->queue_changes++;
    core->want_changes++;
    queue_count_reserve(core, queue, sign > 0);
    for (struct queue *up = queue->parent; up; up = up->parent) {
        for (size_t i = 0; i < queue->used.n; i++) {
            uint32_t r = queue->used.items[i].resource;
            add(core, up, r, sign * queue->used.items[i].amount, sign * amount_of(&queue->firm, r));
        }
        for (size_t i = 0; i < queue->awaited.n; i++)
            amounts_change(core, &up->awaited, queue->awaited.items[i].resource,
                           sign * queue->awaited.items[i].amount);
        for (int k = 0; k < QUEUE_GANGS; k++)
            up->gangs_below[k] += sign * queue->gangs_below[k];
        note_change(core, up, sign < 0);
    }
}

void queue_usage_done(struct gang_core *core, struct queue *queue)
{
    amounts_done(core, &queue->used);
    amounts_done(core, &queue->firm);
    amounts_done(core, &queue->awaited);
    amounts_done(core, &queue->unused_reserves);
    amounts_done(core, &queue->unused_reserves_high);
}

void queue_counting_done(struct gang_core *core)
{
    free(core->counting);
}

void queue_freed(struct gang_core *core, struct queue *queue)
{
    queue->freed = clock_next(core);
    touch(core, queue);
    queue->changed = ++core->queue_changes;
}

void queues_reorder(struct gang_core *core)
{
    core->queues_reordered = ++core->queue_changes;
}

void queue_want_changed(struct gang_core *core, struct queue *queue)
{
    core->want_changes++;
    for (; queue; queue = queue->parent)
        queue->want_changed = core->want_changes;
}

void queues_want_changed(struct gang_core *core)
{
    core->all_want_changed = ++core->want_changes;
}

/* ---- statuses ---- */

static enum queue_gangs shown_as(const struct gang *gang)
{
    if (gang->state == GANG_DONE)
        return GANGS_DONE;
    if (gang->state == GANG_SCHEDULED)
        return GANGS_RUNNING;
    return gang->n_slots ? GANGS_PLANNED : GANGS_WAITING;
}

void queue_hide_gang(struct gang_core *core, struct gang *gang)
{
    struct queue *queue = STEAL(gang->shown_in);
    if (queue)
        queue->own_gangs[gang->shown_as]--;
    for (; queue; queue = queue->parent) {
        queue->gangs_below[gang->shown_as]--;
        touch(core, queue);
    }
}

void queue_show_gang(struct gang_core *core, struct gang *gang)
{
    enum queue_gangs as = shown_as(gang);
    struct queue *queue = gang->queue;
    if (gang->shown_in == queue && (!queue || gang->shown_as == as))
        return;
    queue_hide_gang(core, gang);
    gang->shown_in = queue;
    gang->shown_as = as;
    if (queue)
        queue->own_gangs[as]++;
    for (; queue; queue = queue->parent) {
        queue->gangs_below[as]++;
        touch(core, queue);
    }
}

void queue_touch(struct gang_core *core, struct queue *queue)
{
    for (; queue; queue = queue->parent)
        touch(core, queue);
}

void queues_changed_begin(struct gang_core *core)
{
    struct list *first;
    while ((first = list_pop(&core->queues_changed)) != NULL)
        list_push(&core->queues_to_emit, first);
}

struct queue *queue_changed_take(struct gang_core *core)
{
    struct list *first = list_pop(&core->queues_to_emit);
    return first ? CONTAINER_OF(first, struct queue, in_changed) : NULL;
}
