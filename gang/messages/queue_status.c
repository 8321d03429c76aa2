/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/messages/queue_status.h"

#include "base/hash.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/timers.h"

#define INTERVAL USEC_PER_SEC
/* A step emits statuses until they list this many resources and children. */
#define WORK 10000

/* ---- what it shows ---- */

static int by_resource_name(const void *a, const void *b)
{
    const struct gang_queue_amount *x = a, *y = b;
    return strcmp(x->resource, y->resource);
}

/* quota NULL: the queue states nothing about the resource. */
static void put_amount(const struct gang_core *core, const struct queue *queue, uint32_t r,
                       const struct quota *quota, struct gang_queue_amount *ret)
{
    int64_t used = amount_of(&queue->used, r), wanted = amount_of(&queue->share.wanted, r);
    *ret = (struct gang_queue_amount){.resource = core->resources.names[r],
                                      .reserved = quota ? quota->reserved : 0,
                                      .deserved = quota ? quota->deserved : GANG_NOT_STATED,
                                      .cap = quota ? quota->cap : GANG_UNLIMITED,
                                      .share = amount_of(&queue->share.fair, r),
                                      .used = used,
                                      .firm = amount_of(&queue->firm, r),
                                      .requested = wanted > used ? wanted : used};
}

/* The resources about which the queue states something, and those that its pods use or want. */
static void put_amounts(const struct gang_core *core, const struct queue *queue,
                        struct gang_queue_status *s)
{
    const struct amounts *const lists[] = {&queue->used, &queue->share.wanted};
    size_t most = queue->n_quotas + queue->used.n + queue->share.wanted.n;
    struct gang_queue_amount *amounts = xcalloc(most + 1, sizeof *amounts);
    for (size_t i = 0; i < queue->n_quotas; i++)
        put_amount(core, queue, queue->quotas[i].resource, &queue->quotas[i],
                   &amounts[s->n_amounts++]);
    size_t at[ARRAY_SIZE(lists)] = {0};
    uint32_t r;
    while ((r = amounts_lowest(lists, at, ARRAY_SIZE(lists))) != RES_UNKNOWN) {
        int64_t used = amounts_take(lists[0], &at[0], r),
                wanted = amounts_take(lists[1], &at[1], r);
        if (r != RES_PODS && (used || wanted) && !queue_quota(queue, r))
            put_amount(core, queue, r, NULL, &amounts[s->n_amounts++]);
    }
    s->amounts = amounts;
}

static void sort_amounts(struct gang_queue_status *s)
{
    struct gang_queue_amount *amounts = (void *)(uintptr_t)s->amounts;
    if (s->n_amounts > 1)
        qsort(amounts, s->n_amounts, sizeof *amounts, by_resource_name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_children(const struct queue *queue, struct gang_queue_status *s)
{
    const char **names = xcalloc(queue->n_children + 1, sizeof *names);
    list_for_each (child, &queue->children, struct queue, in_parent)
        names[s->n_children++] = child->ref.name;
    if (s->n_children > 1)
        qsort(names, s->n_children, sizeof *names, by_text);
    s->children = names;
}

enum gang_queue_state queue_state(const struct queue *queue)
{
    if (!queue->facts)
        return GANG_QUEUE_MISSING;
    if (queue->fault)
        return GANG_QUEUE_INVALID;
    return queue->closed ? GANG_QUEUE_CLOSED : GANG_QUEUE_OPEN;
}

bool queue_is_shown(const struct queue *queue)
{
    return queue->facts || !list_empty(&queue->gangs);
}

const char *gang_queue_state_name(enum gang_queue_state state)
{
    static const char *const names[] = {
#define X(id, name) name,
        GANG_QUEUE_STATES(X)
#undef X
    };
    return names[state];
}

struct gang_queue_status queue_status_quick(const struct gang_core *core, const struct queue *queue)
{
    struct gang_queue_status s = {.ref = &queue->ref,
                                  .uid = queue->facts && queue->facts->uid ? queue->facts->uid : "",
                                  .text = "",
                                  .closed = queue->closed,
                                  .waiting = queue->gangs_below[GANGS_WAITING],
                                  .planned = queue->gangs_below[GANGS_PLANNED],
                                  .running = queue->gangs_below[GANGS_RUNNING],
                                  .done = queue->gangs_below[GANGS_DONE]};
    if (queue->fault) {
        s.reason = REASON_QUEUE_INVALID;
        s.text = queue->fault->own_fault;
    }
    put_amounts(core, queue, &s);
    return s;
}

struct gang_queue_status queue_status(const struct gang_core *core, const struct queue *queue)
{
    struct gang_queue_status s = queue_status_quick(core, queue);
    sort_amounts(&s);
    put_children(queue, &s);
    return s;
}

void queue_status_done(struct gang_queue_status *status)
{
    free((void *)(uintptr_t)status->amounts);
    free((void *)(uintptr_t)status->children);
}

/* ---- when it is written ---- */

/* Includes `closing`, because `closed` does not change when a queue below a closed one becomes
 * Closing. */
static uint64_t digest(const struct gang_queue_status *s, bool closing)
{
    uint64_t h = hash_text(hash_u64(HASH_START, (uint64_t)s->reason), s->text);
    const int counts[] = {s->waiting, s->planned, s->running, s->done, s->closed, closing};
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
        h = hash_u64(h, (uint64_t)counts[i]);
    for (size_t i = 0; i < s->n_amounts; i++) {
        const struct gang_queue_amount *a = &s->amounts[i];
        const int64_t figures[] = {a->reserved, a->deserved, a->cap,
                                   a->used,     a->firm,     a->requested};
        h = hash_text(h, a->resource);
        for (size_t k = 0; k < ARRAY_SIZE(figures); k++)
            h = hash_u64(h, (uint64_t)figures[k]);
    }
    for (size_t i = 0; i < s->n_children; i++)
        h = hash_text(h, s->children[i]);
    return hash_text(h, s->uid) | 1;
}

static char *copy(struct gang_core *core, const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(fx_alloc(core, n), text, n);
}

static void emit(struct gang_core *core, const struct gang_queue_status *s)
{
    struct gang_queue_status out = *s;
    struct gang_ref *ref = fx_alloc(core, sizeof *ref);
    *ref = (struct gang_ref){copy(core, s->ref->api_group), copy(core, s->ref->ns),
                             copy(core, s->ref->name)};
    struct gang_queue_amount *amounts = fx_alloc(core, (s->n_amounts + 1) * sizeof *amounts);
    const char **children = fx_alloc(core, (s->n_children + 1) * sizeof *children);
    for (size_t i = 0; i < s->n_amounts; i++) {
        amounts[i] = s->amounts[i];
        amounts[i].resource = copy(core, s->amounts[i].resource);
    }
    for (size_t i = 0; i < s->n_children; i++)
        children[i] = copy(core, s->children[i]);
    out.ref = ref;
    out.uid = copy(core, s->uid);
    out.text = copy(core, s->text);
    out.amounts = amounts;
    out.children = children;
    fx_add(core, GANG_QUEUE_STATUS)->queue = out;
}

/* Returns a measure of the work that this was. */
static size_t emit_if_changed(struct gang_core *core, struct queue *queue)
{
    struct gang_queue_status s = queue_status(core, queue);
    size_t work = 1 + s.n_amounts + s.n_children;
    uint64_t now = digest(&s, queue->facts->closing);
    if (now != queue->emitted)
        emit(core, &s);
    queue->emitted = now;
    queue_status_done(&s);
    return work;
}

static bool round_begins(struct gang_core *core)
{
    if (list_empty(&core->queues_changed))
        return false;
    if (core->queues_emitted_at && core->now - core->queues_emitted_at < INTERVAL) {
        timer_set(core, &core->due.queues, core->queues_emitted_at + INTERVAL);
        return false;
    }
    core->queues_emitted_at = core->now;
    queues_changed_begin(core);
    return true;
}

void emit_queue_statuses(struct gang_core *core)
{
    if (list_empty(&core->queues_to_emit) && !round_begins(core))
        return;
    struct queue *queue;
    for (size_t work = 0; work < WORK && (queue = queue_changed_take(core)) != NULL;)
        if (queue->facts)
            work += emit_if_changed(core, queue);
    if (!list_empty(&core->queues_to_emit))
        timer_set(core, &core->due.queues, core->now + 1);
}
