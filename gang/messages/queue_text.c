/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/messages/queue_text.h"

#include "base/quantity.h"
#include "gang/cluster/queue_usage.h"
#include "gang/podgroup/quorum.h"

/* "queue training", or "queue research (above queue training)" */
static void put_queue(struct buf *b, const struct queue *leaf, const struct queue *queue)
{
    buf_printf(b, "queue %s", queue->ref.name);
    if (queue != leaf)
        buf_printf(b, " (above queue %s)", leaf->ref.name);
}

/* Which limit leaves no room, and how much of it is used. */
static void put_limit(struct buf *b, const struct gang_core *core, const struct queue *leaf,
                      const struct queue_short *s)
{
    const char *resource = core->resources.names[s->resource];
    if (s->code == REASON_QUEUE_RESERVED) {
        put_queue(b, leaf, s->queue);
        buf_puts(b, " may use only ");
        quantity_format(b, resource, s->limit);
        buf_printf(b, " %s, because the rest of the cluster is reserved for other queues; ",
                   resource);
        quantity_format(b, resource, s->limit > s->used ? s->limit - s->used : 0);
        buf_puts(b, " of these are free");
        return;
    }
    if (s->code == REASON_QUEUE_DESERVED) {
        buf_puts(b, "non-preemptible gangs and pods, such as this one, may use only the ");
        quantity_format(b, resource, s->limit);
        buf_printf(b, " %s that ", resource);
        put_queue(b, leaf, s->queue);
        buf_puts(b, " deserves, and ");
        quantity_format(b, resource, s->used);
        buf_puts(b, " of these are in use");
        return;
    }
    put_queue(b, leaf, s->queue);
    buf_puts(b, " uses ");
    quantity_format(b, resource, s->used);
    buf_puts(b, " of its limit of ");
    quantity_format(b, resource, s->limit);
    buf_printf(b, " %s", resource);
    const struct quota *quota = queue_quota(s->queue, s->resource);
    if (quota && quota->cap_unset)
        buf_puts(b, ", because a limit that is not set allows nothing");
}

char *reason_queue_short(const struct gang_core *core, const struct gang *gang,
                         const struct queue_short *s)
{
    struct buf b = BUF_INIT;
    int needed = gang_needed(gang);
    const char *resource = core->resources.names[s->resource];
    buf_printf(&b, "gang %s/%s: %d member%s needed (", gang->head->ref.ns, gang->head->ref.name,
               needed, needed == 1 ? "" : "s");
    quantity_format(&b, resource, s->need);
    buf_printf(&b, " %s), but ", resource);
    put_limit(&b, core, gang->queue, s);
    return buf_steal(&b);
}

/* A queue below a closed one is closed too. */
static void put_closed(struct buf *b, const struct queue *leaf)
{
    const struct queue *queue = leaf;
    while (queue->parent && !(queue->facts && queue->facts->closed))
        queue = queue->parent;
    put_queue(b, leaf, queue);
    buf_puts(b, " is closed; open it or name another queue");
}

/* `who` waits in the namespace for the queue. */
static void put_refusal(struct buf *b, enum gang_reason_code code, const char *ns, const char *name,
                        const struct queue *queue)
{
    if (code == REASON_QUEUE_MISSING)
        buf_printf(b, "queue %s does not exist; create it or name another queue", name);
    else if (code == REASON_QUEUE_CLOSED)
        put_closed(b, queue);
    else if (code == REASON_QUEUE_FORBIDDEN)
        buf_printf(b,
                   "namespace %s may not use queue %s; add %s:%s to queueNamespaces or name "
                   "another queue",
                   ns, name, name, ns);
    else if (queue->fault)
        buf_printf(b, "queue %s cannot be used: %s", name, queue->fault->own_fault);
    else
        buf_printf(b, "queue %s has queues below it; name one of these", name);
}

char *reason_queue(const struct gang *gang, enum gang_reason_code code)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "gang %s/%s: ", gang->head->ref.ns, gang->head->ref.name);
    put_refusal(&b, code, gang->head->ref.ns, gang->queue->ref.name, gang->queue);
    return buf_steal(&b);
}

/* Without the other gang's name: each placed gang would change the text of all that wait. */
char *reason_queue_behind(const struct gang *gang)
{
    return xasprintf("gang %s/%s: waits for the gangs ahead of it in queue %s, which is first in, "
                     "first out",
                     gang->head->ref.ns, gang->head->ref.name, gang->queue->ref.name);
}

char *reason_queue_pod(const struct gang_core *core, const struct pod *pod,
                       enum gang_reason_code code, const struct queue *queue,
                       const struct queue_short *s)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "pod %s/%s: ", pod->facts->ns, pod->facts->name);
    if (!s->queue) {
        put_refusal(&b, code, pod->facts->ns, queue ? queue->ref.name : pod->facts->queue.name,
                    queue);
        return buf_steal(&b);
    }
    const char *resource = core->resources.names[s->resource];
    quantity_format(&b, resource, s->need);
    buf_printf(&b, " %s needed, but ", resource);
    put_limit(&b, core, queue, s);
    return buf_steal(&b);
}

char *reason_queue_turn(const struct pod *pod, const struct queue *queue)
{
    return xasprintf("pod %s/%s: waits for its turn; queue %s has no room for all members like it",
                     pod->facts->ns, pod->facts->name, queue->ref.name);
}
