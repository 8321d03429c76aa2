/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/queue/queue_tree.h"

#include "base/buf.h"
#include "base/quantity.h"
#include "gang/bounds.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"

/* Levels while the tree is settled. */
enum { LEVEL_PENDING = -1, LEVEL_ON_PATH = -2 };

static void attach(struct queue *queue, struct queue *parent)
{
    queue->parent = parent;
    list_push(&parent->children, &queue->in_parent);
    parent->n_children++;
}

static void detach(struct queue *queue)
{
    if (!queue->parent)
        return;
    queue->parent->n_children--;
    queue->parent = NULL;
    list_remove(&queue->in_parent);
}

void queue_tree_join(struct gang_core *core, struct queue *queue)
{
    attach(queue, core->queues.root);
    queue->level = 1;
}

void queue_tree_name(struct queue *queue, struct queue *named)
{
    queue->named = named;
    list_remove(&queue->in_namers);
    if (named)
        list_push(&named->namers, &queue->in_namers);
}

/* ---- limits ---- */

static void clear_quotas(struct gang_core *core, struct queue *queue)
{
    for (size_t i = 0; i < queue->n_quotas; i++)
        resource_unref(core, queue->quotas[i].resource);
    free(queue->quotas);
    queue->quotas = NULL;
    queue->n_quotas = 0;
    queue->reserves = false;
}

static int by_resource(const void *a, const void *b)
{
    const struct quota *x = a, *y = b;
    return x->resource < y->resource ? -1 : x->resource > y->resource;
}

static void fill_quotas(struct gang_core *core, struct queue *queue)
{
    const struct gang_queue_facts *f = queue->facts;
    queue->quotas = xcalloc(f->n_quotas + 1, sizeof *queue->quotas);
    queue->n_quotas = f->n_quotas;
    for (size_t i = 0; i < f->n_quotas; i++) {
        const struct gang_quota *q = &f->quotas[i];
        queue->quotas[i] = (struct quota){resource_ref(core, q->resource),
                                          q->reserved,
                                          q->deserved,
                                          q->cap,
                                          q->weight,
                                          q->cap_unset};
        queue->reserves |= q->reserved > 0;
    }
    qsort(queue->quotas, queue->n_quotas, sizeof *queue->quotas, by_resource);
}

/* Less may be reserved than before, which is room for its siblings. */
static void set_quotas(struct gang_core *core, struct queue *queue)
{
    if (queue->reserves)
        queue_freed(core, queue->parent);
    queue_count_reserve(core, queue, false);
    clear_quotas(core, queue);
    if (queue->facts)
        fill_quotas(core, queue);
    queue_count_reserve(core, queue, true);
    queue_freed(core, queue);
}

/* ---- faults ---- */

static char *fault_of_parent(const struct queue *queue, const char *what, const char *remedy)
{
    return xasprintf("queue %s: %s is %s, which %s; %s", queue->ref.name,
                     queue->facts->parent_field, queue->facts->parent, what, remedy);
}

static char *fault_of_level(const struct queue *queue)
{
    cleanup_free char *what =
        xasprintf("puts it %d levels below the cluster", queue->named->level + 1);
    cleanup_free char *remedy =
        xasprintf("muster takes at most %d; name a parent further up", BOUND_QUEUE_LEVELS);
    return fault_of_parent(queue, what, remedy);
}

/* Ignores an `implied` that is out of range, because a recording may contain any number. */
static int64_t stated_deserved(const struct gang_quota *q)
{
    bool in_part = q->implied > 0 && q->implied <= q->deserved;
    return in_part ? q->deserved - q->implied : q->deserved;
}

/* A queue must not deserve more than its parent. If it only reserves more, it is valid: the amount
 * is kept free inside the parent. */
static char *deserves_too_much(const struct queue *queue, const struct queue *parent)
{
    for (size_t i = 0; i < queue->facts->n_quotas; i++) {
        const struct gang_quota *own = &queue->facts->quotas[i];
        const struct gang_quota *above = gang_quota_of(parent->facts, own->resource);
        int64_t stated = stated_deserved(own);
        if (!above || above->deserved == GANG_NOT_STATED || stated <= above->deserved)
            continue;
        struct buf b = BUF_INIT;
        buf_printf(&b, "queue %s: it deserves ", queue->ref.name);
        if (stated == GANG_UNLIMITED)
            buf_puts(&b, "all");
        else
            quantity_format(&b, own->resource, stated);
        buf_printf(&b, " %s, and its parent %s only ", own->resource, parent->ref.name);
        quantity_format(&b, own->resource, above->deserved);
        buf_puts(&b, "; lower the one or raise the other");
        return buf_steal(&b);
    }
    return NULL;
}

/* Why no gang can use the queue, by its own fields; NULL: no reason. */
static char *fault_of(const struct queue *queue)
{
    const struct gang_queue_facts *f = queue->facts;
    if (f && f->invalid)
        return xasprintf("queue %s: %s", queue->ref.name, f->invalid);
    if (!f || !f->parent)
        return NULL;
    if (queue->circular)
        return fault_of_parent(queue, "makes it its own ancestor", "name another parent, or none");
    if (!queue->named->facts)
        return fault_of_parent(queue, "does not exist", "create it or name another parent");
    if (queue->named->level >= BOUND_QUEUE_LEVELS)
        return fault_of_level(queue);
    return deserves_too_much(queue, queue->named);
}

static const struct queue *fault_here(const struct queue *queue)
{
    return queue->own_fault ? queue : queue->parent->fault;
}

static bool closed_here(const struct queue *queue)
{
    return (queue->facts && queue->facts->closed) || queue->parent->closed;
}

static void inherit(struct gang_core *core, struct queue *queue)
{
    queue->fault = fault_here(queue);
    queue->closed = closed_here(queue);
    queue_freed(core, queue);
    queue_want_changed(core, queue); /* its gangs may wait for room now, or no longer */
}

/* The fault of the queue has changed, and so that of those below it which have none of their own;
 * or it was closed or opened. */
static void spread(struct gang_core *core, struct queue *queue)
{
    inherit(core, queue);
    list_for_each (child, &queue->children, struct queue, in_parent)
        if (!child->own_fault || child->closed != closed_here(child))
            spread(core, child);
}

static void find_fault(struct gang_core *core, struct queue *queue)
{
    core->queues_visited++;
    char *fault = fault_of(queue);
    bool same = str_eq(fault, queue->own_fault);
    free(queue->own_fault);
    queue->own_fault = fault;
    if (!same || queue->closed != closed_here(queue))
        spread(core, queue);
}

/* ---- parents ---- */

/* The parent that it names; NULL: none, or it does not exist. */
static struct queue *named_parent(const struct queue *queue)
{
    return queue->named && queue->named->facts ? queue->named : NULL;
}

/* A queue with an error in other fields keeps its parent: what its pods use counts there. */
static struct queue *effective_parent(const struct gang_core *core, const struct queue *queue)
{
    struct queue *parent = named_parent(queue);
    bool possible = parent && !queue->circular && parent->level < BOUND_QUEUE_LEVELS;
    return possible ? parent : core->queues.root;
}

static void move(struct gang_core *core, struct queue *queue, struct queue *parent)
{
    if (queue->reserves)
        queue_freed(core, queue->parent);
    queue_count_branch(core, queue, -1);
    detach(queue);
    attach(queue, parent);
    queue_count_branch(core, queue, 1);
}

/* The queue that it names has its parent already. */
static void set_parent(struct gang_core *core, struct queue *queue, bool circular)
{
    queue->circular = circular;
    struct queue *parent = effective_parent(core, queue);
    if (parent != queue->parent)
        move(core, queue, parent);
    queue->level = parent->level + 1;
    free(queue->own_fault);
    queue->own_fault = fault_of(queue);
    inherit(core, queue);
}

/* Sets the queue's parent, after those of all pending queues that it depends on. */
static void climb(struct gang_core *core, struct queue *queue, struct queue **path)
{
    size_t n = 0, circle = 0; /* the last `circle` queues of the path are one */
    for (; queue && queue->level == LEVEL_PENDING; queue = named_parent(queue)) {
        queue->level = LEVEL_ON_PATH;
        path[n++] = queue;
    }
    if (queue && queue->level == LEVEL_ON_PATH)
        while (path[n - ++circle] != queue)
            continue;
    for (size_t i = n; i-- > 0;)
        set_parent(core, path[i], /* circular= */ n - i <= circle);
}

static void await_parent(struct list *pending, struct queue *queue)
{
    if (queue->level == LEVEL_PENDING)
        return;
    queue->level = LEVEL_PENDING;
    list_push(pending, &queue->in_pending);
}

/* The queues that moved, and all that are below them, or were. */
static size_t moved_queues(struct gang_core *core, struct list *pending)
{
    size_t n = 0;
    list_for_each (queue, &core->queues.edited, struct queue, in_edited)
        if (queue->moved)
            await_parent(pending, queue);
    list_for_each (queue, pending, struct queue, in_pending) {
        n++;
        list_for_each (namer, &queue->namers, struct queue, in_namers)
            await_parent(pending, namer);
    }
    return n;
}

static void set_moved_parents(struct gang_core *core)
{
    struct list pending, *first;
    list_init(&pending);
    size_t n = moved_queues(core, &pending);
    cleanup_free struct queue **path = xcalloc(n + 1, sizeof *path);
    core->queues_visited += n;
    while ((first = list_pop(&pending)) != NULL)
        climb(core, CONTAINER_OF(first, struct queue, in_pending), path);
}

void queue_tree_settle(struct gang_core *core)
{
    list_for_each (queue, &core->queues.edited, struct queue, in_edited)
        set_quotas(core, queue);
    set_moved_parents(core);
    list_for_each (queue, &core->queues.edited, struct queue, in_edited) {
        if (queue->moved)
            continue; /* its children have got their parents again too */
        find_fault(core, queue);
        list_for_each (namer, &queue->namers, struct queue, in_namers)
            find_fault(core, namer);
    }
}

void queue_tree_leave(struct gang_core *core, struct queue *queue)
{
    detach(queue);
    list_for_each_safe (child, &queue->children, struct queue, in_parent)
        detach(child);
    queue_tree_name(queue, NULL);
    list_for_each_safe (namer, &queue->namers, struct queue, in_namers)
        queue_tree_name(namer, NULL);
    clear_quotas(core, queue);
    free(STEAL(queue->own_fault));
}

void queue_tree_any_gpu(struct gang_core *core, bool any)
{
    if (any == (core->any_gpu != RES_UNKNOWN))
        return;
    if (!any)
        resource_unref(core, core->any_gpu);
    core->any_gpu = any ? resource_ref(core, GANG_ANY_GPU) : RES_UNKNOWN;
}

/* ---- two queues ---- */

bool queue_branches(struct queue **a, struct queue **b)
{
    while (*a && *b && (*a)->parent != (*b)->parent) {
        struct queue **deeper = (*a)->level >= (*b)->level ? a : b;
        *deeper = (*deeper)->parent;
    }
    return *a && *b && *a != *b;
}

/* ---- the invariant ---- */

/* Following the names of parents leads back to it. */
static bool is_own_ancestor(const struct gang_core *core, const struct queue *queue)
{
    const struct queue *up = named_parent(queue);
    for (size_t i = map_count(&core->queues.all); up && up != queue && i > 0; i--)
        up = named_parent(up);
    return up == queue;
}

static struct queue *find_named(const struct gang_core *core, const struct queue *queue)
{
    if (!queue->facts || !queue->facts->parent)
        return NULL;
    struct gang_ref ref = {queue->ref.api_group, queue->ref.ns, queue->facts->parent};
    return queue_find(core, &ref);
}

static bool has_quota(const struct gang_core *core, const struct queue *queue,
                      const struct gang_quota *q)
{
    const struct quota *own = queue_quota(queue, resource_find(core, q->resource));
    return own && own->reserved == q->reserved && own->deserved == q->deserved &&
           own->cap == q->cap && own->weight == q->weight && own->cap_unset == q->cap_unset;
}

static bool has_quotas(const struct gang_core *core, const struct queue *queue)
{
    const struct gang_queue_facts *f = queue->facts;
    for (size_t i = 0; f && i < f->n_quotas; i++)
        if (!has_quota(core, queue, &f->quotas[i]))
            return false;
    return queue->n_quotas == (f ? f->n_quotas : 0);
}

int queue_tree_check(const struct gang_core *core, const struct queue *queue, struct err *err)
{
    if (queue->named != find_named(core, queue) ||
        (queue->facts && queue->facts->parent && !queue->named))
        return err_set(err, ERR_INTERNAL, "queue %s: the parent is not the named one", queue->key);
    if (queue->circular != is_own_ancestor(core, queue) ||
        queue->parent != effective_parent(core, queue) || queue->level != queue->parent->level + 1)
        return err_set(err, ERR_INTERNAL, "queue %s has a wrong parent or level", queue->key);
    cleanup_free char *fault = fault_of(queue);
    if (!str_eq(fault, queue->own_fault) || queue->fault != fault_here(queue))
        return err_set(err, ERR_INTERNAL, "queue %s: the fault should be: %s", queue->key,
                       fault ? fault : "none of its own");
    if (queue->closed != closed_here(queue))
        return err_set(err, ERR_INTERNAL, "queue %s: it is %s", queue->key,
                       queue->closed ? "open" : "closed");
    if (!has_quotas(core, queue))
        return err_set(err, ERR_INTERNAL, "queue %s: the limits are not those of its object",
                       queue->key);
    return 0;
}
